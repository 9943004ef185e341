"""A warehouse, looked at before anything is read: Hadoop's client waits long for a store, and then shows its stack.

Put here what must be known of a warehouse before Spark starts. Not here: S3 settings for Spark (``settings``).
"""

from __future__ import annotations

from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from assets.delta.leases import is_on_store
from assets.s3 import fault_and_remedy, s3_client
from transforms.errors import UnreadableWarehouse


def refuse_unreachable(warehouse: str) -> None:
    """Refuse a warehouse in S3 whose bucket cannot be listed, and one in whose folder's place is a file.

    Raises:
        UnreadableWarehouse: with what the store says, and what to set.
    """
    if not is_on_store(warehouse):
        if Path(warehouse).is_file():
            remedy = "Name the folder in which the tables are, or are to be."
            raise UnreadableWarehouse(warehouse, "this is a file, and no folder", remedy)
        return
    bucket, _, prefix = warehouse.partition("://")[2].partition("/")
    try:
        s3_client().list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    except (BotoCoreError, ClientError, ValueError) as error:
        fault, remedy = fault_and_remedy(error)
        # The cause is left behind: its text may quote what the environment holds.
        raise UnreadableWarehouse(
            warehouse, fault, remedy.replace("the feed's landing", "the warehouse")
        ) from None

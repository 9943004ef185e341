"""A warehouse in an object store, tried before Spark starts: Hadoop's client waits long and then shows its stack.

Put here what must be known of a warehouse before Spark starts. Not here: S3 settings for Spark (``settings``).
"""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError

from assets.delta.leases import is_on_store
from assets.s3 import fault_and_remedy, s3_client
from transforms.errors import UnreadableWarehouse


def refuse_unreachable(warehouse: str) -> None:
    """Refuse a warehouse in S3 whose bucket cannot be listed.

    Raises:
        UnreadableWarehouse: with what the store says, and what to set.
    """
    if not is_on_store(warehouse):
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

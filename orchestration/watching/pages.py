"""Texts that are put somewhere as a whole: into a folder, or into S3.

Put here how such a text is stored. Not here: what it says (``report``, ``metrics``).
"""

from __future__ import annotations

import os
from pathlib import Path

from assets.delta.leases import is_on_store
from assets.s3 import s3_client

HTML = "text/html; charset=utf-8"


def store(address: str, page: str, content_type: str) -> None:
    """Put a page at an address, in place of the one that is there."""
    data = page.encode()
    if is_on_store(address):
        bucket, _, key = address.partition("://")[2].partition("/")
        s3_client().put_object(Bucket=bucket, Key=key, Body=data, ContentType=content_type)
        return
    file = Path(address)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Whoever reads the old one reads it to its end.
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_bytes(data)
    new.replace(file)

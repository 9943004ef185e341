"""Whole texts, such as pages and metrics, written to a folder or to S3, and read from there."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from botocore.exceptions import ClientError

from assets.storage.leases import is_on_store
from assets.storage.s3 import s3_client

HTML = "text/html; charset=utf-8"


def store_text(address: str, page: str, content_type: str) -> None:
    """Put a page at an address, in place of the one that is there."""
    data = page.encode()
    if is_on_store(address):
        bucket, _, key = address.partition("://")[2].partition("/")
        s3_client().put_object(Bucket=bucket, Key=key, Body=data, ContentType=content_type)
        return
    file = Path(address)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Whoever reads the old one reads it to its end.
    # Two threads may write it at once, and so may two containers, whose processes have the same number.
    new = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        new.write_bytes(data)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def read_text(address: str) -> bytes | None:
    """What is at an address; None where there is nothing."""
    if is_on_store(address):
        bucket, _, key = address.partition("://")[2].partition("/")
        try:
            found: bytes = s3_client().get_object(Bucket=bucket, Key=key)["Body"].read()
            return found
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise
    file = Path(address.removeprefix("file://"))
    return file.read_bytes() if file.is_file() else None

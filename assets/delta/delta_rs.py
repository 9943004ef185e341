"""How delta-rs, which reads and commits Delta tables in this process, enters the warehouse and finds its tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs as fs
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from assets.delta import kept
from assets.delta.leases import is_on_store
from assets.s3 import aws_session

_PATIENCE = {
    # A store that does not answer is told of within seconds, as Spark's client is set to do.
    "connect_timeout": "5s",
    "timeout": "60s",
    "max_retries": "3",
    "retry_timeout": "30s",
}

CHANGE_FEED = "delta.enableChangeDataFeed"
"""Others can follow a table change by change where this property is on: table_changes() in Spark SQL."""


def options(warehouse: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """delta-rs's settings for this warehouse; none for a folder.

    Credentials are those that boto3 finds (variables, a profile, the machine's role), as it does for a landing.
    """
    if not is_on_store(warehouse):
        return {}
    values = os.environ if environment is None else environment
    # A commit is a file that must not be there yet, and the store is the judge of it.
    settings = {"aws_conditional_put": "etag", **_PATIENCE}
    session = aws_session()
    region = values.get("AWS_REGION") or session.region_name
    endpoint = values.get("AWS_ENDPOINT_URL_S3") or values.get("AWS_ENDPOINT_URL")
    if endpoint:
        settings["aws_endpoint_url"] = endpoint
        settings["aws_allow_http"] = str(endpoint.startswith("http://")).lower()
        # Stores other than Amazon's seldom resolve a host per bucket, nor care for the region.
        settings["aws_virtual_hosted_style_request"] = "false"
        region = region or "us-east-1"
    if region:
        settings["aws_region"] = region
    found = session.get_credentials()
    if found is not None:
        frozen = found.get_frozen_credentials()
        settings |= {
            name: value
            for name, value in (
                ("aws_access_key_id", frozen.access_key),
                ("aws_secret_access_key", frozen.secret_key),
                ("aws_session_token", frozen.token),
            )
            if value
        }
    return settings


def address(path: str) -> str:
    """The path as delta-rs takes it: of a store it is an URL, in which `#`, `?` and `%` of a table's name would act.

    delta-rs 1.6.6 decodes it twice when it opens a table, so that no name may have ``%`` before two hexadecimal digits
    (``transforms/feed/table_names.UNFIT``).
    """
    scheme, separator, rest = path.partition("://")
    return f"{scheme}{separator}{quote(rest)}" if separator else path


def opened(path: str, warehouse: str) -> DeltaTable | None:
    """The Delta table at this path of the warehouse, as it is now; None where there is none."""
    settings = options(warehouse)

    def read() -> DeltaTable:
        return DeltaTable(address(path), storage_options=settings)

    try:
        return kept.opened(path, settings, read) if settings else read()
    except TableNotFoundError:
        return None


def folders(path: str, warehouse: str) -> frozenset[str]:
    """The names of the folders in this one of the warehouse; none where it is not there."""
    try:
        handler = DeltaStorageHandler(address(path), options(warehouse))
    except TableNotFoundError:
        return frozenset()
    found = fs.PyFileSystem(handler).get_file_info(fs.FileSelector("", allow_not_found=True))
    return frozenset(one.base_name for one in found if one.type == fs.FileType.Directory)


def conformed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with these columns, and null in those that they do not have."""
    cells = [
        rows[one.name].cast(one.type)
        if one.name in rows.column_names
        else pa.nulls(rows.num_rows, one.type)
        for one in schema
    ]
    return pa.table(cells, schema=schema)

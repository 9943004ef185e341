"""AWS Glue's Data Catalog, by boto3; credentials are found as boto3 finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from assets.catalogues.client import SECONDS
from transforms.catalogue import Catalogue, Entry, Stored, glue_table
from transforms.errors import CatalogueAway, TableRefused

_NONE = "EntityNotFoundException"
_OF_ONE = frozenset(
    {
        *("AlreadyExistsException", "InvalidInputException", "ValidationException"),
        *("ResourceNumberLimitExceededException", "ConcurrentModificationException", _NONE),
    }
)
"""The errors that are about one table; any other is about whoever asks, or about Glue itself."""


@contextmanager
def glue_client(catalogue: Catalogue) -> Iterator[GlueCatalogue]:
    """A client of it.

    Raises:
        CatalogueAway: it does not answer, or refuses whoever asks.
    """
    how = Config(connect_timeout=SECONDS, read_timeout=SECONDS, retries={"max_attempts": 3})
    try:
        yield GlueCatalogue(catalogue, boto3.client("glue", catalogue.place, config=how))
    except ClientError as fault:
        raise CatalogueAway(str(catalogue), f"it refuses this: {fault}") from fault
    except (BotoCoreError, ValueError) as fault:
        raise CatalogueAway(str(catalogue), f"it does not answer: {fault}") from fault


@dataclass(frozen=True, slots=True)
class GlueCatalogue:
    """The catalogue of one account and region."""

    catalogue: Catalogue
    glue: Any

    @property
    def _of(self) -> dict[str, str]:
        return {"CatalogId": self.catalogue.inner} if self.catalogue.inner else {}

    def tables(self, schema: str) -> Mapping[str, Stored]:
        """All tables of a database, by name; none where there is no such database."""
        pages = self.glue.get_paginator("get_tables").paginate(**self._of, DatabaseName=schema)
        try:
            return {one["Name"]: stored(one) for page in pages for one in page["TableList"]}
        except ClientError as fault:
            if fault.response["Error"]["Code"] == _NONE:
                return {}
            raise

    def add(self, entry: Entry) -> None:
        """Create the table, and its database where that is missing."""
        try:
            self.glue.get_database(**self._of, Name=entry.schema)
        except ClientError as fault:
            if fault.response["Error"]["Code"] != _NONE:
                raise
            made = {"Name": entry.schema, "Description": "Gold of Weir."}
            self.glue.create_database(**self._of, DatabaseInput=made)
        self._write("create_table", entry, {})

    def change(self, entry: Entry, stored: Stored) -> None:
        """Write a new version of the table."""
        self._write("update_table", entry, stored.properties)

    def _write(self, call: str, entry: Entry, others: Mapping[str, str]) -> None:
        table = glue_table(entry, others)
        try:
            getattr(self.glue, call)(**self._of, DatabaseName=entry.schema, TableInput=table)
        except ClientError as fault:
            if fault.response["Error"]["Code"] in _OF_ONE:
                raise TableRefused(str(fault)) from fault
            raise


def stored(table: Mapping[str, Any]) -> Stored:
    """A table of Glue's answer."""
    descriptor = table.get("StorageDescriptor", {})
    path = descriptor.get("SerdeInfo", {}).get("Parameters", {}).get("path")
    return Stored(path or descriptor.get("Location", ""), table.get("Parameters", {}))

"""From ``feeds/<feed>.yaml`` to a ``Feed`` that is known to be sound.

Every fault names the file, the key and what is known instead. Not here: which keys there are (``feed_keys.py``),
reading YAML (``feed_yaml.py``), judging a type (``column_types.py``) and what a feed is (``transforms/feed.py``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from orchestration.column_types import KNOWN_TYPES, UnknownType, canonical_type
from orchestration.epoch_texts import UnfitEpoch, epoch_from
from orchestration.feed_faults import first_fault, nearest
from orchestration.feed_keys import PARTS, DeclaredFeed, DeclaredTable
from orchestration.feed_yaml import read_yaml
from orchestration.gold_names import check_gold_names
from orchestration.retention_texts import retention_from, timeout_from
from orchestration.schema_texts import (
    UnfitSchemaChange,
    check_changes,
    check_earlier_names,
    policies_from,
)
from transforms.decisions import Decisions, Epoch
from transforms.errors import FeedMisdeclared
from transforms.feed import Feed, Table
from transforms.formats import FORMATS, LATER_FORMATS
from transforms.schema_changes import UNFIT_IN_COLUMN, Policies
from transforms.table_names import UNFIT
from transforms.tables import matches

_FEED_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_S3: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/.*)?", re.DOTALL)
_UNFIT_IN_NAME: Final = re.compile(UNFIT)


def load_feeds(folder: Path, formats: Collection[str] = tuple(FORMATS)) -> list[Feed]:
    """Read every feed file (``*.yaml``, ``*.yml``) of a folder, in the order of the feeds' names.

    Raises:
        FeedMisdeclared: One of them cannot be used, or the folder is none.
        TableNameCollision: Two tables of a feed would become one gold table.
    """
    if not folder.is_dir():
        fault = "there is no such folder; make it, or name another with --feeds or WEIR_FEEDS"
        raise FeedMisdeclared(str(folder), "the feeds", fault)
    files: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() not in (".yaml", ".yml") or file.name.startswith("."):
            continue
        if file.stem in files:
            fault = f"{files[file.stem].name} declares the feed {file.stem} already"
            raise FeedMisdeclared(str(file), "the file's name", fault)
        files[file.stem] = file
    return [load_feed(files[name], formats) for name in sorted(files)]


def load_feed(file: Path, formats: Collection[str] = tuple(FORMATS)) -> Feed:
    """Read one feed file; ``formats`` are those that this version reads.

    Raises:
        FeedMisdeclared: It says something that Weir does not know or cannot use.
        TableNameCollision: Two of its tables would become one gold table.
    """
    return _FeedFile(file, formats).feed()


@dataclass(frozen=True, slots=True)
class _FeedFile:
    """One feed file under judgement."""

    file: Path
    formats: Collection[str]

    def feed(self) -> Feed:
        if not _FEED_NAME.fullmatch(self.file.stem):
            fault = "is the feed's, so it must be lower-case letters, digits and _, a letter first"
            raise self._misdeclared("the file's name", fault)
        content = read_yaml(self.file)
        # First of all: the keys that a file may have depend on its format.
        self._check_format(content)
        try:
            declared = DeclaredFeed.model_validate(content)
        except ValidationError as faults:
            raise first_fault(str(self.file), faults, DeclaredFeed, PARTS) from None
        self._check_glob("files", declared.files)
        feed = Feed(
            name=self.file.stem,
            format=declared.format,
            landing=self._landing(declared),
            files=declared.files,
            window=declared.window,
            table_names=declared.table_names,
            tables=self._tables(declared),
            scope_deletes=declared.scope_deletes,
            decisions=Decisions(epochs=tuple(self._epochs(declared))),
            transaction_timeout=timeout_from(declared.transaction_timeout, self._misdeclared),
            retention=retention_from(declared.compaction, declared.window, self._misdeclared),
            policies=policies_from(declared.schema_changes, Policies()),
        )
        check_gold_names(str(self.file), feed)
        return feed

    def _misdeclared(self, key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        return FeedMisdeclared(str(self.file), key, fault, known)

    def _check_format(self, content: dict[str, object]) -> None:
        found, known = content.get("format"), sorted(self.formats)
        if "format" not in content:
            raise self._misdeclared("format", "is missing", known)
        if not isinstance(found, str):
            raise self._misdeclared("format", f"must be a text, found {found!r}", known)
        if found in self.formats:
            return
        if found in LATER_FORMATS:
            fault = f"{found} is for a later version; this version reads only {', '.join(known)}"
            raise self._misdeclared("format", fault)
        hint = nearest(found, known)
        raise self._misdeclared("format", f"{found!r} is not a format{hint}", known)

    def _landing(self, declared: DeclaredFeed) -> str:
        landing = declared.landing
        address = _ADDRESS.match(landing)
        if address is None:
            return str((self.file.parent / Path(landing).expanduser()).resolve())
        if address.group(1) == "kafka":
            fault = f"{landing} is a Kafka topic, but {declared.format} reads files"
            raise self._misdeclared("landing", f"{fault}: give an s3:// address or a folder")
        if not _S3.fullmatch(landing):
            fault = f"{landing!r} is neither s3://bucket/prefix/ nor a folder"
            raise self._misdeclared("landing", fault)
        # A prefix means a folder: without the slash, tpch would take in tpch_old as well.
        return landing if landing.endswith("/") else f"{landing}/"

    def _tables(self, declared: DeclaredFeed) -> dict[str, Table]:
        usual = policies_from(declared.schema_changes, Policies())
        tables = {}
        try:
            for name, one in declared.tables.items():
                table = self._table(name, one, usual)
                check_changes(table, declared.window)
                tables[name] = table
        except UnfitSchemaChange as unfit:
            raise self._misdeclared(f"tables.{name}.{unfit.key}", unfit.fault) from None
        try:
            check_earlier_names(tables)
        except UnfitSchemaChange as unfit:
            raise self._misdeclared(f"tables.{unfit.key}", unfit.fault) from None
        return tables

    def _table(self, name: str, declared: DeclaredTable, usual: Policies) -> Table:
        place = f"tables.{name}"
        self._check_table_name(name, place)
        columns = self._columns(f"{place}.columns", declared.columns)
        self._check_names(f"{place}.key", declared.key, columns)
        for column in declared.key:
            if "<" in columns[column]:
                fault = (
                    f"{column} is a {columns[column]}, and a key's columns must be of simple types"
                )
                raise self._misdeclared(f"{place}.key", fault)
        order = list(columns) if declared.cdc_columns is None else declared.cdc_columns
        self._check_names(f"{place}.cdc_columns", order, columns)
        if missing := [column for column in columns if column not in order]:
            fault = f"leaves out {', '.join(missing)}; it must name every column once"
            raise self._misdeclared(f"{place}.cdc_columns", fault)
        self._check_glob(f"{place}.path", declared.path)
        if declared.history and not declared.key:
            raise self._misdeclared(f"{place}.history", "is for tables with a key")
        return Table(
            name,
            tuple(declared.key),
            columns,
            tuple(order),
            declared.path,
            was=tuple(declared.was),
            renamed=declared.renamed,
            since=declared.since,
            policies=policies_from(declared.schema_changes, usual),
            history=declared.history,
        )

    def _epochs(self, declared: DeclaredFeed) -> Iterator[Epoch]:
        for number, epoch in enumerate(declared.epochs):
            try:
                yield epoch_from(epoch, declared.window, declared.tables)
            except UnfitEpoch as unfit:
                raise self._misdeclared(f"epochs.{number}.{unfit.key}", unfit.fault) from None

    def _check_glob(self, place: str, glob: str | None) -> None:
        try:
            matches("", glob or "")
        except re.error as fault:
            raise self._misdeclared(place, f"{glob!r} is no glob: {fault}") from None

    def _check_table_name(self, name: str, place: str) -> None:
        if _UNFIT_IN_NAME.search(name):
            fault = "a table's name cannot hold slashes or control characters, or begin or end "
            fault += "with a blank: table_names makes a folder of it"
            raise self._misdeclared(place, fault)
        parts = name.split(".")
        if len(parts) > 3 or not all(parts):
            forms = "table, schema.table or catalog.schema.table"
            raise self._misdeclared(place, f"a table's name is {forms} (see table_names)")

    def _columns(self, place: str, declared: dict[str, str]) -> dict[str, str]:
        columns: dict[str, str] = {}
        written: dict[str, str] = {}
        for column, type_text in declared.items():
            if column.lower().startswith("_weir_"):
                raise self._misdeclared(f"{place}.{column}", "names in _weir_ are Weir's own")
            if UNFIT_IN_COLUMN.search(column):
                fault = "a column's name cannot hold blanks or any of ,;{}()=.` in a Delta table"
                raise self._misdeclared(f"{place}.{column}", fault)
            if twin := written.get(column.lower()):
                fault = f"differs from {twin} only in case, and Spark would take them for one"
                raise self._misdeclared(f"{place}.{column}", fault)
            written[column.lower()] = column
            try:
                columns[column] = canonical_type(type_text)
            except UnknownType as fault:
                known = KNOWN_TYPES
                raise self._misdeclared(f"{place}.{column}", str(fault), known) from None
        return columns

    def _check_names(self, place: str, names: list[str], columns: dict[str, str]) -> None:
        seen: set[str] = set()
        for name in names:
            if name not in columns:
                fault = f"{name!r} is not among the table's columns{nearest(name, columns)}"
                raise self._misdeclared(place, fault, columns)
            if name in seen:
                raise self._misdeclared(place, f"names {name} twice")
            seen.add(name)

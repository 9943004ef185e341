"""From ``feeds/<feed>.yaml`` to a ``Feed`` that is known to be sound.

Every fault names the file, the key and what is known instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from orchestration.feeds.dgraph import predicates_from, types_from
from orchestration.feeds.expectations import check_suites, suites_from
from orchestration.feeds.faults import (
    FeedFaults,
    Misdeclared,
    Unfit,
    check_glob,
    faults_in_shape,
    faults_of,
    refuse,
)
from orchestration.feeds.keys import OBJECTS, PARTS, DeclaredFeed, DeclaredTable
from orchestration.feeds.landings import accepted_losses_from, check_window_path, landing_from
from orchestration.feeds.policies import (
    check_changes,
    check_earlier_names,
    epoch_from,
    loss_guard_from,
    policies_from,
    retention_from,
    timeout_from,
)
from orchestration.feeds.running import automation_from, freshness_from, settings_from
from orchestration.feeds.tables import TableDeclarations, mask_key
from orchestration.feeds.tigergraph import baseline_from, edges_from, vertices_from
from orchestration.feeds.yaml_files import FIRST, Places, place_of, places_in, read_yaml
from transforms.errors import FeedMisdeclared, TableNameCollision
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import Described, Feed, Running, Table
from transforms.feed.names import HISTORY, TOMBSTONES, asset_name, gold_name
from transforms.feed.schema_policies import Policies
from transforms.feed.windows import parse_window
from transforms.formats import FORMATS
from transforms.silver.schema_drift import did_you_mean

_FEED_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def load_feeds(folder: Path, formats: Collection[str] = tuple(FORMATS)) -> list[Feed]:
    """Read every feed file (``*.yaml``, ``*.yml``) of a folder, in the order of the feeds' names.

    Raises:
        FeedMisdeclared: One of them cannot be used, or the folder is none.
        TableNameCollision: Two tables of a feed would become one gold table.
    """
    files = feed_files(folder)
    return [load_feed(files[name], formats) for name in sorted(files)]


def feed_files(folder: Path) -> dict[str, Path]:
    """The feed files of a folder by the names of their feeds; none is read.

    Raises:
        FeedMisdeclared: There is no such folder, or two files declare one feed.
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
    return files


def load_feed(file: Path, formats: Collection[str] = tuple(FORMATS)) -> Feed:
    """Read one feed file; ``formats`` are those that this version reads.

    Raises:
        FeedMisdeclared: It says something that Weir does not know or cannot use.
        TableNameCollision: Two of its tables would become one gold table.
    """
    return _FeedFile(file, formats).feed()


@dataclass(frozen=True, slots=True)
class _FeedFile:
    """One feed file that is being checked."""

    file: Path
    formats: Collection[str]

    def feed(self) -> Feed:
        if not _FEED_NAME.fullmatch(self.file.stem):
            fault = "is the feed's, so it must be lower-case letters, digits and _, a letter first"
            raise self._misdeclared("the file's name", fault)
        content = read_yaml(self.file)
        try:
            return self._of(content)
        except FeedMisdeclared as fault:
            raise located(fault, places_in(self.file)) from None

    def _of(self, content: dict[str, object]) -> Feed:
        # First of all: the keys that a file may have depend on its format.
        self._check_format(content)
        try:
            declared = DeclaredFeed.model_validate(content)
        except ValidationError as faults:
            refuse(faults_in_shape(str(self.file), faults, DeclaredFeed, PARTS))
            raise
        refuse(faults_of(self._checks(declared)))
        return self._feed(declared)

    def _checks(self, declared: DeclaredFeed) -> Iterator[Callable[[], object]]:
        """What checks each part of the file by itself, so that a person reads all faults at once."""
        said = self._misdeclared
        yield lambda: check_glob(said, "files", declared.files)
        yield lambda: landing_from(declared, self.file.parent, said)
        yield lambda: check_window_path(declared, said)
        yield lambda: dict(accepted_losses_from(declared, said))
        yield lambda: timeout_from(declared.transaction_timeout, said)
        yield lambda: self._check_placeholders(declared)
        yield lambda: retention_from(declared.compaction, declared.window, said)
        yield lambda: loss_guard_from(declared.loss_guard, said)
        yield lambda: settings_from(declared.checks, declared.format, said)
        yield lambda: suites_from(declared.expectations, str(self.file), said)
        yield lambda: running_from(declared, said)
        for name in declared.tables:
            yield partial(self._table, declared, name)
        for number in range(len(declared.epochs)):
            yield partial(self._epoch, declared, number)
        if self._objects(declared.format) != ("tables",):
            yield lambda: predicates_from(declared.predicates, said)
            yield lambda: types_from(declared.types, declared.predicates, said)
            yield lambda: vertices_from(declared.vertices, said)
            yield lambda: edges_from(declared.edges, said)
            yield lambda: baseline_from(declared.baseline, said)

    def _feed(self, declared: DeclaredFeed) -> Feed:
        """The feed of a file whose parts are sound."""
        tables = self._tables(declared)
        feed = Feed(
            name=self.file.stem,
            format=declared.format,
            landing=landing_from(declared, self.file.parent, self._misdeclared),
            files=declared.files,
            window=declared.window,
            window_path=declared.window_path,
            table_names=declared.table_names,
            tables=tables,
            accepted_losses=dict(accepted_losses_from(declared, self._misdeclared)),
            unavailable_value=tuple(declared.unavailable_value or ()),
            range_deletes=declared.range_deletes,
            loss_guard=loss_guard_from(declared.loss_guard, self._misdeclared),
            decisions=Decisions(
                epochs=tuple(
                    self._epoch(declared, number) for number in range(len(declared.epochs))
                )
            ),
            transaction_timeout=timeout_from(declared.transaction_timeout, self._misdeclared),
            retention=retention_from(declared.compaction, declared.window, self._misdeclared),
            policies=policies_from(declared.schema_changes, Policies()),
            checks=settings_from(declared.checks, declared.format, self._misdeclared),
            suites=suites_from(declared.expectations, str(self.file), self._misdeclared),
            running=running_from(declared, self._misdeclared),
            mask_key=mask_key(tables.values()),
        )
        if self._objects(declared.format) != ("tables",):
            feed = replace(
                feed,
                predicates=predicates_from(declared.predicates, self._misdeclared),
                types=types_from(declared.types, declared.predicates, self._misdeclared),
                vertices=vertices_from(declared.vertices, self._misdeclared),
                edges=edges_from(declared.edges, self._misdeclared),
                baseline=baseline_from(declared.baseline, self._misdeclared),
            )
            feed = replace(feed, tables=FORMATS[feed.format].tables(feed))
        check_gold_names(str(self.file), feed)
        check_suites(feed, self._misdeclared)
        return feed

    def _objects(self, format_name: str) -> tuple[str, ...]:
        known = FORMATS.get(format_name)
        return known.declares if known else ("tables",)

    def _misdeclared(self, key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        return FeedMisdeclared(str(self.file), key, fault, known)

    def _check_placeholders(self, declared: DeclaredFeed) -> None:
        """Refuse what stands for values that were not logged where the format has no such thing."""
        of_tables = {
            f"tables.{name}.unavailable_value": table.unavailable_value
            for name, table in declared.tables.items()
        }
        known = [name for name, one in FORMATS.items() if one.has_placeholders]
        for key, given in {"unavailable_value": declared.unavailable_value, **of_tables}.items():
            if given is not None and declared.format not in known:
                raise self._misdeclared(key, f"is for feeds of format {' or '.join(known)}")

    def _check_format(self, content: dict[str, object]) -> None:
        named, known = content.get("format"), sorted(self.formats)
        if "format" not in content:
            raise self._misdeclared("format", "is missing", known)
        if not isinstance(named, str):
            raise self._misdeclared("format", f"must be a text, found {named!r}", known)
        if named in self.formats:
            own = self._objects(named)
            for key in OBJECTS:
                if key in content and key not in own:
                    fault = f"is no key of a feed of format {named}"
                    raise self._misdeclared(key, fault, own)
            return
        hint = did_you_mean(named, known)
        raise self._misdeclared("format", f"{named!r} is not a format{hint}", known)

    def _tables(self, declared: DeclaredFeed) -> dict[str, Table]:
        tables = {name: self._table(declared, name) for name in declared.tables}
        try:
            check_earlier_names(tables)
        except Unfit as unfit:
            raise self._misdeclared(f"tables.{unfit.key}", unfit.fault) from None
        return tables

    def _table(self, declared: DeclaredFeed, name: str) -> Table:
        usual = policies_from(declared.schema_changes, Policies())
        table = TableDeclarations(self._misdeclared).table(name, declared.tables[name], usual)
        try:
            check_changes(table, declared.window)
        except Unfit as unfit:
            raise self._misdeclared(f"tables.{name}.{unfit.key}", unfit.fault) from None
        return table

    def _epoch(self, declared: DeclaredFeed, number: int) -> Epoch:
        try:
            return epoch_from(declared.epochs[number], declared.window, declared.tables)
        except Unfit as unfit:
            raise self._misdeclared(f"epochs.{number}.{unfit.key}", unfit.fault) from None


def located(fault: FeedMisdeclared, places: Places) -> FeedMisdeclared:
    """The same fault with line and column, where its key stands in the file."""
    if isinstance(fault, FeedFaults):
        by_place = sorted(fault.faults, key=lambda one: place_of(places, one.key) or FIRST)
        return FeedFaults([located(one, places) for one in by_place])
    place = place_of(places, fault.key)
    words = "" if place is None else f"line {place.line}, column {place.column}: "
    return FeedMisdeclared(fault.file, fault.key, fault.fault, fault.known, words)


# Whether the tables of a feed file can stand beside each other in gold.


def check_gold_names(file: str, feed: Feed) -> None:
    """Refuse names that the feed's tables cannot have in gold or in Dagster.

    Raises:
        FeedMisdeclared: one is no name for a gold table.
        TableNameCollision: two tables would become one gold table.
    """
    sources: dict[str, str] = {}
    for table in feed.tables:
        gold = gold_name(table, feed.table_names)
        for ending in (TOMBSTONES, HISTORY):
            if gold.lower().endswith(ending):
                fault = f"a gold table's name cannot end with {ending}, as {gold} does"
                raise FeedMisdeclared(file, f"tables.{table}", f"{fault} (see table_names)")
        # SQL does not tell names apart by case.
        if other := sources.get(gold.lower()):
            raise TableNameCollision(feed.name, gold, (other, table))
        sources[gold.lower()] = table
    assets: dict[str, str] = {}
    for table, gold in ((table, gold_name(table, feed.table_names)) for table in feed.tables):
        if other := assets.get(asset_name(gold)):
            fault = f"would be the same asset in Dagster as {other}, {asset_name(gold)}"
            raise FeedMisdeclared(file, f"tables.{table}", fault)
        assets[asset_name(gold)] = table


# ``description``, ``owners``, ``tags`` and ``start`` of a feed file, and what its tables and columns hold, in words.


_OWNER: Final = re.compile(r"[^@\s:]+@[^@\s]+\.[^@\s]+|team:[A-Za-z0-9_-]+")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]{1,63}")


def running_from(declared: DeclaredFeed, misdeclared: Misdeclared) -> Running:
    """How the feed is run and watched.

    Raises:
        FeedMisdeclared: a part of it is not valid.
    """
    if declared.start is not None:
        try:
            parse_window(declared.start, declared.window)
        except ValueError as no_window:
            raise misdeclared("start", str(no_window)) from None
    for owner in declared.owners:
        if not _OWNER.fullmatch(owner):
            fault = f"{owner!r} is neither a mail address nor team:<name>"
            raise misdeclared("owners", fault)
    for name, value in declared.tags.items():
        for text in (name, value):
            if not _TAG.fullmatch(text):
                fault = f"{text!r} is more than 63 letters, digits and any of _ . -"
                raise misdeclared(f"tags.{name}", fault)
    return Running(
        start=declared.start,
        description=declared.description,
        owners=tuple(declared.owners),
        tags=declared.tags,
        freshness=freshness_from(declared.freshness, misdeclared),
        automation=automation_from(declared.automation, misdeclared),
        tables=_described(declared.tables, misdeclared),
    )


def _described(
    tables: Mapping[str, DeclaredTable], misdeclared: Misdeclared
) -> dict[str, Described]:
    for name, table in tables.items():
        for column in table.descriptions:
            if column not in table.columns:
                place = f"tables.{name}.descriptions.{column}"
                raise misdeclared(place, "is no column of the table", sorted(table.columns))
    return {
        name: Described(table.description, table.descriptions)
        for name, table in tables.items()
        if table.description or table.descriptions
    }

"""Feed files read: every fault names the file, the key, its line and column, and what is known instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from orchestration.feeds.dgraph import predicates_from, types_from
from orchestration.feeds.expectations import check_suites, suites_from
from orchestration.feeds.faults import InvalidKey, below
from orchestration.feeds.keys import OBJECTS, DeclaredFeed, faults_in_shape
from orchestration.feeds.landings import (
    accepted_losses_from,
    check_encoding,
    check_glob,
    check_window_path,
    landing_from,
    schemas_from,
)
from orchestration.feeds.lengths_of_time import length_of
from orchestration.feeds.policies import (
    check_changes,
    check_earlier_names,
    epoch_from,
    loss_guard_from,
    policies_from,
    retention_from,
)
from orchestration.feeds.running import running_from, settings_from
from orchestration.feeds.tables import (
    check_table_name,
    csv_from,
    erasure_key,
    mask_key,
    table_from,
)
from orchestration.feeds.tigergraph import baseline_from, edges_from, vertices_from
from orchestration.feeds.yaml_files import FIRST, location_of, locations_in, read_yaml
from transforms.errors import FeedFaults, FeedMisdeclared, TableNameCollision
from transforms.feed.decisions import Decisions, Epoch
from transforms.feed.feed import USUAL_CSV, Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES, asset_name, gold_name
from transforms.feed.schema_policies import Policies
from transforms.formats import FORMATS
from transforms.near_names import did_you_mean
from transforms.records.encoding import canonical

_FEED_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def load_feeds(folder: Path) -> list[Feed]:
    """Read every feed file (``*.yaml``, ``*.yml``) of a folder, in the order of the feeds' names.

    Raises:
        FeedMisdeclared: One of them cannot be used, or the folder is none.
        TableNameCollision: Two tables of a feed would become one gold table.
    """
    files = feed_files(folder)
    return [load_feed(files[name]) for name in sorted(files)]


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


def named_files(folder: Path, only: Sequence[str]) -> dict[str, Path]:
    """The feed files of a folder, or those of the feeds that are named, in this order.

    Raises:
        FeedMisdeclared: There is no such folder, no feed file in it, or none of a name.
    """
    files = feed_files(folder)
    if not files:
        fault = "there is no feed file here; write <feed>.yaml, or call `weir onboard LANDING`"
        raise FeedMisdeclared(str(folder), "the feeds", fault)
    for name in only:
        if name not in files:
            fault = "there is no such feed here"
            raise FeedMisdeclared(str(folder), f"feed {name}", fault, sorted(files))
    return {name: files[name] for name in only or sorted(files)}


def load_feed(file: Path) -> Feed:
    """Read one feed file.

    Raises:
        FeedMisdeclared: It says something that Weir does not know or cannot use; all that can be found at once.
        TableNameCollision: Two of its tables would become one gold table.
    """
    if not _FEED_NAME.fullmatch(file.stem):
        fault = "is the feed's, so it must be lower-case letters, digits and _, a letter first"
        raise FeedMisdeclared(str(file), "the file's name", fault)
    content = read_yaml(file)
    parts = _Parts()
    try:
        # First of all: the keys that a file may have depend on its format.
        _check_format(content)
        declared = DeclaredFeed.model_validate(content)
        made = _parts_of(declared, file, parts)
        if not parts.faults:
            return _feed(declared, file, made)
    except ValidationError as error:
        parts.faults.extend(faults_in_shape(error))
    except InvalidKey as unfit:
        parts.faults.append(unfit)
    raise misdeclared(file, parts.faults) from None


def misdeclared(file: Path, faults: Iterable[InvalidKey]) -> FeedMisdeclared:
    """The error that names all faults of a file, each with line and column where its key stands in it."""
    locations = locations_in(file)
    found = []
    for one in sorted(faults, key=lambda one: location_of(locations, one.key) or FIRST):
        location = location_of(locations, one.key)
        at = "" if location is None else f"line {location.line}, column {location.column}: "
        found.append(FeedMisdeclared(str(file), one.key, one.fault, one.known, at))
    return found[0] if len(found) == 1 else FeedFaults(found)


class _Parts:
    """What the parts of a file come to, and what is wrong in each, so that a person reads all faults at once."""

    def __init__(self) -> None:
        self.faults: list[InvalidKey] = []

    def made(self, make: Callable[[], Any]) -> Any:
        """The part; None where it is not valid."""
        try:
            return make()
        except InvalidKey as unfit:
            self.faults.append(unfit)
            return None


def _check_format(content: dict[str, object]) -> None:
    named, known = content.get("format"), sorted(FORMATS)
    if "format" not in content:
        raise InvalidKey("format", "is missing", known)
    if not isinstance(named, str):
        raise InvalidKey("format", f"must be a text, found {named!r}", known)
    if named not in FORMATS:
        raise InvalidKey("format", f"{named!r} is not a format{did_you_mean(named, known)}", known)
    own = FORMATS[named].declares
    for key in OBJECTS:
        if key in content and key not in own:
            raise InvalidKey(key, f"is no key of a feed of format {named}", own)


def _parts_of(declared: DeclaredFeed, file: Path, parts: _Parts) -> dict[str, Any]:
    """Each part of the file as a field of the feed has it, checked by itself."""
    for check in (
        lambda: check_glob("files", declared.files),
        lambda: check_window_path(declared),
        lambda: check_encoding(declared),
        lambda: _check_own_keys(declared),
    ):
        parts.made(check)
    of_graphs: dict[str, Callable[[], object]] = {
        "predicates": lambda: predicates_from(declared.predicates),
        "types": lambda: types_from(declared.types, declared.predicates),
        "vertices": lambda: vertices_from(declared.vertices),
        "edges": lambda: edges_from(declared.edges),
        "baseline": lambda: baseline_from(declared.baseline),
    }
    fields: dict[str, Callable[[], object]] = {
        "landing": lambda: landing_from(declared, file.parent),
        "schemas": lambda: schemas_from(declared, file.parent),
        "accepted_losses": lambda: dict(accepted_losses_from(declared)),
        "loss_guard": lambda: loss_guard_from(declared.loss_guard),
        "transaction_timeout": lambda: length_of(
            "transaction_timeout", declared.transaction_timeout, "24h or 2d", least=0
        ),
        "retention": lambda: retention_from(declared.compaction, declared.window),
        "csv": lambda: csv_from(declared.csv, USUAL_CSV),
        "checks": lambda: settings_from(declared.checks, declared.format),
        "suites": lambda: suites_from(declared.expectations, str(file)),
        "running": lambda: running_from(declared),
        **(of_graphs if FORMATS[declared.format].declares != ("tables",) else {}),
    }
    made = {name: parts.made(make) for name, make in fields.items()}
    epochs = [
        parts.made(partial(_epoch, declared, number)) for number in range(len(declared.epochs))
    ]
    tables = {name: parts.made(partial(_table, declared, name)) for name in declared.tables}
    return made | {"decisions": Decisions(epochs=tuple(epochs)), "tables": tables}


def _feed(declared: DeclaredFeed, file: Path, made: dict[str, Any]) -> Feed:
    """The feed of a file whose parts are sound."""
    with below("tables"):
        check_earlier_names(made["tables"])
    feed = Feed(
        name=file.stem,
        format=declared.format,
        files=declared.files,
        encoding=canonical(declared.encoding) if declared.encoding else None,
        window=declared.window,
        window_path=declared.window_path,
        table_names=declared.table_names,
        unavailable_value=tuple(declared.unavailable_value or ()),
        unwrapped=declared.unwrapped,
        out_of_range=declared.out_of_range,
        deletes=declared.deletes,
        range_deletes=declared.range_deletes,
        policies=policies_from(declared.schema_changes, Policies()),
        mask_key=mask_key(made["tables"].values()),
        erasure_key=erasure_key(),
        **made,
    )
    if FORMATS[feed.format].declares != ("tables",):
        tables = FORMATS[feed.format].tables(feed)
        tables = {name: replace(one, deletes=feed.deletes) for name, one in tables.items()}
        feed = replace(feed, tables=tables)
    _check_gold_names(feed)
    check_suites(feed)
    return feed


def _check_own_keys(declared: DeclaredFeed) -> None:
    """Refuse keys that only some formats have: for values that were not logged, rows without envelopes, documents."""
    if declared.deletes == "mark" and "predicates" in FORMATS[declared.format].declares:
        fault = (
            "mark is for tables of rows; what a node no longer has is no row, and its triples go"
        )
        raise InvalidKey("deletes", fault, ["remove"])
    of_feed = {"unavailable_value": declared.unavailable_value, "unwrapped": declared.unwrapped}
    of_tables = {
        f"tables.{name}.{key}": getattr(table, key)
        for name, table in declared.tables.items()
        for key in ("unavailable_value", "document")
    }
    for key, given in {**of_feed, **of_tables}.items():
        trait = _TRAIT_OF[key.rpartition(".")[2]]
        if given is not None and not getattr(FORMATS[declared.format], trait):
            known = [name for name, one in FORMATS.items() if getattr(one, trait)]
            raise InvalidKey(key, f"is for feeds of format {' or '.join(known)}")
    of_csv = [f"tables.{name}.csv" for name, table in declared.tables.items() if table.csv]
    for key in ["csv"] * ("csv" in declared.model_fields_set) + of_csv:
        if not FORMATS[declared.format].reads_csv:
            known = [name for name, one in FORMATS.items() if one.reads_csv]
            raise InvalidKey(key, f"is for feeds of format {' or '.join(known)}")


_TRAIT_OF: Final = {
    "unavailable_value": "has_placeholders",
    "unwrapped": "may_be_unwrapped",
    "document": "has_documents",
}


def _table(declared: DeclaredFeed, name: str) -> Table:
    check_table_name(name)
    with below(f"tables.{name}"):
        usual = policies_from(declared.schema_changes, Policies())
        try:
            csv = csv_from(declared.csv, USUAL_CSV)
        except InvalidKey:
            # It is told once, of the feed.
            csv = USUAL_CSV
        table = table_from(name, declared.tables[name], usual, csv, declared.deletes)
        check_changes(table, declared.window)
    return table


def _epoch(declared: DeclaredFeed, number: int) -> Epoch:
    with below(f"epochs.{number}"):
        return epoch_from(declared.epochs[number], declared.window, declared.tables)


def _check_gold_names(feed: Feed) -> None:
    """Refuse names that the feed's tables cannot have beside each other in gold or in Dagster.

    Raises:
        TableNameCollision: two tables would become one gold table.
    """
    sources: dict[str, str] = {}
    names = {table: gold_name(table, feed.table_names) for table in feed.tables}
    for table, gold in names.items():
        for ending in (TOMBSTONES, HISTORY):
            if gold.lower().endswith(ending):
                fault = f"a gold table's name cannot end with {ending}, as {gold} does"
                raise InvalidKey(f"tables.{table}", f"{fault} (see table_names)")
        # SQL does not tell names apart by case.
        if other := sources.get(gold.lower()):
            raise TableNameCollision(feed.name, gold, (other, table))
        sources[gold.lower()] = table
    assets: dict[str, str] = {}
    for table, gold in names.items():
        if other := assets.get(asset_name(gold)):
            fault = f"would be the same asset in Dagster as {other}, {asset_name(gold)}"
            raise InvalidKey(f"tables.{table}", fault)
        assets[asset_name(gold)] = table

"""What tables record of the feed that made them: a digest, and what must not change once history is compacted."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from transforms.column_types.registry import column_type, widens
from transforms.feed.decisions import Decisions
from transforms.feed.feed import USUAL_CSV, CsvDialect, Feed, Table
from transforms.feed.masks import HASH


def feed_digest(feed: Feed, window: str) -> str:
    """SHA-256 of what a window's records are judged by; equal however the YAML is laid out and wherever it lies.

    Of the decisions only those count that can change what the window's records become, and of the columns those that
    the window may know.
    The landing is left out: the same records mean the same wherever they were picked up, and a relative folder would
    make the digest depend on the feed file's place. The order of tables means nothing; that of columns does.
    """
    return _digest(
        {
            **_meaning(feed),
            "decisions": feed.decisions.for_window(window).digest(),
            # A change of ``types`` has to make windows due, or no run would make the tables of nodes again.
            "types": {name: list(of) for name, of in feed.types.items()},
            "mask_key": _mask_key(feed, *feed.tables.values()),
            "files": feed.files,
            "window": feed.window,
            "tables": {
                name: _table_meaning(table.at(window)) for name, table in feed.tables.items()
            },
        }
    )


def feed_digests(feed: Feed) -> Callable[[str], str]:
    """``feed_digest`` of any number of windows: worked out once for all that know the same columns and decisions."""
    borders = sorted(
        {epoch.window for epoch in feed.decisions.epochs}
        | {first for table in feed.tables.values() for first in table.since.values()}
    )
    decided = {window for one in feed.decisions.releases for window in one.windows}
    decided |= {one.window for one in feed.decisions.replacements}
    known: dict[str | int, str] = {}

    def digest(window: str) -> str:
        alike: str | int = window if window in decided else bisect_right(borders, window)
        if alike not in known:
            known[alike] = feed_digest(feed, window)
        return known[alike]

    return digest


def table_digest(feed: Feed, table: Table) -> str:
    """SHA-256 of what decides one gold table's rows.

    Of the feed's other tables only names and paths count: they may take drops away from this one. Their keys and
    columns may change freely.
    """
    decided = Decisions(
        epochs=feed.decisions.for_table(table.name), replacements=feed.decisions.altering()
    )
    return _digest(
        {
            **_meaning(feed),
            "decisions": decided.digest(),
            "table": table.name,
            "takers": {name: [other.path, *other.was] for name, other in feed.tables.items()},
            "mask_key": _mask_key(feed, table),
            **_table_meaning(table),
        }
    )


def _meaning(feed: Feed) -> dict[str, object]:
    return {
        "feed": feed.name,
        "format": feed.format,
        "table_names": feed.table_names,
        "predicates": {name: asdict(one) for name, one in feed.predicates.items()},
        "vertices": {name: asdict(one) for name, one in feed.vertices.items()},
        "edges": {name: asdict(one) for name, one in feed.edges.items()},
        "baseline": dict(feed.baseline),
        "unavailable_value": list(feed.unavailable_value),
        "range_deletes": feed.range_deletes,
        **({"deletes": feed.deletes} if feed.deletes != "remove" else {}),
        **({"unwrapped": feed.unwrapped} if feed.unwrapped else {}),
        # Where they are had does not matter: an id's schema never changes.
        **({"schemas": True} if feed.schemas else {}),
        **_csv_meaning(feed.csv),
        **({"out_of_range": feed.out_of_range} if feed.out_of_range != "quarantine" else {}),
    }


def _table_meaning(table: Table) -> dict[str, object]:
    return {
        "key": list(table.key),
        # Which of them gold lacks is said by the masks.
        "columns": list(table.source_columns.items()),
        "before_added": dict(table.before_added),
        "cdc_columns": list(table.cdc_columns),
        "path": table.path,
        "defaults": dict(table.defaults),
        "was": list(table.was),
        "renamed": dict(table.renamed),
        "since": dict(table.since),
        "schema_changes": table.policies.meaning(),
        "history": table.history,
        "snapshots": table.snapshots,
        "masks": dict(table.masks),
        "encodings": dict(table.encodings),
        "unavailable_value": list(table.unavailable_value),
        **_csv_meaning(table.csv),
        **({"deletes": table.deletes} if table.marks_deletes else {}),
        **({"document": table.document} if table.document else {}),
        **({"out_of_range": dict(table.out_of_range)} if table.out_of_range else {}),
    }


def _csv_meaning(csv: CsvDialect) -> dict[str, object]:
    return {} if csv == USUAL_CSV else {"csv": asdict(csv)}


def _mask_key(feed: Feed, *tables: Table) -> str | None:
    """Another secret gives other hashes; it counts where a table hashes."""
    if feed.mask_key is None or not any(HASH in table.masks.values() for table in tables):
        return None
    return feed.mask_key.fingerprint()


def _digest(meaning: dict[str, object]) -> str:
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


# What compacted history depends on in a feed file: if that changes, its events would have become other changes.
# Columns may come, and hold more than before; values that nobody had declared are in the base rows, too. All else
# asks for a rebuild.


Meaning = Mapping[str, Any]
"""What a feed file says of one table, as far as compacted history depends on it, as plain JSON."""

_PARTS_OF_MEANING = {
    "epochs": "the epochs that begin there",
    "key": "the key",
    "renamed": "the columns' earlier names",
    "defaults": "the defaults",
    "deletes": "whether deleted rows stay",
    "takers": "which drops and names are the table's",
    "drop_column": "the policy of dropped columns",
    "quarantines_columns": "whether undeclared columns are taken",
    "holds": "whether range deletes are held",
    "masks": "the masks of columns, or their key",
}
"""What must not change, in words."""


def compacted_meaning(feed: Feed, table: Table, newest: str) -> Meaning:
    """What the feed says of a table for history up to a window (``newest``)."""
    epochs = Decisions(epochs=feed.decisions.for_table(table.name)).for_window(newest)
    return {
        "epochs": epochs.digest(),
        "key": list(table.key),
        "columns": {
            name: column_type(kind).spark
            for name, kind in table.columns.items()
            if name not in table.added
        },
        "cdc_columns": list(table.cdc_columns),
        "renamed": dict(table.renamed),
        "defaults": dict(table.defaults),
        "deletes": table.deletes,
        "takers": {
            other.name: [other.path, *other.was] for other in _competing_tables(feed, table)
        },
        "drop_column": table.policies.drop_column,
        "quarantines_columns": table.policies.add_column == "quarantine",
        "holds": feed.range_deletes == "hold",
        "masks": _masks_meaning(feed, table),
    }


def altered_for_discovered(then: Meaning, feed: Feed) -> list[str]:
    """``altered_since`` of a table that only the stream describes: what it has of the feed, and not of the stream."""
    now = {
        "deletes": feed.deletes if then["key"] else "remove",
        "holds": feed.range_deletes == "hold",
    }
    return [_PARTS_OF_MEANING[name] for name, meant in now.items() if then[name] != meant]


def altered_since(then: Meaning, now: Meaning) -> list[str]:
    """What has changed since, in words; empty where compacted history would still be the same."""
    found = [words for name, words in _PARTS_OF_MEANING.items() if then[name] != now[name]]
    # A table without a key tells its rows apart by all columns.
    fixed = then["key"] or [*then["columns"], *now["columns"]]
    for name in dict.fromkeys([*then["columns"], *now["columns"]]):
        old, new = then["columns"].get(name), now["columns"].get(name)
        if old == new:
            continue
        if name in fixed:
            then_now = f"{old or 'not declared'} then, {new or 'not declared'} now"
            found.append(f"the key's column {name} ({then_now})")
        elif old and new and not widens(old, new):
            found.append(f"the type of column {name} ({old} then, {new} now)")
    if [name for name in now["cdc_columns"] if name in then["cdc_columns"]] != then["cdc_columns"]:
        found.append("the order of columns in rows of changes")
    return found


def _masks_meaning(feed: Feed, table: Table) -> Meaning | None:
    if not table.masks:
        return None
    key = feed.mask_key if HASH in table.masks.values() else None
    return {"columns": dict(table.masks), "key": key and key.fingerprint()}


def _competing_tables(feed: Feed, table: Table) -> Iterator[Table]:
    """The table itself, and others that may take events from it: of its plain name, or by path where it has one."""
    for other in feed.tables.values():
        names = {name.split(".")[-1] for name in (other.name, *other.was)}
        mine = {name.split(".")[-1] for name in (table.name, *table.was)}
        if other is table or names & mine or (table.path and other.path):
            yield other

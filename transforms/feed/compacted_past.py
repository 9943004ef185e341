"""What compacted history depends on in a feed file: if that changes, its events would have become other changes.

Columns may come, and hold more than before; values that nobody had declared are in the base rows, too. All else asks
for a rebuild. Put here what must not change once history is compacted. Not here: where it is kept
(``assets/bookkeeping/compacted/bases.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from transforms import types
from transforms.feed.decisions import Decisions
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import HASH
from transforms.feed.schema_policies import widens

Meaning = Mapping[str, Any]
"""What a feed file says of one table, as far as compacted history depends on it, as plain JSON."""

PART_NAMES = {
    "epochs": "the epochs that begin there",
    "key": "the key",
    "renamed": "the columns' earlier names",
    "defaults": "the defaults",
    "takers": "which drops and names are the table's",
    "drop_column": "the policy of dropped columns",
    "quarantines_columns": "whether undeclared columns are taken",
    "holds": "whether range deletes are held",
    "values": "how values are written",
    "masks": "the masks of columns, or their key",
}
"""What must not change, in words."""


def meaning(feed: Feed, table: Table, newest: str) -> Meaning:
    """What the feed says of a table for history up to a window (``newest``)."""
    epochs = Decisions(epochs=feed.decisions.for_table(table.name)).for_window(newest)
    return {
        "epochs": epochs.digest(),
        "key": list(table.key),
        "columns": {name: types.stored(kind) for name, kind in _declared(table).items()},
        "cdc_columns": list(table.cdc_columns),
        "renamed": dict(table.renamed),
        "defaults": dict(table.defaults),
        "takers": {
            other.name: [other.path, *other.was] for other in _competing_tables(feed, table)
        },
        "drop_column": table.policies.drop_column,
        "quarantines_columns": table.policies.add_column == "quarantine",
        "holds": feed.range_deletes == "hold",
        "values": "canonical",
        "masks": _masks(feed, table),
    }


def altered(then: Meaning, now: Meaning) -> list[str]:
    """What has changed since, in words; empty where compacted history would still be the same."""
    return [*_altered(then, now)]


def _altered(then: Meaning, now: Meaning) -> Iterator[str]:
    yield from (words for name, words in PART_NAMES.items() if then.get(name) != now[name])
    # A table without a key tells its rows apart by all columns.
    fixed = then["key"] or [*then["columns"], *now["columns"]]
    for name in dict.fromkeys([*then["columns"], *now["columns"]]):
        old, new = then["columns"].get(name), now["columns"].get(name)
        if old == new:
            continue
        if name in fixed:
            yield f"the key's column {name} ({old or 'not declared'} then, {new or 'not declared'} now)"
        elif old and new and not widens(old, new):
            yield f"the type of column {name} ({old} then, {new} now)"
    if [name for name in now["cdc_columns"] if name in then["cdc_columns"]] != then["cdc_columns"]:
        yield "the order of columns in rows of changes"


def _masks(feed: Feed, table: Table) -> Meaning | None:
    if not table.masks:
        return None
    key = feed.mask_key if HASH in table.masks.values() else None
    return {"columns": dict(table.masks), "key": key and key.fingerprint()}


def _declared(table: Table) -> Mapping[str, str]:
    return {name: kind for name, kind in table.columns.items() if name not in table.added}


def _competing_tables(feed: Feed, table: Table) -> Iterator[Table]:
    """The table itself, and others that may take events from it: of its plain name, or by path where it has one."""
    for other in feed.tables.values():
        names = {name.split(".")[-1] for name in (other.name, *other.was)}
        mine = {name.split(".")[-1] for name in (table.name, *table.was)}
        if other is table or names & mine or (table.path and other.path):
            yield other

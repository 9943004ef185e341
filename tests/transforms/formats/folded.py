"""What the changes of many scenarios fold to: the rows that gold would have of each.

All is the product's own, in this process: up to silver as ``in_process`` has it, then the fold of ``transforms/gold``.
What comes out is plain Python.
"""

from __future__ import annotations

import base64
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from assets.arrow import typed_values
from assets.arrow.gold import read_changes
from assets.arrow.gold.read_changes import SilverRow
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.columns.silver import OUTPUT, SILVER_ARROW
from assets.gold.changes import cross_stream_deletes
from assets.silver import written_rows
from tests.transforms.formats import in_process
from tests.transforms.formats.in_process import Outcome, Scenario
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import Change, Key, Position
from transforms.gold.fold import Fold
from transforms.gold.key_changes import Links
from transforms.gold.scopes import Scoped
from transforms.gold.state import State
from transforms.gold.table import folded_from_history
from transforms.gold.table_changes import NewChanges
from transforms.gold.transactions import at_commit

_WHOSE = ("window", "declared", "table", "effect")


@dataclass
class Folded(Outcome):
    """What became of a scenario, and the rows that each gold table then has."""

    state: dict[str, list[dict[str, object]]] = field(default_factory=dict)


def folded(feed: Feed, scenarios: Mapping[str, Scenario]) -> dict[str, Folded]:
    """Every scenario's outcome, by name: through the product's stages, and folded."""
    found = {
        name: Folded(**vars(outcome))
        for name, outcome in in_process.outcomes(feed, scenarios).items()
    }
    for one in found.values():
        rows = pa.Table.from_pylist(one.rows, schema=OUTPUT)
        for gold, (table, states) in tables_of(feed, rows).items():
            if some := sorted(gold_rows(table, states), key=str):
                one.state[gold] = some
    return found


def tables_of(feed: Feed, rows: pa.Table) -> dict[str, tuple[Table, Mapping[Key, State]]]:
    """What the keys of each gold table are after all changes of one scenario, and how the table is declared."""
    if not rows.num_rows:
        return {}
    silver = written_rows.as_arrow(rows, feed, SILVER_ARROW)
    complete = completed(rows) if FORMATS[feed.format].transactional else {}
    every: dict[tuple[str, str], list[SilverRow]] = defaultdict(list)
    for batch in silver.combine_chunks().to_batches():
        cells = zip(*(batch.column(name).to_pylist() for name in _WHOSE), strict=True)
        for row, (_, declared, table, effect) in zip(
            read_changes.silver_rows(batch), cells, strict=True
        ):
            placed = at_its_place(row, complete)
            if declared in feed.tables and effect not in (HOLD, *CONTROL) and placed is not None:
                every[declared, table].append(placed)
    found = {}
    for (name, gold), some in every.items():
        declared = feed.tables[name]
        found[gold] = declared, folded_whole(feed, declared, some, silver)
    return found


def completed(rows: pa.Table) -> dict[str, Position]:
    """The commits of the transactions that are complete where all of the scenario was read."""
    waiting = open_events.events_here(rows).sort_by("id")
    states = transaction_states.states_of(waiting.to_batches(), [])
    return {one.id: tuple(one.commit) for one in states if one.commit is not None}


def at_its_place(row: SilverRow, complete: Mapping[str, Position]) -> SilverRow | None:
    """The row where it takes effect; None for one whose transaction is not complete."""
    transaction = row.transaction
    if transaction is None:
        return row
    commit = transaction["commit"] or complete.get(transaction["id"])
    if commit is None:
        return None
    if not transaction["at_commit"]:
        return row
    change = at_commit(row.change, tuple(commit))
    scoped = None if row.scoped is None else replace(row.scoped, change=change)
    return row._replace(change=change, scoped=scoped)


@dataclass(frozen=True)
class InScenario:
    """All changes of one table (``transforms.gold.table.Silver``)."""

    changes: Mapping[Key, Sequence[SilverRow]]

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        """Those of these keys alone, as the product's silver has it."""
        return {
            key: [one.change for one in some]
            for key, some in self.changes.items()
            if keys is None or key in keys
        }

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        """Nothing is compacted."""
        return {}

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        """Of which streams keys have changes."""
        return {
            key: {one.stream for one in some if not one.change.is_scoped}
            for key, some in self.changes.items()
        }

    def links(self) -> Links:
        """The keys that key changes link."""
        return [
            (one.change.moved_from or (), key)
            for key, some in self.changes.items()
            for one in some
            if one.change.effect == "move"
        ]


def folded_whole(
    feed: Feed, table: Table, rows: Sequence[SilverRow], silver: pa.Table
) -> Mapping[Key, State]:
    """What the keys of a table are after all of these rows of ``silver``, which has those of all tables."""
    keyed: dict[Key, list[SilverRow]] = defaultdict(list)
    scoped: list[Scoped] = []
    for one in rows:
        if one.key is not None:
            keyed[one.key].append(one)
        elif one.scoped is not None:
            scoped.append(one.scoped)
    moves = any(one.change.effect == "move" for one in rows)
    new = NewChanges({}, scoped, moves=moves)
    if FORMATS[feed.format].crosses_streams and any(one.stream is not None for one in scoped):
        cross_stream = cross_stream_deletes.read_locally(
            feed, table, scoped, [(silver.select(cross_stream_deletes.COLUMNS), True)]
        )
        if cross_stream is not None:
            new = replace(
                new,
                crossing=cross_stream.crossing,
                cross_stream_positions=cross_stream.cross_stream_positions,
            )
    return folded_from_history(Fold.of(table), new, InScenario(keyed))


def gold_rows(table: Table, states: Mapping[Key, State]) -> Iterator[dict[str, object]]:
    """The rows that gold would have of these keys, one per copy, as JSON has them."""
    present = [
        (key, state)
        for key, state in states.items()
        if state.effect != "remove"
        for _ in range(state.copies)
    ]
    at = {name: number for number, name in enumerate(table.identity)}
    cells = {
        name: typed_values.typed(
            [key[at[name]] if name in at else state.columns.get(name) for key, state in present],
            kind,
        ).to_pylist(maps_as_pydicts="strict")
        for name, kind in table.columns.items()
    }
    for values in zip(*cells.values(), strict=True):
        yield {name: shown(value) for name, value in zip(cells, values, strict=True)}


def shown(value: object) -> object:
    """A value as JSON has it; a time as people write it, without a fraction that is nothing."""
    if not isinstance(value, datetime):
        return plain(value)
    text = value.replace(tzinfo=None).isoformat(sep=" ")
    return text.rstrip("0") if "." in text else text


def plain(value: object) -> object:
    """A value as JSON has it: decimals, dates and infinities as text, bytes as base64, times in UTC."""
    match value:
        case Decimal():
            return str(value)
        case datetime():
            moment = value if value.tzinfo is None else value.astimezone(UTC)
            return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case list():
            return [plain(one) for one in value]
        case dict():
            return {str(plain(key)): plain(one) for key, one in value.items()}
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value

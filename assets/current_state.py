"""How new changes get into a gold table: what is read, what is folded anew, what is merged.

Not here: the order and the fold (``transforms/gold``), and the Dagster asset (``gold``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from time import monotonic
from typing import Self

from assets import (
    bases,
    decisions,
    discovered_tables,
    gold_commits,
    gold_local,
    gold_tasks,
    schema_changes,
    scoped_changes,
    versions,
)
from assets.applied import Applied, GoldTable
from assets.gold_tables import (
    CONSTRAINT,
    DECLARATION,
    delta_properties,
    due_tables,
    properties_of,
    require_whole_key,
    stale_windows,
)
from assets.history import History
from assets.lake import Lake
from assets.lake_table import LakeTable
from assets.read_once import ReadOnce
from assets.scoped_changes import of_counts
from assets.writing import writing
from transforms.feed import Feed, Table
from transforms.feed_digest import table_digest
from transforms.silver.discovered_tables import Stopped
from transforms.table_names import HISTORY, TOMBSTONES

AT_ONCE = 4
"""So many tables of a feed are worked on side by side: while one waits for the store, or for Spark, another goes on."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of one declared table: what was done, or the error that ended it; and how many seconds it took."""

    table: Table
    done: Applied
    error: Exception | None
    seconds: float


def apply_all(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> Iterator[Brought]:
    """Bring all gold tables of these declared ones up to the windows, side by side; each as soon as it is done.

    The failure of one leaves the others alone. What is written down of the feed is read once, for all of them.
    """
    known = Known.of(lake, feed)

    def brought(table: Table) -> Brought:
        started = monotonic()
        done, error = Applied(), None
        try:
            done = _apply(known, table, windows, anew=False)
        except Exception as fault:  # whatever it is, the other tables have nothing to do with it
            error = fault
        return Brought(table, done, error, monotonic() - started)

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="gold") as threads:
        for one in as_completed([threads.submit(brought, table) for table in tables]):
            yield one.result()


def apply_tables(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> list[Brought]:
    """The same, for whoever wants all of them: the first error is raised once every table had its turn."""
    found = [*apply_all(lake, feed, tables, windows)]
    for one in found:
        if one.error is not None:
            raise one.error
    return found


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, anew: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows; ``anew``: from all of silver.

    One that cannot be made stays as it was (``discovered_tables.stopped``).
    """
    return _apply(Known.of(lake, feed), table, windows, anew=anew)


@dataclass(frozen=True, slots=True)
class Known:
    """What all tables of a feed ask for: the feed with its decisions, and the gold tables that cannot be made.

    ``lake``: the warehouse, of which what is written down of the feed is read once.
    """

    lake: Lake
    feed: Feed
    stopped: Mapping[str, Stopped]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> Self:
        """What is written down of the feed."""
        lake = ReadOnce.of(lake)
        feed = decisions.with_recorded(lake, feed)
        # Whether a feed has too many tables is for whoever asks for all of them.
        return cls(lake, feed, discovered_tables.everything(lake, feed).stopped)


def _apply(known: Known, table: Table, windows: Sequence[str], *, anew: bool) -> Applied:
    lake, feed, stopped = known.lake, known.feed, known.stopped
    mine = {name: one for name, one in stopped.items() if table.name in one.declared}
    done = Applied(stopped=mine)
    with writing(lake, "gold", feed.name, table.name):
        for name in due_tables(lake, feed, table, windows):
            if name not in stopped:
                done = done.plus(apply_one(lake, feed, table, name, windows, anew=anew))
    return done


def apply_one(
    lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str], *, anew: bool = False
) -> Applied:
    """Fold these windows' changes onto one gold table; tombstones first, so that a crash between loses none.

    Keys whose changes are all newer than what gold knows are folded onto it; the others are folded anew from silver.
    A table that was made under another declaration is made anew as a whole, once all its windows are derived anew;
    until then it stays as it is.
    """
    table = schema_changes.with_added(lake, feed, table, name)
    done = gold_local.apply_one(lake, feed, table, name, windows, anew=anew)
    if done is not None:
        return done
    history = History.read(lake, feed, table, name, windows)
    gold = lake.table("gold", feed.name, name)
    graves = lake.table("gold", feed.name, name + TOMBSTONES)
    exists = gold.exists() and graves.exists()
    # A table that is missing is made from all of silver, too: whoever removed it wants it back whole.
    stands = gold.properties() if exists else {}
    anew = anew or not exists or stands.get(DECLARATION) != table_digest(feed, table)
    scoping = scoped_changes.of_history(feed, history)
    # What reaches keys of other streams may have moved with whatever came.
    has_moved = not anew and scoping.spread is not None and scoping.spread.crossing.has_moved
    anew = anew or has_moved
    if table.history and not lake.table("gold", feed.name, name + HISTORY).exists():
        anew = True
    if anew:
        if exists:
            schema_changes.refuse_declaration(lake, feed, table, name, gold, graves)
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
    else:
        _brought_along(gold, table, stands)
    found = gold_tasks.folded(feed, history, scoping, *(() if anew else (gold, graves)))
    tally = found.tally
    if table.history and (anew or tally.keys):
        versions.write(
            lake.table("gold", feed.name, name + HISTORY),
            *(table, found.versions, found.rows.select("key")),
            anew=anew,
            horizon=bases.drawn(lake, feed).get(name),
        )
    if anew:
        made = properties_of(table, table_digest(feed, table))
        gold_commits.create(gold, graves, found.rows, table, made)
    elif tally.keys:
        gold_commits.put(gold, graves, found.rows, table, tally)
    sizes = gold.count(), graves.count()
    did = of_counts(scoping.by_event, scoping.places, tally.removed, tally.changed)
    return Applied(
        tables=(GoldTable(name, *sizes, tally.repeats, did),),
        changes=tally.deliveries,
        repeats=tally.repeats,
        superseded=tally.superseded,
        keys=tally.keys,
        late_keys=tally.late_keys,
        ties=tally.ties,
        foreign_copies=tally.foreign_copies,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=exists and anew and not has_moved,
    )


def _brought_along(gold: LakeTable, table: Table, stands: Mapping[str, str]) -> None:
    """Give a table that an earlier version of Weir made what it lacks."""
    if CONSTRAINT not in stands:
        require_whole_key(gold, table)
    if missing := {
        name: on for name, on in delta_properties(table).items() if stands.get(name) != on
    }:
        gold.set_properties(missing)

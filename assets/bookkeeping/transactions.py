"""Transactions over several windows: what is known of them, and which of them a run completes.

``landed.<feed>`` has the objects that are known to have landed, ``transactions.<feed>`` the events of transactions that
no single window holds whole. Only feeds whose format has transactions have either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame

from assets.bookkeeping import accounting, ledger, open_transactions
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window

LANDED = pa.schema([(name, pa.string()) for name in ("window", "object", "generation")])
"""One row per object generation that was in the landing and not in bronze when a run looked: ``landed.<feed>``."""


def note_landed(lake: Lake, feed: Feed, objects: Iterable[tuple[str, str, str]]) -> None:
    """Remember that these object generations have landed: a transaction may go through one that nobody has read yet."""
    new = set(objects)
    table = lake.small_table(Layer.LANDED, feed.name, LANDED)
    if new:
        noted = table.rows(where={"window": {one[0] for one in new}})
        new -= {tuple(row.values()) for row in noted}
    if new:
        table.append([dict(zip(LANDED.names, one, strict=True)) for one in sorted(new)])


def forget_unreadable(lake: Lake, feed: Feed, there: Collection[tuple[str, str, str]]) -> None:
    """Forget object generations that have landed and can no longer be read: neither in the landing nor in bronze.

    ``there``: all that lies in the landing now.
    """
    doubtful = unread(lake, feed)
    if not doubtful:
        return
    table = lake.small_table(Layer.LANDED, feed.name, LANDED)
    noted = [tuple(row.values()) for row in table.rows(where={"window": doubtful})]
    held = {
        (one.window, one.name, one.generation) for one in ledger.read_objects(lake, feed, doubtful)
    }
    known = [one for one in noted if one in there or one in held]
    if len(known) < len(noted):
        rows = [dict(zip(LANDED.names, one, strict=True)) for one in sorted(set(known))]
        table.replace_windows(rows, doubtful)


def unread(lake: Lake, feed: Feed, but: Sequence[str] = ()) -> list[str]:
    """The windows of which something is known to have landed that silver does not have, these left out."""
    noted = _landed(lake, feed)
    progress = lake.small_table(Layer.PROGRESS, feed.name, ledger.PROGRESS)
    finished = {row["window"]: row["objects"] for row in progress.rows(["window", "objects"])}
    doubtful = [
        window
        for window, count in noted.items()
        if window not in but and finished.get(window, -1) < count
    ]
    if not doubtful:
        return []
    # Few: those of this run and of runs that did not come to their end.
    held = ledger.read_objects(lake, feed, doubtful)
    objects = ledger.amounts(feed, held)
    behind = ledger.behind(lake, feed, held)
    return sorted(one for one in doubtful if objects[one] < noted[one] or one in behind)


def _landed(lake: Lake, feed: Feed) -> dict[str, int]:
    """How many object generations are known to have landed, by window; of topics, how many records bronze has."""
    if feed.reads_topics:
        # All that a run has seen of a topic is in bronze.
        return ledger.amounts(feed, ledger.read_objects(lake, feed))
    noted = lake.small_table(Layer.LANDED, feed.name, LANDED).read()
    # Two runs may have noted one object.
    windows = noted.group_by(LANDED.names).aggregate([])["window"].value_counts()
    return {one["values"]: one["counts"] for one in windows.to_pylist()}


def released(lake: Lake, feed: Feed, windows: Sequence[str]) -> DataFrame | None:
    """``complete``, as a frame of ``id``, ``commit``, ``is_new``; None where every window holds its own whole."""
    found = complete(lake, feed, windows)
    if found is None:
        return None
    rows = [
        {"id": name, "commit": list(commit), "is_new": is_new}
        for name, (commit, is_new) in found.items()
    ]
    return lake.spark.createDataFrame(pa.Table.from_pylist(rows, schema=_RELEASED))


def complete(
    lake: Lake, feed: Feed, windows: Sequence[str]
) -> dict[str, tuple[tuple[int, ...], bool]] | None:
    """The complete ones of the transactions that no window holds whole: the commit, and whether it is new.

    New: not complete by the windows that are in gold already, these left out: what silver has of others, gold may not
    have, and then these windows' turn is the only one. None where all transactions are whole in their windows.
    """
    if not open_transactions.table_of(lake, feed).count():
        return None
    missing = unread(lake, feed, windows)
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS).read(["window"])
    in_silver = {*accounts["window"].to_pylist(), *windows}
    not_in_gold = in_silver - ledger.brought_before(lake, feed, windows)
    landed = not_in_gold.intersection(_landed(lake, feed))
    now = open_transactions.states(lake, feed, missing)
    earlier = open_transactions.states(
        lake, feed, sorted({*missing, *landed}), without=sorted(not_in_gold)
    )
    known = {one.id for one in earlier if one.commit is not None}
    return {one.id: (one.commit, one.id not in known) for one in now if one.commit is not None}


_RELEASED = pa.schema(
    [("id", pa.string()), ("commit", pa.list_(pa.int64())), ("is_new", pa.bool_())]
)


_1970 = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """One transaction that is not complete: what waits for what."""

    id: str
    waiting: int
    has_commit: bool
    seen: int
    expected: int | None
    first_window: str
    first_at: datetime | None
    age: timedelta
    never_committed: bool
    unread: tuple[str, ...] = ()


def still_open(lake: Lake, feed: Feed) -> list[OpenTransaction]:
    """The transactions that are open now, the oldest first.

    Their age is counted in landing windows, up to the newest that was read: a feed that stands still ages nothing. Past
    the feed's timeout one is ``never_committed``, which is what is thought of it and no more: its commit may yet come.
    """
    if not open_transactions.table_of(lake, feed).count():
        return []
    missing = unread(lake, feed)
    states = [one for one in open_transactions.states(lake, feed, missing) if one.commit is None]
    if not states:
        return []
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS).read(["window"])
    newest = parse_window(max(accounts["window"].to_pylist()), feed.window)
    found = []
    for one in sorted(states, key=lambda state: (state.first_window, state.id)):
        age = newest - parse_window(one.first_window, feed.window)
        said = {name: value for name, value in one._asdict().items() if name != "commit"}
        said["first_at"] = (
            None if one.first_at is None else _1970 + timedelta(microseconds=one.first_at)
        )
        overdue = age >= feed.transaction_timeout
        found.append(
            OpenTransaction(**said, age=age, never_committed=overdue, unread=tuple(missing))
        )
    return found


def told(waiting: Sequence[OpenTransaction]) -> str:
    """The open transactions, one line each: how much waits, since when, and for what."""
    return "\n".join(
        f"- {one.id}: {'never_committed' if one.never_committed else 'open'}:"
        f" {counted(one.waiting, 'change')} since window {one.first_window}"
        f" ({counted(int(one.age / timedelta(hours=1)), 'hour')}); {_lacks(one)}"
        for one in waiting
    )


def _lacks(one: OpenTransaction) -> str:
    if not one.has_commit:
        return "no commit seen"
    if one.expected is not None:
        return f"{one.seen:,} of {one.expected:,} events seen"
    if one.unread:
        return f"windows with drops that are not read yet: {', '.join(one.unread[:5])}{', …' if one.unread[5:] else ''}"
    return "its beginning is not read yet"

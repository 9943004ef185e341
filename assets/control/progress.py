"""Which windows of a feed are finished, which have landed unread, and which another declaration opens again.

A window is finished when ``progress`` says so for as many object generations as bronze holds of it now (records,
where topics are read: their partitions grow), under the declaration that the feed has now. Losing the table costs
time, never truth: every step can be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from assets.columns import layers
from assets.control import decisions, discovered_tables, ledger
from assets.control.discovered_tables import with_added
from assets.control.ledger import ReadObject, amounts, read_objects
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from transforms.feed.digest import feed_digests, table_digest
from transforms.feed.feed import Feed

READ_ACCOUNTS = ("window", "records", "declaration")
"""The columns of the accounts that say which records silver was made from, and under which declaration."""


FINISHED = ("window", "objects", "declaration")
"""The columns of ``progress`` that say what is finished."""


def unfinished(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> list[str]:
    """Windows whose bronze, ``known`` as it is now, is not in gold yet, or was derived under another declaration."""
    rows = lake.in_process_table(Layer.PROGRESS, feed.name).rows(FINISHED)
    return unfinished_by(decisions.with_recorded(lake, feed), rows, known)


def unfinished_by(
    feed: Feed, finished: Iterable[Mapping[str, Any]], known: Sequence[ReadObject]
) -> list[str]:
    """``unfinished`` for whoever has the feed with its decisions, and has read what is ``FINISHED``."""
    digest = feed_digests(feed)
    done = {
        row["window"]: row["objects"]
        for row in finished
        if row["declaration"] == digest(row["window"])
    }
    counts = amounts(feed, known)
    return sorted(window for window, count in counts.items() if done.get(window) != count)


def are_finished(lake: Lake, feed: Feed, wanted: Mapping[str, int]) -> bool:
    """Whether gold has at least so much of each of these windows (``ledger.amounts``), as it is declared now.

    Of a window from which somebody has erased records meanwhile, gold has to have those that are left.
    """
    left = amounts(feed, read_objects(lake, feed, [*wanted]))
    declared = declarations(decisions.with_recorded(lake, feed), wanted)
    rows = lake.in_process_table(Layer.PROGRESS, feed.name).rows(FINISHED)
    finished = {
        row["window"]: row["objects"]
        for row in rows
        if row["declaration"] == declared.get(row["window"])
    }
    return all(
        finished.get(window, -1) >= min(count, left[window]) for window, count in wanted.items()
    )


def brought_before(lake: Lake, feed: Feed, windows: Collection[str]) -> frozenset[str]:
    """The finished windows besides these; what silver has of any other window may not be in gold yet."""
    rows = lake.in_process_table(Layer.PROGRESS, feed.name).rows(["window"])
    return frozenset(row["window"] for row in rows).difference(windows)


def finish(lake: Lake, feed: Feed, windows: Sequence[str]) -> int:
    """Record that these windows are finished; returns how many objects or records they have (``ledger.amounts``).

    A window for which bronze has more than silver was made from is left out: another run read new drops meanwhile, and
    may have died before it came to silver. So is one that was derived under other decisions than there are by now.
    """
    with writing(lake, Layer.PROGRESS, feed.name):
        feed = decisions.with_recorded(lake, feed)
        known = read_objects(lake, feed, windows)
        late = behind(lake, feed, known)
        counts = amounts(feed, (one for one in known if one.window not in late))
        now, digest = datetime.now(UTC), feed_digests(feed)
        rows = [
            {"window": window, "objects": count, "declaration": digest(window), "finished_at": now}
            for window, count in counts.items()
        ]
        lake.in_process_table(Layer.PROGRESS, feed.name).replace_windows(rows, windows)
        return counts.total()


def behind(lake: Lake, feed: Feed, known: Sequence[ReadObject]) -> set[str]:
    """The windows that were derived from fewer records than bronze has now, or under another declaration."""
    windows = {one.window for one in known}
    return behind_by(declarations(feed, windows), accounts_of(lake, feed, windows), known)


def declarations(feed: Feed, windows: Iterable[str]) -> dict[str, str]:
    """Under which declaration each of these windows would be derived now: the digest of it."""
    digest = feed_digests(feed)
    return {window: digest(window) for window in windows}


def accounts_of(
    lake: Lake, feed: Feed, windows: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """The accounts (``READ_ACCOUNTS``) of these windows, or all."""
    if windows is not None and not windows:
        return []
    where = None if windows is None else {"window": windows}
    return lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(READ_ACCOUNTS, where)


def behind_by(
    declared: Mapping[str, str], accounts: Iterable[Mapping[str, Any]], known: Sequence[ReadObject]
) -> set[str]:
    """``behind`` for whoever has the ``declarations`` of at least these windows, and has read their ``accounts``."""
    in_bronze, derived = Counter[str](), Counter[str]()
    for one in known:
        in_bronze[one.window] += one.records
    stale: set[str] = set()
    for row in accounts:
        if row["window"] in in_bronze:
            derived[row["window"]] += row["records"]
            if row["declaration"] != declared[row["window"]]:
                stale.add(row["window"])
    return stale | {window for window in in_bronze if in_bronze[window] != derived[window]}


# The object generations that are known to have landed. Only feeds whose format has transactions have the table: a
# transaction may go through an object that nobody has read yet.


def note_landed(lake: Lake, feed: Feed, objects: Iterable[tuple[str, str, str]]) -> None:
    """Add these object generations (window, object, generation) to ``landed.<feed>``, each once."""
    new = set(objects)
    if not new:
        return
    table = lake.in_process_table(Layer.LANDED, feed.name)
    noted = table.rows(where={"window": {one[0] for one in new}})
    if new := new.difference(tuple(row.values()) for row in noted):
        table.append(
            [dict(zip(layers.Landed.schema.names, one, strict=True)) for one in sorted(new)]
        )


def forget_unreadable(lake: Lake, feed: Feed, there: Collection[tuple[str, str, str]]) -> None:
    """Remove object generations that can no longer be read: they are neither in the landing nor in bronze.

    ``there``: all that lies in the landing now.
    """
    doubtful = unread_windows(lake, feed)
    if not doubtful:
        return
    table = lake.in_process_table(Layer.LANDED, feed.name)
    noted = [tuple(row.values()) for row in table.rows(where={"window": doubtful})]
    held = {
        (one.window, one.name, one.generation) for one in ledger.read_objects(lake, feed, doubtful)
    }
    known = [one for one in noted if one in there or one in held]
    if len(known) < len(noted):
        rows = [
            dict(zip(layers.Landed.schema.names, one, strict=True)) for one in sorted(set(known))
        ]
        table.replace_windows(rows, doubtful)


def unread_windows(lake: Lake, feed: Feed) -> list[str]:
    """The windows of which something has landed that silver does not have."""
    landed = Landed.read(lake, feed)
    declared = declarations(feed, landed.doubtful)
    return landed.unread(declared, accounts_of(lake, feed, landed.doubtful))


@dataclass(frozen=True, slots=True)
class Landed:
    """What is known to have landed of a feed at one moment, and how much of it bronze has.

    ``noted``: how many object generations are known to have landed, by window; of topics, how many records bronze has.
    ``doubtful``: the windows that are not in gold with all of these. ``held``: what bronze has of these windows, and
    ``amounts`` how much that is, counted as in ``noted``.
    """

    noted: Mapping[str, int]
    doubtful: frozenset[str]
    amounts: Mapping[str, int]
    held: Sequence[ReadObject]

    @classmethod
    def read(cls, lake: Lake, feed: Feed, but: Collection[str] = ()) -> Landed:
        """What is known now; the windows ``but`` are not asked for, so that none of them is doubtful."""
        if feed.reads_topics:
            # All that a run has seen of a topic is in bronze.
            everything = ledger.read_objects(lake, feed)
            noted: Mapping[str, int] = ledger.amounts(feed, everything)
        else:
            objects = lake.in_process_table(Layer.LANDED, feed.name).read()
            # Two runs may have noted one object.
            windows = (
                objects.group_by(layers.Landed.schema.names).aggregate([])["window"].value_counts()
            )
            noted = {one["values"]: one["counts"] for one in windows.to_pylist()}
        rows = lake.in_process_table(Layer.PROGRESS, feed.name).rows(["window", "objects"])
        finished = {row["window"]: row["objects"] for row in rows}
        doubtful = frozenset(
            window
            for window, count in noted.items()
            if window not in but and finished.get(window, -1) < count
        )
        if feed.reads_topics:
            held = [one for one in everything if one.window in doubtful]
        else:
            # Few: those of this run and of runs that did not come to their end.
            held = ledger.read_objects(lake, feed, [*doubtful]) if doubtful else []
        return cls(noted, doubtful, ledger.amounts(feed, held), held)

    def unread(
        self, declared: Mapping[str, str], accounts: Iterable[Mapping[str, Any]]
    ) -> list[str]:
        """The doubtful windows of which something has landed that silver does not have.

        ``declared``: the ``declarations`` of these windows; ``accounts``: those of at least these (``READ_ACCOUNTS``).
        """
        behind = behind_by(declared, accounts, self.held)
        return sorted(
            one
            for one in self.doubtful
            if self.amounts.get(one, 0) < self.noted[one] or one in behind
        )


# Before silver is derived under another declaration: nothing may count as made of the old. A feed file may be put back
# before gold has followed it, or a run may end in between: silver has other changes then than those that gold was made
# from, under a declaration that progress and gold name as their own.


DECLARATION: Final = "weir.declaration"
"""The property of a gold table that holds the digest of the declaration that it was made with."""


def reopen(
    lake: Lake, feed: Feed, declared: Mapping[str, str], earlier: Sequence[Mapping[str, Any]]
) -> None:
    """Let windows that were derived under another declaration count as unfinished, and have gold made again from all.

    Before their silver is replaced, so that a run may end at any point. Gold tables that were made under the present
    declaration stay as they are: what another table is declared as has changed nothing in their silver.
    ``declared``: the windows that are to be derived, and under which declaration; ``earlier``: their accounts before.

    Raises:
        TableBusy: another run writes a gold table of the feed.
    """
    stale = {
        row["window"]
        for row in earlier
        if row["declaration"] != declared.get(row["window"], row["declaration"])
    }
    if not stale:
        return
    progress = lake.in_process_table(Layer.PROGRESS, feed.name)
    if progress.exists:
        with writing(lake, Layer.PROGRESS, feed.name):
            progress.replace_windows([], stale)
    tables = discovered_tables.tables_of(lake, feed)
    made = {(row["table"], row["declared"]) for row in earlier if row["window"] in stale}
    for name, of in sorted((name, of) for name, of in made if name is not None and of is not None):
        table = tables.get(of)
        now = table and table_digest(feed, with_added(lake, feed, table, name))
        gold = lake.in_process_table(Layer.GOLD, feed.name, name)
        if gold.properties.get(DECLARATION) not in (None, "", now):
            with writing(lake, Layer.GOLD, feed.name, of):
                undeclare(lake, feed, name)


def undeclare(lake: Lake, feed: Feed, name: str) -> None:
    """Let a gold table count as made under no declaration, for a caller that holds its lock."""
    gold = lake.in_process_table(Layer.GOLD, feed.name, name)
    if not gold.properties.get(DECLARATION):
        return
    if gold.may_be_written:
        gold.set_properties({DECLARATION: ""})
    else:
        lake.table(Layer.GOLD, feed.name, name).set_properties({DECLARATION: ""})

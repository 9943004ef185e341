"""An apply in this process: for a gold table that is small, and a run that brings little for it.

Reading, folding and rewriting such a table whole takes some hundredths of a second; Spark's jobs for the same take
seconds. What the changes do is the same code (``transforms/gold``). Not here: which tables a run is for, and larger
ones (``apply_table``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from assets.gold import schema_changes
from assets.gold.applied import Applied, GoldTable
from assets.gold.apply.gold_files import GoldFiles
from assets.gold.apply.history_files import HistoryFiles
from assets.gold.changes import cross_stream_deletes, new_changes, scoped_delete_effects
from assets.gold.changes.silver_files import SilverFiles, TooLarge
from assets.gold.changes.table_changes import kinds_and_counts
from assets.gold.gold_tables import CONSTRAINT, DECLARATION, stale_windows
from assets.gold.schema_changes import ADDED
from assets.lake import Lake
from assets.layers import Layer
from transforms.change_kinds import ChangeKinds
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.fold import Fold
from transforms.gold.history import Version, are_same, is_woven_in, versions
from transforms.gold.news import News
from transforms.gold.state import ABSENT
from transforms.gold.table import brought, folded_from_history, steps, with_linked
from transforms.gold.table_changes import Brought, New

MOST_CHANGES = 60_000
"""So many changes of a table are folded in this process at most: into 300,000 rows that took 4.9 s, by Spark 7.1."""


def apply_one(
    lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str], *, full_rebuild: bool
) -> Applied | None:
    """Bring one gold table up to these windows, in this process; None where that is Spark's work."""
    change_kinds, most_new = kinds_and_counts(lake, feed, name, windows)
    if most_new > MOST_CHANGES or table.change_feed:
        return None
    gold = GoldFiles.of(lake, feed, table, name)
    history = HistoryFiles.of(lake, feed, table, name) if table.history else None
    stands = gold.gold.properties
    if not (gold.is_small and (history is None or history.is_small)):
        return None
    if gold.exists and CONSTRAINT not in stands:
        # An earlier version of Weir made it: rows without a key have to go first.
        return None
    full_rebuild = (
        full_rebuild or not gold.exists or stands.get(DECLARATION) != table_digest(feed, table)
    )
    full_rebuild = full_rebuild or (history is not None and not history.exists)
    if full_rebuild:
        if gold.exists:
            tables = (lake.table(Layer.GOLD, feed.name, one) for one in (name, name + TOMBSTONES))
            schema_changes.refuse_declaration(lake, feed, table, name, *tables)
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
    try:
        return _applied(
            lake, feed, name, gold, history, windows, change_kinds, full_rebuild=full_rebuild
        )
    except TooLarge:
        return None


def _applied(
    lake: Lake,
    feed: Feed,
    name: str,
    gold: GoldFiles,
    history: HistoryFiles | None,
    windows: Sequence[str],
    change_kinds: ChangeKinds,
    *,
    full_rebuild: bool,
) -> Applied:
    table, fold = gold.table, Fold.of(gold.table)
    silver, change_kinds = new_changes.silver_of(lake, feed, table, name, windows, change_kinds)
    epochs = new_changes.epochs(feed, silver)
    releases = any(is_new for _, is_new in silver.released.values())
    needs_all = bool(full_rebuild or change_kinds.scopes or epochs or releases)
    changes = silver.everything if needs_all else silver.of_windows
    run = new_changes.run(silver, changes, epochs, change_kinds)
    rebuilt = full_rebuild and gold.exists
    if cross_stream_deletes.crosses(feed, change_kinds):
        run, has_moved = new_changes.crossing(lake, feed, run, silver, table)
        full_rebuild = full_rebuild or has_moved
    if full_rebuild:
        done = Brought(states=folded_from_history(fold, run.new, silver))
        current_rows: Mapping[Key, Current] = {}
        foreign = 0
    else:
        asked = {*run.new.changes, *run.new.placed}
        # A new scoped change is for all that stands, and of linked keys it is not known yet which come along.
        brings_scopes = any(not one.change.is_past for one in run.new.scoped)
        current_rows = gold.current(None if brings_scopes or run.new.moves else asked)
        done = brought(fold, run.new, current_rows, silver)
        foreign = gold.foreign_copies(current_rows.keys() if brings_scopes else asked)
    own = [one for one in changes if one.is_new and one.key is not None]
    if history is not None:
        of_keys: Mapping[Key, Sequence[Version]] = _versions(
            fold, run.new, silver, None if full_rebuild else done.states.keys()
        )
        if not full_rebuild:
            of_keys = _weave_in(done, of_keys, history, silver, current_rows)
        if full_rebuild or done.states:
            history.put(of_keys, silver.based.horizon, None if full_rebuild else done.states.keys())
    news = _news(done.states.keys() if full_rebuild else done.asked, silver, current_rows)
    repeats = done.known + done.repeats + sum(one.repeats() for one in news.values())
    superseded = sum(one.superseded(came_late=key in done.late) for key, one in news.items())
    made = _properties(feed, table)
    sizes = gold.create(done.states, made) if full_rebuild else gold.put(done.states)
    told = scoped_delete_effects.reached_here(
        run.scopes, run.places, done.states, current_rows, full_rebuild=full_rebuild
    )
    return Applied(
        tables=(GoldTable(name, *sizes, repeats, told),),
        changes=sum(not one.change.is_derived for one in own),
        repeats=repeats,
        superseded=done.superseded + superseded,
        keys=len(done.states),
        refolded=len(done.refolded),
        keys_with_late_events=len(done.late),
        ties=done.ties,
        foreign_copies=foreign,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
    )


def _weave_in(
    done: Brought,
    of_keys: Mapping[Key, Sequence[Version]],
    history: HistoryFiles,
    silver: SilverFiles,
    current_rows: Mapping[Key, Current],
) -> dict[Key, Sequence[Version]]:
    """Compare the keys' versions with those that stand: what came late is seen there.

    Keys of which both gold and the versions are the same are left out; returns the versions of the others.
    """
    fold = Fold.of(history.table)
    stood_of = history.current_rows(done.states.keys(), silver.based.horizon)
    for key in done.states.keys() & current_rows.keys():
        stands, stood, told = current_rows[key], stood_of.get(key, []), of_keys.get(key, [])
        last = stands.state.last
        if last is not None and is_woven_in(stood, told, last.position):
            done.late.add(key)
        if stands.says(fold, done.states[key], silver.based.horizon) and are_same(
            fold, stood, told
        ):
            del done.states[key]
    return {key: some for key, some in of_keys.items() if key in done.states}


def _versions(
    fold: Fold, new: New, silver: SilverFiles, keys: Collection[Key] | None
) -> dict[Key, list[Version]]:
    """The versions of these keys, or of all, that silver can tell."""
    wanted = keys
    if keys is not None and new.moves:
        wanted = with_linked({*keys}, silver.links())
    of_keys, before = steps(fold, new, silver, wanted)
    return {
        key: versions(fold, some, before.get(key, ABSENT))
        for key, some in of_keys.items()
        if keys is None or key in keys
    }


def _properties(feed: Feed, table: Table) -> dict[str, str]:
    added = {ADDED: ",".join(table.added)} if table.added else {}
    return {DECLARATION: table_digest(feed, table), **added}


def _news(
    keys: Collection[Key], silver: SilverFiles, current_rows: Mapping[Key, Current]
) -> dict[Key, News]:
    """Which of the run's events of these keys are known to have come before."""
    found = {
        key: News(current_rows[key].state.last if key in current_rows else None) for key in keys
    }
    if found:
        for one in silver.everything:
            if one.key in found:
                found[one.key].meet(one.change, is_new=one.is_new)
    return found

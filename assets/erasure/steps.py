"""The steps of an erasure: each takes its rows out of some tables for good, and may be repeated.

In this order: the decision, so that nothing comes back meanwhile; bronze; silver and quarantine; the accounts, with
these made again of bronze; what compaction and gold have; the feed's small tables; its pages. A step that was done is
not done again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.control import decisions, discovered_tables, ledger
from assets.control.decisions import Signature
from assets.erasure import record
from assets.erasure.record import Plan, Progress, StepDone
from assets.gold import tables
from assets.quality.data_docs import FOLDER as RESULTS
from assets.quarantine.records import maybe_among, source_location_of
from assets.silver import derive
from assets.silver.plan import SilverPlan
from assets.storage import delta_rs, row_commits
from assets.storage.lake import COLUMNS, Lake, Layer
from assets.storage.leases import is_on_store
from assets.storage.locks import writing
from transforms.errors import ErasureNotFinished, ErasureRefused
from transforms.feed.decisions import SourceLocation
from transforms.feed.erasures import MARK, hashed_event, hashed_key
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold.columns import key_columns
from transforms.gold.fold_rows import keys_of
from transforms.record import SOURCE_LOCATION

Find = Callable[[pa.Table], pa.Array]
Change = Callable[[pa.Table, pa.Array], pa.Table]

REPORTS: Final = "_reports"
"""The folder of the warehouse in which the feeds' reports are."""

COMPARISONS: Final = "_reconcile"
"""The folder in which the feeds' last comparisons with their sources are, which name keys that differed."""

WINDOWS_AT_ONCE: Final = 48

_DERIVED, _PAGES, _DECIDED = "derived", "pages", "decided"
_IN_WORDS: Final[Mapping[str, str]] = {
    _DECIDED: "it is recorded that the key is erased",
    _DERIVED: "silver is made again without it",
    _PAGES: "results of checks, the report and the last comparison are removed",
}
"""What a person is told of steps that are about no single table; of the others their table's name."""


def carry_out(lake: Lake, feed: Feed, begin: Callable[[], Progress | None]) -> Iterator[str]:
    """Do the steps of an erasure that are not done; yields the name of each as it is.

    ``begin``: gives the erasure as it stands, and None where nothing is left to do. It is asked once nobody else can
    write bronze or silver: before, another process may still be at the same erasure.

    Raises:
        TableBusy: a run, or another command, writes tables of the feed.
        TableNotErased: a table has what this process cannot rewrite.
        ErasureNotFinished: the feed file makes its gold table no more.
    """
    with ExitStack() as alone:
        # Silver's lock keeps runs and compaction away. Those of gold come later: deriving may ask for them itself.
        for layer in (Layer.BRONZE, Layer.SILVER):
            alone.enter_context(writing(lake, layer, feed.name))
        progress = begin()
        if progress is None:
            return
        work = _Work(lake, feed, progress)
        yield from work.until_derived()
        alone.enter_context(writing(lake, Layer.PROGRESS, feed.name))
        for name in sorted({*feed.tables, *discovered_tables.tables_of(lake, feed)}):
            alone.enter_context(writing(lake, Layer.GOLD, feed.name, name))
        yield from work.after_derived()


def refuse_left_tables(lake: Lake, feed: Feed) -> None:
    """Raise where gold has tables of the feed that it does not make any more: nobody can tell whose rows they have.

    Raises:
        ErasureRefused: there are some.
    """
    made = {
        name + ending for name in tables.mirrors(lake, feed) for ending in ("", TOMBSTONES, HISTORY)
    }
    left = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse) - made
    if left:
        raise ErasureRefused(
            feed.name,
            f"gold has tables of former names, or of tables that the feed file does not make any more:"
            f" {', '.join(sorted(left))}. They may hold the person, and no run keeps them up to date",
            f"Remove these folders of {lake.path(Layer.GOLD, feed.name)} when nobody reads them any more, or give the"
            " feed file their tables back.",
        )


@dataclass(slots=True)
class _Work:
    """One erasure at work, whose caller holds the locks."""

    lake: Lake
    feed: Feed
    progress: Progress

    @property
    def plan(self) -> Plan:
        return self.progress.plan

    def until_derived(self) -> Iterator[str]:
        """The decision, bronze, and the windows of the records derived again."""
        yield from self._once(_DECIDED, self._decide)
        self.feed = decisions.with_recorded(self.lake, self.feed)
        marks = {one.source_location: one.mark for one in self.plan.records}
        # The ledger reads what the log says of each commit, and the log before this one goes.
        ledger.catch_up(self.lake, self.feed)
        yield from self._table(
            Layer.BRONZE,
            (*SOURCE_LOCATION, "defect"),
            lambda rows: pc.and_(_are_at(rows, marks.keys()), _are_whole(rows)),
            lambda rows, meant: _marked(rows, meant, marks),
        )
        ledger.catch_up(self.lake, self.feed)
        for layer in (Layer.SILVER, Layer.QUARANTINE):
            columns = ("table", "key", *SOURCE_LOCATION)
            moved = ("moved_from",) if layer == Layer.SILVER else ()
            yield from self._table(
                layer,
                (*columns, *moved),
                lambda rows: pc.or_(self._are_of_keys(rows), _are_at(rows, marks.keys())),
            )
        # Only now: what left quarantine is not to be told of, and the accounts are to say how many were erased.
        yield from self._once(_DERIVED, self._derive)

    def after_derived(self) -> Iterator[str]:
        """Every other table, and the pages."""
        feed, mine = self.feed, {one.source_location for one in self.plan.records}
        yield from self._table(Layer.BASE, ("table", "key"), self._are_of_keys)
        yield from self._table(Layer.COMPACTED, ("table", "identity"), self._are_of_events)
        mirrors = tables.mirrors(self.lake, feed)
        if self.plan.table and self.plan.table not in mirrors:
            raise ErasureNotFinished(feed.name, self.plan.id, self.plan.table)
        for name, table in mirrors.items():
            # Of what landed again, gold has nothing.
            of_keys = self._keys_of_gold(table, name)
            for ending in ("", TOMBSTONES, HISTORY):
                of_rows = key_columns(table)
                yield from self._table(Layer.GOLD, of_rows, of_keys, name=name + ending)
        yield from self._table(Layer.REPAIRED, SOURCE_LOCATION, lambda rows: _are_at(rows, mine))
        yield from self._table(
            Layer.DECISIONS,
            ("kind", "table", "meaning"),
            lambda rows: self._are_decisions(rows, mine),
            _without_payloads,
        )
        done = (Layer.BRONZE, Layer.SILVER, Layer.QUARANTINE, Layer.BASE, Layer.COMPACTED)
        skipped = {*done, Layer.GOLD, Layer.REPAIRED, Layer.DECISIONS, Layer.ERASURES}
        for layer in Layer:
            if layer not in skipped:
                # What older versions of it said may name the key.
                yield from self._table(layer, COLUMNS[layer].schema.names[:1], _none)
        yield from self._once(_PAGES, self._remove_pages)
        record.note(self.lake, self.feed, self.plan.id, record.FINISHED, None)

    # The steps.

    def _once(self, step: str, do: Callable[[], StepDone | None]) -> Iterator[str]:
        """Do a step and note it, unless it is done."""
        if step not in self.progress.steps:
            done = do()
            record.note(self.lake, self.feed, self.plan.id, step, done)
            yield _IN_WORDS.get(step, step)

    def _decide(self) -> None:
        plan = self.plan
        known = decisions.with_recorded(self.lake, self.feed).decisions.erasures
        new = [one for one in plan.erasures if one not in known]
        if new:
            signed = Signature(plan.at, plan.by, plan.reason)
            decisions.erase(self.lake, self.feed, new, signed)

    def _derive(self) -> None:
        windows = self.plan.windows
        for start in range(0, len(windows), WINDOWS_AT_ONCE):
            some = windows[start : start + WINDOWS_AT_ONCE]
            derive.derive_planned(self.lake, SilverPlan.read(self.lake, self.feed, some))

    def _table(
        self,
        layer: Layer,
        columns: Sequence[str],
        find: Find,
        change: Change | None = None,
        *,
        name: str | None = None,
    ) -> Iterator[str]:
        """Take rows out of one table, or change them, with its older versions.

        Bronze's rows are the same records as before, of which the ledger is to hear nothing.
        """
        title = ".".join(filter(None, (layer, self.feed.name, name)))

        def do() -> StepDone | None:
            table = self.lake.in_process_table(layer, self.feed.name, name)
            if not table.exists:
                return None
            there = [one for one in columns if one in table.schema.names]
            work = f"erasure {self.plan.id}"
            done = table.rewrite_files(
                there, find, change or _without, work=work, is_news=layer != Layer.BRONZE
            )
            old = table.forget_versions()
            return StepDone(title, done.before, done.after, done.files, done.rows, old)

        yield from self._once(title, do)

    def _remove_pages(self) -> None:
        """Remove what shows samples and is made again: results of checks, the report, the last comparison."""
        root = self.lake.warehouse.rstrip("/")
        results = f"{root}/{RESULTS}/{self.feed.name}"
        _remove(results, listed(results))
        for folder, ending in ((REPORTS, "html"), (COMPARISONS, "json")):
            own = f"{self.feed.name}.{ending}"
            # Beside it may lie what somebody wrote of it who was killed.
            mine = [
                one
                for one in listed(f"{root}/{folder}")
                if one == own or one.startswith(f".{own}.")
            ]
            _remove(f"{root}/{folder}", mine)

    # Which rows are meant.

    def _are_of_keys(self, rows: pa.Table) -> pa.Array:
        """Rows with ``table`` and ``key``: those of the erased keys, or that come from one."""
        if not self.plan.hashes:
            return _none(rows)
        is_of = pc.fill_null(pc.equal(rows["table"], self.plan.table), False)
        keys = [rows[one].to_pylist() for one in ("key", "moved_from") if one in rows.column_names]
        known: dict[tuple[str | None, ...], bool] = {}
        found = [
            is_mine and any(self._is_one(self.plan.table, key, known) for key in of)
            for is_mine, *of in zip(is_of.to_pylist(), *keys, strict=True)
        ]
        return pa.array(found, pa.bool_())

    def _keys_of_gold(self, table: Table, name: str) -> Find:
        def find(rows: pa.Table) -> pa.Array:
            if name != self.plan.table:
                return _none(rows)
            known: dict[tuple[str | None, ...], bool] = {}
            found = [self._is_one(name, key, known) for key in keys_of(table, rows)]
            return pa.array(found, pa.bool_())

        return find

    def _is_one(
        self,
        table: str,
        key: Sequence[str | None] | None,
        known: dict[tuple[str | None, ...], bool],
    ) -> bool:
        if key is None:
            return False
        parts = tuple(key)
        if parts not in known:
            assert self.feed.erasure_key is not None  # a plan is made with it
            hashed = hashed_key(self.feed.erasure_key, self.feed.name, table, parts)
            known[parts] = hashed in self.plan.hashes
        return known[parts]

    def _are_of_events(self, rows: pa.Table) -> pa.Array:
        """Rows of ``compacted``: what is kept of the ids of erased events."""
        if not self.plan.table:
            return _none(rows)
        assert self.feed.erasure_key is not None  # as above
        secret, events = self.feed.erasure_key, {*self.plan.events}
        is_of = pc.fill_null(pc.equal(rows["table"], self.plan.table), False).to_pylist()
        found = [
            is_mine and hashed_event(secret, identity.hex()) in events
            for is_mine, identity in zip(is_of, rows["identity"].to_pylist(), strict=True)
        ]
        return pa.array(found, pa.bool_())

    def _are_decisions(self, rows: pa.Table, mine: Collection[SourceLocation]) -> pa.Array:
        """Decisions that hold payloads of erased records, or keys of the table as samples."""
        found, superseded = [], {*self.plan.payloads}
        for kind, meaning in zip(
            rows["kind"].to_pylist(), rows["meaning"].to_pylist(), strict=True
        ):
            said = json.loads(meaning)
            place = tuple(said.get("source_location", ()))
            is_payload = kind == "replacement" and (
                place in mine or (place, datetime.fromisoformat(said["at"])) in superseded
            )
            is_sample = kind == "hold" and said["table"] == self.plan.table and bool(said["keys"])
            found.append(is_payload or is_sample)
        return pa.array(found, pa.bool_())


def _none(rows: pa.Table) -> pa.Array:
    return pa.array([False] * rows.num_rows, pa.bool_())


def _without(rows: pa.Table, meant: pa.Array) -> pa.Table:
    return rows.filter(pc.invert(meant))


def _are_at(rows: pa.Table, places: Collection[SourceLocation]) -> pa.Array:
    """Rows that are of these records."""
    if not places:
        return _none(rows)
    numbered = rows.append_column("_at", pa.array(range(rows.num_rows), pa.int64()))
    some = maybe_among(numbered, places).select([*SOURCE_LOCATION, "_at"]).to_pylist()
    found = [False] * rows.num_rows
    for row in some:
        found[row["_at"]] = source_location_of(row) in places
    return pa.array(found, pa.bool_())


def _are_whole(rows: pa.Table) -> pa.Array:
    """Rows of bronze that are not what is left of an erased record."""
    is_left = pc.starts_with(rows["defect"].combine_chunks(), MARK)
    return pc.invert(pc.fill_null(is_left, False))


def _marked(rows: pa.Table, meant: pa.Array, marks: Any) -> pa.Table:
    """Rows of bronze with nothing but its place and a mark left of each record that is meant."""
    places = rows.select([*SOURCE_LOCATION]).to_pylist()
    said = [
        marks[source_location_of(place)] if is_meant else None
        for place, is_meant in zip(places, meant.to_pylist(), strict=True)
    ]
    for name in ("header", "payload", "key", "headers"):
        kind = rows.schema.field(name).type
        cells = pc.if_else(meant, pa.scalar(None, kind), rows[name].combine_chunks())
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), cells)
    defects = pc.coalesce(pa.array(said, pa.string()), rows["defect"].combine_chunks())
    at = rows.column_names.index("defect")
    return rows.set_column(at, rows.schema.field("defect"), defects)


def _without_payloads(rows: pa.Table, meant: pa.Array) -> pa.Table:
    """Decisions without repaired payloads that are meant, and without keys as samples of held deletes."""
    kept = []
    for row, is_meant in zip(rows.to_pylist(), meant.to_pylist(), strict=True):
        if is_meant and row["kind"] == "hold":
            said = {**json.loads(row["meaning"]), "keys": []}
            row = {**row, "meaning": json.dumps(said, sort_keys=True)}
        elif is_meant:
            continue
        kept.append(row)
    return pa.Table.from_pylist(kept, rows.schema)


def listed(path: str) -> list[str]:
    """The names of all files below a folder of the warehouse; none where there is no folder."""
    if is_on_store(path):
        return row_commits.listed_in_store(path)
    root = Path(path.removeprefix("file://"))
    return [one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file()]


def _remove(path: str, names: Sequence[str]) -> None:
    if is_on_store(path):
        row_commits.remove_from_store(path, names)
        return
    for name in names:
        Path(path.removeprefix("file://"), name).unlink(missing_ok=True)

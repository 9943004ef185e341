"""What a feed would make of a sample: the rows that gold would have, and what would go to quarantine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import gold, layers
from assets.columns import silver as silver_rows
from assets.control import transactions
from assets.executors.choice import IN_PROCESS, Choice
from assets.executors.in_process import InProcess
from assets.gold.fold import TableFold
from assets.gold.plan import SilverFiles, TablePlan
from assets.gold.silver_in_process import SilverInProcess
from assets.silver import classify
from assets.storage.in_process_table import DataFile
from transforms.change import CONTROL, HOLD, LogPosition
from transforms.column_types import map_columns
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.columns import EFFECT, IS_DELETED, PARTS
from transforms.moments import moment_of
from transforms.record import BronzeRecord
from transforms.silver import discovered_tables
from transforms.silver.accounting import Account
from transforms.silver.change_kinds import ChangeKinds, ScopeShape
from transforms.silver.discovered_tables import Description, SeenTable
from transforms.silver.frames import CHANGES, TO_QUARANTINE


@dataclass(frozen=True, slots=True)
class PreviewTable:
    """One gold table as it would be: its name, its columns and rows, and how many deleted keys there are."""

    name: str
    table: Table
    rows: pa.Table
    deleted: int


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Why events go to quarantine: a reason, how many have it, and the first of them with its source location."""

    reason: str
    count: int
    source_location: str
    detail: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a feed makes of some records.

    ``waiting``: changes of tables that are neither declared nor discovered, by the source's names.
    """

    records: int
    counts: Mapping[str, int]
    tables: tuple[PreviewTable, ...]
    quarantined: tuple[Quarantined, ...]
    waiting: Mapping[str, int]
    stopped: tuple[str, ...]
    warnings: Mapping[str, int]


def preview(feed: Feed, records: Sequence[BronzeRecord]) -> Preview:
    """What gold would have of these records, if they were all."""
    batch = pa.RecordBatch.from_pylist([_row(one) for one in records], schema=layers.Bronze.schema)
    classified = classify.alone(feed, batch)
    of_windows = classified.accounts
    found, stopped = with_discovered(feed, of_windows)
    tables = tables_of(found, classified.of_kind(CHANGES))
    warnings: Counter[str] = Counter()
    for account in of_windows:
        warnings.update(account["warnings"])
    names = ("events", "changes", "duplicates", "quarantined", "control", "held")
    return Preview(
        len(records),
        {name: sum(account[name] for account in of_windows) for name in names},
        tuple(_table(name, tables[name]) for name in sorted(tables)),
        _quarantined(classified.of_kind(TO_QUARANTINE)),
        _waiting(found, of_windows),
        stopped,
        dict(warnings),
    )


def _row(one: BronzeRecord) -> dict[str, object]:
    headers = [{"key": key, "value": value} for key, value in one.headers or ()]
    known = {name: getattr(one, name) for name in layers.Bronze.schema.names}
    return {**known, "landed_at": moment_of(one.landed_at), "headers": headers or None}


def with_discovered(feed: Feed, accounts: Sequence[Account]) -> tuple[Feed, tuple[str, ...]]:
    """The feed with the tables that only its stream describes, and sentences on those that gold could not make."""
    descriptions: dict[str, dict[Description, None]] = {}
    met = set()
    for account in accounts:
        name = account["declared"]
        if name is None:
            continue
        if account["changes"]:
            met.add(SeenTable(str(account["table"]), str(account["source_table"]), str(name)))
        for schema in () if name in feed.tables else account["stream_schemas"]:
            if schema["key"] is not None:
                columns = tuple((column, kind) for column, kind in schema["columns"])
                defaults = tuple((column, text) for column, text in schema["defaults"])
                encoded = tuple(schema["encoded"])
                one = Description(tuple(schema["key"]), columns, encoded, defaults)
                descriptions.setdefault(name, {})[one] = None
    found = discovered_tables.discovered_tables(feed, descriptions, met)
    words = tuple(discovered_tables.stopped_in_words(found.stopped))
    return replace(feed, tables={**feed.tables, **found.discovered}), words


def _waiting(feed: Feed, accounts: Sequence[Account]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for account in accounts:
        if account["changes"] and (account["declared"] or "") not in feed.tables:
            found[str(account["source_table"])] += account["changes"]
    return dict(found)


def _table(name: str, folded: FoldedTable) -> PreviewTable:
    is_absent = pc.equal(folded.rows[EFFECT], "remove")
    if folded.table.marks_deletes:
        is_absent = pc.or_(is_absent, folded.rows[IS_DELETED])
    present = folded.rows.filter(pc.invert(is_absent))
    by = [
        (column, "ascending")
        for column in folded.table.key or folded.table.columns
        # Lists, maps and rows within a row have no order.
        if not pa.types.is_nested(present[column].type)
    ]
    rows = (present.sort_by(by) if by else present).select([*folded.table.columns])
    deleted = folded.rows.filter(is_absent)[PARTS].to_pylist()
    return PreviewTable(name, folded.table, rows, len({tuple(one) for one in deleted}))


def _quarantined(found: pa.Table) -> tuple[Quarantined, ...]:
    rows = found.to_pylist()
    counts = Counter(row["reason"] for row in rows)
    firsts = {row["reason"]: row for row in reversed(rows)}
    return tuple(
        Quarantined(reason, count, f"{first['object']}:{first['line']}", first["detail"] or "")
        for reason, count in counts.most_common()
        for first in (firsts[reason],)
    )


# The stages are those of every run; here they get all changes at once, from memory and as one window.

_ALL = "all"


@dataclass(frozen=True, slots=True)
class FoldedTable:
    """One gold table after all changes: how it is declared, and one row per key (``folded_rows.schema_of``)."""

    table: Table
    rows: pa.Table


def tables_of(feed: Feed, rows: pa.Table) -> dict[str, FoldedTable]:
    """What the keys of each gold table are after all changes of these rows."""
    if not rows.num_rows:
        return {}
    silver = InMemory({_ALL: silver_rows.written_in_process(rows, feed, layers.Silver.schema)})
    released = {}
    if FORMATS[feed.format].transactional:
        waiting = transactions.open_events_in_process(rows).sort_by("id")
        states = transactions.states_of(waiting.to_batches(), [])
        released = {one.id: (tuple(one.commit), True) for one in states if one.commit is not None}
    found = {}
    for name, table in silver.tables(feed):
        plan = silver.plan_of(feed, table, name, {_ALL}, released)
        folded = TableFold.of(InProcess(), plan, silver.of_table(plan)).from_history()
        found[name] = FoldedTable(table, folded.rows)
    return found


@dataclass(frozen=True, slots=True)
class InMemory:
    """Silver that is in memory, by window; each window stands for a file."""

    windows: Mapping[str, pa.Table]

    def _read(self, file: DataFile, columns: Sequence[str]) -> pa.Table:
        return self.windows[file.path].select([*columns])

    def tables(self, feed: Feed) -> list[tuple[str, Table]]:
        """The gold tables that have changes, each with the table of the feed that it mirrors."""
        found: dict[str, Table] = {}
        for rows in self.windows.values():
            waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
            counting = rows.filter(pc.invert(waits)).select(["table", "declared"])
            for name, declared in zip(*counting.to_pydict().values(), strict=True):
                if declared in feed.tables:
                    found[name] = feed.tables[declared]
        return [*found.items()]

    def of_table(self, plan: TablePlan) -> SilverInProcess:
        """The changes of one table."""
        parts = [
            DataFile(window, 0, rows.num_rows, {"window": window})
            for window, rows in self.windows.items()
        ]
        files = SilverFiles(parts, self._read, lambda file, columns, _: self._read(file, columns))
        return SilverInProcess(plan, Choice(IN_PROCESS), files, None, plan.compaction_watermark)

    def plan_of(
        self,
        feed: Feed,
        table: Table,
        name: str,
        windows: Collection[str],
        released: Mapping[str, tuple[LogPosition, bool]],
    ) -> TablePlan:
        """What the accounts would say of one gold table (``name``), by the rows themselves."""
        kinds = ChangeKinds()
        streams: set[str] = set()
        most_new = 0
        for window, rows in self.windows.items():
            mine = rows.filter(pc.fill_null(pc.equal(rows["table"], name), False))
            if mine.num_rows:
                kinds = _with_kinds(kinds, mine, gold.gold_names(table))
            streams |= {one for one in rows["stream"].unique().to_pylist() if one is not None}
            most_new += mine.num_rows if window in windows else 0
        return TablePlan(
            feed=feed,
            table=table,
            name=name,
            windows=frozenset(windows),
            kinds=kinds,
            most_new=most_new,
            released=released,
            several_streams=len(streams) > 1,
        )


def _with_kinds(known: ChangeKinds, rows: pa.Table, names: Mapping[str, str]) -> ChangeKinds:
    """The kinds of change that there are, with those of these rows."""
    effects = {*rows["effect"].unique().to_pylist()}
    operations = rows["attribute_ops"].combine_chunks()
    shapes = set(known.scopes)
    range_deletes = rows.filter(pc.is_valid(rows["scope"])).combine_chunks()
    for batch in range_deletes.to_batches():
        scopes = map_columns.maps(batch["scope"], names)
        for scope, stream in zip(scopes, batch["stream"].to_pylist(), strict=True):
            shapes.add(ScopeShape(tuple(sorted(scope or ())), stream is not None))
    return ChangeKinds(
        depends=known.depends or "remove_if" in effects or any(map_columns.maps(operations)),
        moves=known.moves or "move" in effects,
        transactions=known.transactions or rows["transaction"].null_count < rows.num_rows,
        scopes=tuple(sorted(shapes)),
    )

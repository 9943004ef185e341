"""What is known of a feed and its gold tables before the work begins, silver's files included: read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.layers import KEY_TEXT
from assets.control import compacted, decisions, discovered_tables, progress, transactions
from assets.control.discovered_tables import with_mentioned
from assets.gold import snapshot_deletes, tables
from assets.storage.in_process_table import DataFile
from assets.storage.lake import Lake, Layer
from transforms.change import LogPosition
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.feed.names import gold_name
from transforms.formats import FORMATS
from transforms.silver.change_kinds import (
    TRANSACTIONS,
    WHOLE_TABLE,
    ChangeKinds,
    ScopeShape,
    streams_of,
)
from transforms.silver.discovered_tables import Stopped
from transforms.silver.snapshots import Snapshot

MOST_BYTES = 128 << 20
"""Maximum number of bytes of rows that are kept, as they are in memory; what is beyond that is read again."""


class SilverFiles:
    """The data files of silver (``parts``), each read once as far as there is room; several threads may use it.

    A feed's silver has the changes of all its tables in the same files. Read for each table anew, a window of a
    thousand tables costs as much as a million. ``read`` reads some columns of a file, and ``read_some`` only those of
    its parts that may have some values.
    """

    def __init__(
        self,
        parts: Sequence[DataFile],
        read: Callable[[DataFile, Sequence[str]], pa.Table],
        read_some: Callable[[DataFile, Sequence[str], tuple[str, pa.Array]], pa.Table],
    ) -> None:
        self.parts, self._read, self._read_some = parts, read, read_some
        self._kept: dict[tuple[str, tuple[str, ...]], pa.Table] = {}
        self._bytes = 0
        self._reading: defaultdict[tuple[str, tuple[str, ...]], Lock] = defaultdict(Lock)
        self._lock = Lock()

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> SilverFiles | None:
        """The files that silver has now; None where there is no silver."""
        silver = lake.in_process_table(Layer.SILVER, feed.name)
        read = (silver.read_file, silver.read_parts_with)
        return cls(silver.files(), *read) if silver.exists else None

    def read_file(
        self, file: DataFile, columns: Sequence[str], keys: pa.Array | None = None
    ) -> pa.Table:
        """These columns of a file; ``keys``: parts of it that have none of these texts of keys are passed over."""
        if keys is not None:
            return self._read_some(file, columns, (KEY_TEXT, keys))
        what = (file.path, tuple(columns))
        with self._lock:
            reading = self._reading[what]
        # The tables of a step begin together, and with the same file: one reads it, the others wait for that.
        with reading:
            if what not in self._kept:
                found = self._read(file, columns)
                with self._lock:
                    if self._bytes + found.nbytes > MOST_BYTES:
                        return found
                    self._bytes += found.nbytes
                self._kept[what] = found
            return self._kept[what]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One gold table and the windows of a run.

    ``feed``: with its recorded decisions. ``table``: the declared one, with the columns that gold has beyond it, whose
    mirror has the own ``name``. ``windows``: those that the run brings. ``kinds``: the kinds of change that the table
    has, in all its windows. ``most_new``: how many of its changes are new at most. ``compaction_watermark``: up to
    where its history is in its base rows; None where nothing is compacted. ``released``: the complete transactions that
    no window holds whole, by id the position of the commit, and whether the run has released it. ``waits``: changes
    wait that came before the stream described the table. ``complete_snapshots``: the range deletes that these stand
    for, as rows of silver; ``unproved``: snapshots that are not known to be complete; ``in_chunks``: those of which the
    run brings rows. ``accounts``: what the feed's accounts say of the table, a row per window.
    """

    feed: Feed
    table: Table
    name: str
    windows: frozenset[str]
    kinds: ChangeKinds = field(default_factory=ChangeKinds)
    most_new: int = 0
    compaction_watermark: CompactionWatermark | None = None
    released: Mapping[str, tuple[LogPosition, bool]] | None = None
    waits: bool = False
    complete_snapshots: Sequence[Mapping[str, Any]] = ()
    unproved: Sequence[snapshot_deletes.Unproved] = ()
    in_chunks: Sequence[Snapshot] = ()
    several_streams: bool = False
    accounts: Sequence[Mapping[str, Any]] = ()
    silver: SilverFiles | None = None

    @property
    def crosses(self) -> bool:
        """Whether range deletes may reach keys of other streams."""
        by_format = FORMATS[self.feed.format].crosses_streams
        return (
            by_format and self.several_streams and any(one.of_stream for one in self.kinds.scopes)
        )

    @property
    def by_newest(self) -> bool:
        """Whether no change of a row depends on what the row was, so that a key's newest change may decide it."""
        kinds, table = self.kinds, self.table
        return bool(table.key) and not (
            table.history or kinds.depends or kinds.moves or self.crosses
        )

    @property
    def releases(self) -> bool:
        """Whether the run releases changes of windows that it does not bring."""
        return any(is_new for _, is_new in (self.released or {}).values())


# Without slots: what follows from the accounts is worked out once.
@dataclass(frozen=True)
class FeedPlan:
    """What the control tables say of a feed and the windows of a run; nothing is asked of them later.

    ``feed``: with its recorded decisions. ``windows``: those that the run brings. ``compacted``: the facts of each gold
    table's compaction watermark, by its name. ``released``: see ``TablePlan``.
    """

    feed: Feed
    windows: tuple[str, ...]
    accounts: pa.Table
    compacted: Mapping[str, Mapping[str, Any]]
    released: Mapping[str, tuple[LogPosition, bool]] | None
    silver: SilverFiles | None

    @classmethod
    def read(cls, lake: Lake, feed: Feed, windows: Sequence[str]) -> FeedPlan:
        """Read the control tables of a feed once.

        Read them only while the locks of the tables that are to be written are held: what another run commits between
        the reading and the taking of a lock would be undone.
        """
        # Before the accounts: a kind of change is in these before it is in silver.
        silver = SilverFiles.of(lake, feed)
        feed = decisions.with_recorded(lake, feed)
        accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name).read()
        labels = pc.unique(pc.list_flatten(accounts["change_kinds"])).to_pylist()
        watermarks = compacted.compaction_watermark_facts(lake, feed)
        released = None
        if TRANSACTIONS in labels:
            brought_before = progress.brought_before(lake, feed, windows)
            released = transactions.complete_transactions(
                lake, feed, windows, accounts, brought_before
            )
        return cls(feed, tuple(windows), accounts, watermarks, released, silver)

    @cached_property
    def stopped(self) -> Mapping[str, Stopped]:
        """The gold tables that cannot be made, by name.

        Too many tables are refused where all tables of the feed are asked for, and not for one.
        """
        return discovered_tables.found_in(self.feed, self.accounts)[0].stopped

    @cached_property
    def _by_declared(self) -> Mapping[str, Mapping[str, bool]]:
        # For one, a commit in these windows may release changes of tables that they do not name.
        everywhere = FORMATS[self.feed.format].transactional
        asked = None if everywhere else self.windows
        return tables.by_declared_in(self.feed, self.accounts, self.compacted, asked)

    @cached_property
    def _rows(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The accounts of each gold table."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        rows = self.accounts.filter(pc.is_valid(self.accounts["table"])).select([*_READ])
        for row in rows.to_pylist():
            found.setdefault(row["table"], []).append(row)
        return found

    @cached_property
    def several_streams(self) -> bool:
        """Whether the feed's changes came from several streams, by its accounts."""
        labels = pc.unique(pc.list_flatten(self.accounts["change_kinds"])).to_pylist()
        return len(streams_of(labels)) > 1

    def names_of(self, table: Table) -> Mapping[str, bool]:
        """The gold tables that mirror a declared one, and whether the run has to bring each of them up to its windows.

        The others are only looked at, whether they are behind their declaration.
        """
        # A declared table is there even while it is empty.
        is_plain = self.feed.table_names == "plain" and table.name in self.feed.tables
        own = gold_name(table.name, self.feed.table_names) if is_plain else None
        found = self._by_declared.get(table.name, {})
        return {name: is_brought or name == own for name, is_brought in sorted(found.items())}

    def of_table(self, table: Table, name: str) -> TablePlan:
        """The plan of one gold table (``name``) that mirrors a declared one."""
        feed, rows = self.feed, self._rows.get(name, ())
        facts = self.compacted.get(name)
        table = with_mentioned(feed, table, rows, facts["added"] if facts else ())
        kinds = ChangeKinds.of({word for row in rows for word in row["change_kinds"]})
        # Changes that a commit releases may have come in any window.
        counted = [one for one in rows if kinds.transactions or one["window"] in self.windows]
        waits = _waits(feed, table, rows)
        if waits:
            # Whether a waiting change moves a row to another key could not be known when it was counted.
            kinds = replace(kinds, moves=True)
        epochs = snapshot_deletes.of_epochs(feed, table.name, name)
        if epochs:
            kinds = replace(kinds, scopes=tuple(sorted({*kinds.scopes, WHOLE_TABLE})))
        snapshots, unproved = snapshot_deletes.of_stream(
            feed, table.name, name, rows, frozenset(self.windows)
        )
        if table.spelled:
            shapes = {
                ScopeShape(
                    tuple(sorted(table.spelled.get(name, name) for name in one.columns)),
                    one.of_stream,
                )
                for one in kinds.scopes
            }
            kinds = replace(kinds, scopes=tuple(sorted(shapes)))
        return TablePlan(
            feed=feed,
            table=table,
            name=name,
            windows=frozenset(self.windows),
            kinds=kinds,
            most_new=sum(one["changes"] + one["derived"] for one in counted),
            compaction_watermark=CompactionWatermark(tuple(facts["log_position"]))
            if facts
            else None,
            released=self.released if kinds.transactions else None,
            waits=waits,
            complete_snapshots=(*epochs, *snapshots),
            unproved=unproved,
            in_chunks=snapshot_deletes.in_chunks(rows, frozenset(self.windows)),
            several_streams=self.several_streams,
            accounts=rows,
            silver=self.silver,
        )


_READ: Final = (
    *("window", "table", "source_table", "declared", "changes", "derived"),
    *("change_kinds", "undeclared_columns", "declaration"),
    *("first_position", "last_position", "snapshots", "stream_schemas"),
)


def plan_of(lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str]) -> TablePlan:
    """The plan of one gold table alone (``name``), whose other tables nobody asks for."""
    return FeedPlan.read(lake, feed, windows).of_table(table, name)


def _waits(feed: Feed, table: Table, accounts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some window has waiting changes of a table that only the stream describes."""
    if table.name in feed.tables or not FORMATS[feed.format].describes_tables:
        return False
    return any(
        row["declared"] is None
        and row["source_table"] == table.name
        and row["changes"] + row["derived"] > 0
        for row in accounts
    )

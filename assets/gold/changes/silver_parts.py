"""The Parquet files of a feed's silver, read into this process as far as there is room for them.

Put here how files become batches of one gold table's rows. Not here: what the rows mean for the table
(``silver_files``), and larger silver, which is Spark's (``table_changes``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import SILVER_ARROW
from assets.delta.table_files import Files
from assets.gold.changes import waiting_changes
from assets.gold.changes.kept_rows import KeptRows
from assets.gold.changes.waiting_changes import Conform
from assets.gold.gold_table import GoldTable
from assets.layers import Layer
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Table

MOST_BYTES = 64 << 20
"""So many bytes of silver's files are read in this process at most; more is Spark's work."""

MOST_ROWS = 200_000
"""So many changes of a table are held in this process at most, about 300 MB.

Bytes on disk do not show it: Parquet stores repeated values in almost no space.
"""

_SIFTED = ("table", "declared")


class TooLarge(Exception):
    """What has to be read does not fit into this process."""


class Part(NamedTuple):
    """One file of silver: its path within the table, its size in bytes, and the window whose rows it holds."""

    path: str
    size: int
    window: str


def parts_of(gold: GoldTable) -> tuple[KeptRows, Sequence[Part]]:
    """The files that the feed's silver has now, and what reads them.

    Listed once for the tables of a step that are worked on together (``apply_feed.TOGETHER``).
    """
    found: tuple[KeptRows, Sequence[Part]] = gold.lake.once(
        ("silver's files", gold.feed.name), lambda: _parts_of(gold)
    )
    return found


def _parts_of(gold: GoldTable) -> tuple[KeptRows, Sequence[Part]]:
    path = gold.lake.path(Layer.SILVER, gold.feed.name)
    silver = gold.lake.opened(Layer.SILVER, gold.feed.name)
    assert silver is not None  # silver comes first
    listed = pa.table(silver.get_add_actions(flatten=True))
    columns = ("path", "size_bytes", "partition.window")
    cells = zip(*(listed[name].to_pylist() for name in columns), strict=True)
    files = KeptRows(Files.of(silver, path, gold.lake.warehouse))
    return files, [Part(*each) for each in cells]


# Without slots: subclasses keep what is read.
@dataclass(frozen=True)
class SilverParts:
    """The files of a feed's silver, for one gold table.

    Args:
        files: What reads them.
        parts: Which files there are.
        table: The declared table.
        name: The gold table's name.
        waits: What conforms changes that wait for a description of their table; None where none do.
    """

    files: KeptRows
    parts: Sequence[Part]
    table: Table
    name: str
    waits: Conform | None

    def batches(self, wanted: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, str]]:
        """These columns of all the table's rows that count, with each batch's window.

        Changes whose transaction is not complete are among them, and those that the table's base has.

        Raises:
            TooLarge: Silver does not fit into this process.
        """
        yield from self.batches_of(self.parts, wanted)

    def everywhere(
        self, wanted: Sequence[str], before: Collection[str]
    ) -> Iterator[tuple[pa.Table, bool]]:
        """The rows of all the feed's tables, a file at a time, each with whether its window is none of ``before``.

        Raises:
            TooLarge: Silver does not fit into this process.
        """
        for part in _small_enough(self.parts):
            yield self.files.read(part.path, part.size, wanted), part.window not in before

    def batches_of(
        self, parts: Sequence[Part], wanted: Sequence[str]
    ) -> Iterator[tuple[pa.RecordBatch, str]]:
        """The table's rows in these files that count now or at their transaction's commit, with each batch's window.

        Raises:
            TooLarge: The files do not fit into this process.
        """
        wanted = [*_SIFTED, *wanted]
        held = 0
        for part in _small_enough(parts):
            kept = self._kept(self.files.read(part.path, part.size, wanted))
            held += kept.num_rows
            if held > MOST_ROWS:
                raise TooLarge
            yield from ((batch, part.window) for batch in kept.combine_chunks().to_batches())
            if self.waits is not None:
                whole = self.files.read(part.path, part.size, SILVER_ARROW.names)
                waiting = waiting_changes.waiting_rows(whole, self.table, self.name, part.window)
                yield from ((batch, part.window) for batch in self.waits(waiting))

    def _kept(self, rows: pa.Table) -> pa.Table:
        """The rows that are the table's, without control rows and held deletes."""
        mine = pc.and_(
            pc.equal(rows["table"], self.name), pc.equal(rows["declared"], self.table.name)
        )
        waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
        return rows.filter(pc.and_(pc.fill_null(mine, False), pc.invert(waits)))


def _small_enough(parts: Sequence[Part]) -> Sequence[Part]:
    if sum(part.size for part in parts) > MOST_BYTES:
        raise TooLarge
    return parts

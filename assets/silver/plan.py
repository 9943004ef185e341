"""What is known of a feed and some of its windows before they are derived: read once, and handed on as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns import layers
from assets.control import compacted, decisions, progress
from assets.control.accounting import StoredAccount
from assets.control.transactions import KnownBefore
from assets.quarantine import records
from assets.storage.delta_rs import conformed
from assets.storage.in_process_table import DataFile, InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


@dataclass(frozen=True, slots=True)
class BronzeFiles:
    """The data files of some windows' bronze at one moment: whoever reads them sees the same records."""

    table: InProcessTable
    files: Sequence[DataFile]

    @classmethod
    def of(cls, lake: Lake, feed: Feed, windows: Sequence[str]) -> BronzeFiles:
        """The files that these windows have now."""
        table = lake.in_process_table(Layer.BRONZE, feed.name)
        return cls(table, table.files({"window": windows}))

    @property
    def size(self) -> int:
        """How many bytes the files have."""
        return sum(one.size for one in self.files)

    def records(self) -> Counter[str]:
        """How many records there are, by window: the mark of an object without any is none."""
        found: Counter[str] = Counter()
        for one in self.files:
            lines = self.table.read_file(one, ["line"])["line"]
            found[one.window] += pc.sum(pc.greater(lines, 0)).as_py() or 0
        return found

    def payload_bytes(self) -> int:
        """How many bytes all records have together; a file that repeats one record is much smaller than they are."""
        found = 0
        for one in self.files:
            payloads = self.table.read_file(one, ["payload"], repeated=["payload"])["payload"]
            for chunk in payloads.chunks:
                sizes = pc.binary_length(chunk.dictionary)
                found += pc.sum(sizes.take(chunk.indices)).as_py() or 0
        return found

    def batches(self) -> list[pa.RecordBatch]:
        """All of their records, in this process."""
        found = []
        for one in self.files:
            rows = self.table.read_file(one, layers.Bronze.schema.names)
            found += conformed(rows, layers.Bronze.schema).combine_chunks().to_batches()
        return found

    def frame(self, spark: SparkSession) -> DataFrame:
        """All of their records, for Spark to read."""
        if not self.files:
            return spark.createDataFrame([], layers.Bronze.spark)
        root = self.table.path
        paths = [f"{root}/{one.path}" for one in self.files]
        records = spark.read.schema(layers.Bronze.spark).option("basePath", root).parquet(*paths)
        # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
        none = F.array().cast(layers.Bronze.spark["headers"].dataType)
        return records.withColumn("headers", F.coalesce("headers", none))


# Without slots: what follows from it is worked out once.
@dataclass(frozen=True)
class SilverPlan:
    """Some windows of a feed that are to be derived, and what the tables say of them; nothing is asked of these later.

    ``feed``: with its recorded decisions. ``records``: how many records the windows have, by window.
    ``compaction_watermarks``: up to where history is compacted, by gold table; ``compacted``: the events that are in
    base rows, by which a repeat is told from an event that comes too late. ``is_proof``: whether another warehouse has
    these: known events stay changes then, for gold is made from all events. ``declared``: the digest of the declaration
    under which each of the windows is derived, and would be each other one that is not wholly in gold. ``silver``,
    ``quarantine``, ``accounting``, ``earlier``: the tables, and all accounts, as they are before the run.
    ``quarantined``: the records that quarantine has of these windows. ``transactions``: what is known of those over
    several windows; None where the format has none.
    """

    feed: Feed
    windows: tuple[str, ...]
    bronze: BronzeFiles
    records: Mapping[str, int]
    compaction_watermarks: Mapping[str, CompactionWatermark]
    compacted: InProcessTable | None
    is_proof: bool
    declared: Mapping[str, str]
    silver: InProcessTable
    quarantine: InProcessTable
    quarantined: pa.Table
    accounting: InProcessTable
    earlier: Sequence[StoredAccount]
    transactions: KnownBefore | None

    @classmethod
    def read(
        cls, lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
    ) -> SilverPlan:
        """Read once what the tables of a feed say of these windows.

        Only while silver's lock is held: so nobody compacts history meanwhile, or derives other windows.

        Raises:
            DecisionRefused: The feed contradicts what compacted history was made with.
        """
        judge = judged_by or lake
        feed = decisions.with_recorded(lake, feed)
        watermarks = compacted.compaction_watermark_facts(judge, feed)
        decisions.refuse_unknown_secret(feed)
        if judged_by is None:
            compacted.refuse_altered_past(feed, watermarks)
        # Before the ledger: what bronze gets in between was then not derived, and is not taken for read.
        bronze = BronzeFiles.of(lake, feed, windows)
        silver, quarantine = (
            lake.in_process_table(layer, feed.name) for layer in (Layer.SILVER, Layer.QUARANTINE)
        )
        accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
        is_transactional = FORMATS[feed.format].transactional
        transactions = KnownBefore.read(lake, feed, windows) if is_transactional else None
        doubtful = transactions.landed.doubtful if transactions else ()
        return cls(
            feed=feed,
            windows=tuple(windows),
            bronze=bronze,
            records=bronze.records(),
            compaction_watermarks={
                name: CompactionWatermark(tuple(one["log_position"]))
                for name, one in watermarks.items()
            },
            compacted=judge.in_process_table(Layer.COMPACTED, feed.name) if watermarks else None,
            is_proof=judged_by is not None,
            declared=progress.declarations(feed, {*windows, *doubtful}),
            silver=silver,
            quarantine=quarantine,
            quarantined=records.in_quarantine(quarantine, windows),
            accounting=accounts,
            earlier=accounts.rows(),
            transactions=transactions,
        )

    @property
    def landed(self) -> int:
        """How many records bronze has of these windows."""
        return sum(self.records.values())

    @cached_property
    def others(self) -> Sequence[StoredAccount]:
        """The accounts of the windows that are not derived now."""
        mine = frozenset(self.windows)
        return [row for row in self.earlier if row["window"] not in mine]

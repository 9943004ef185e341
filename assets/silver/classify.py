"""What becomes of each record of some windows: decoded, brought together, classified, by either executor."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Generic

import pyarrow as pa
from pyspark.sql import DataFrame

from assets.columns import layers
from assets.control import schemas
from assets.control.compacted import with_known_identities
from assets.executors.executor import Executor, Frame, Ranges
from assets.executors.in_process import InProcess
from assets.executors.sorted_runs import SortedRuns
from assets.executors.spark import InSpark
from assets.executors.spark_errors import raise_clearly
from assets.silver.files import ChangesInFiles
from assets.silver.plan import SilverPlan
from assets.storage.data_files import NewFile
from assets.storage.lake import Lake
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import Account, Accounts
from transforms.silver.frames import ACCOUNT, CHANGES, COVERED, SHARDS, Shards
from transforms.silver.stages import (
    Classify,
    Commits,
    DecodePending,
    DecodeRows,
    JudgeCovered,
    NamedSchemas,
    ResolveRows,
    Survey,
    Surveyed,
)


# Without slots: the accounts are worked out once.
@dataclass(frozen=True)
class Classified(Generic[Frame]):
    """What becomes of some windows' records, before anything is written: the accounts, and the rows behind them.

    ``run``: the executor that has the rows. ``frames``: the rows (``OUTPUT``); those whose outcome is open in one
    (``COVERED``) are in the next again. ``cached``: what is kept until it is freed. ``files``: those of silver that
    Spark's tasks have written the changes into, and no commit has added; ``of_files`` reads them; None where all rows
    are in the frames.
    """

    run: Executor[Frame]
    frames: Sequence[Frame]
    counts: Accounts
    cached: Sequence[Frame] = ()
    files: Sequence[NewFile] = ()
    of_files: Callable[[Sequence[NewFile]], Frame] | None = None

    @cached_property
    def accounts(self) -> Sequence[Account]:
        """One account per window and table."""
        return self.counts.rows()

    def of_kind(self, *kinds: str) -> Frame:
        """The rows of some kinds."""
        run = self.run
        found = [run.where(one, "kind", kind) for one in self.frames for kind in kinds]
        if self.of_files is not None and CHANGES in kinds:
            found.append(self.of_files(self.files))
        return run.union(found)

    def count(self, *names: str) -> int:
        """Some of the accounts' counts, over all windows and tables."""
        return sum(account[name] for account in self.accounts for name in names)

    def free(self) -> None:
        """Give up what is kept of the rows."""
        for one in self.cached:
            self.run.freed(one)


def of_plan(lake: Lake, plan: SilverPlan) -> Classified[Any]:
    """Classify the records of a plan's windows: in this process, where they fit into it."""
    feed, choice = plan.feed, lake.choice
    with raise_clearly():
        # A file that repeats one record is much smaller than its records are together.
        is_small = all(
            one.can_put(plan.windows) for one in (plan.silver, plan.quarantine)
        ) and choice.decodes_in_process(plan.bronze.size, plan.landed)
        run: Executor[Any]
        writing = None
        if is_small and choice.decodes_in_process(plan.bronze.payload_bytes()):
            run = InProcess()
            bronze = pa.Table.from_batches(plan.bronze.batches(), layers.Bronze.schema)
        else:
            if plan.silver.takes_files:
                writing = ChangesInFiles(plan.silver.path, feed)
            run = InSpark(lake.spark_planned_once, feed, writing)
            bronze = plan.bronze.frame(lake.spark_planned_once)
        feed = with_schemas(lake, run, feed, bronze)
        found = classified(run, feed, bronze, plan.records, plan.compaction_watermarks)
        known = plan.compacted
        if known is not None and found.counts.left_out:
            if not choice.fits_in_process(known.size, known.stored_rows):
                found = by_spark(lake, feed, found)
            with_known = partial(with_known_identities, known)
            found = judged(found, feed, with_known, keeps_known=plan.is_proof)
        if isinstance(run, InSpark) and writing is not None:
            return replace(found, of_files=partial(writing.rows, run.session))
        return found


def with_schemas(lake: Lake, run: Executor[Frame], feed: Feed, bronze: Frame) -> Feed:
    """The feed with the schemas that these records name, which only the driver can ask for."""
    source = FORMATS[feed.format]
    if feed.schemas is None or source.schema_ids is None:
        return feed
    named = run.collected(run.staged(bronze, NamedSchemas(feed, source)))
    return schemas.with_named(lake, feed, named["id"].to_pylist())


def by_spark(lake: Lake, feed: Feed, found: Classified[Any]) -> Classified[DataFrame]:
    """The same rows where Spark can read them."""
    if not isinstance(found.run, InProcess):
        return found
    session = lake.spark_planned_once
    frames = [session.createDataFrame(one) for one in found.frames]
    return Classified(InSpark(session, feed), frames, found.counts)


def alone(feed: Feed, bronze: pa.RecordBatch) -> Classified[pa.Table]:
    """What becomes of some records in this process, where they are all and no history is compacted."""
    return classified(InProcess(), feed, pa.Table.from_batches([bronze]), {}, {})


def classified(
    run: Executor[Frame],
    feed: Feed,
    bronze: Frame,
    records: Mapping[str, int],
    compaction_watermarks: Mapping[str, CompactionWatermark],
) -> Classified[Frame]:
    """What becomes of these records; the outcome of changes at or below a watermark is left open (``judged``).

    ``records``: how many they are, by window. ``compaction_watermarks``: of each gold table whose history is compacted.
    """
    source, most = FORMATS[feed.format], sum(records.values())
    shards = Shards.of(records, run.tasks(bronze, most))
    rows = _rows(run, feed, bronze, (shards, most), compaction_watermarks)
    cached = []
    if source.transactional:
        rows = run.cached(rows)
        cached.append(rows)
        of_transactions = run.filled(rows, "transaction")
        parts = run.select(of_transactions, {name: name for name in ("transaction", "part")})
        whole = run.staged(run.sorted(parts, ("transaction",), (), most), Commits())
        rows = run.looked_up(rows, whole, "transaction", "commit")
    ordered = run.in_order(rows, "sort_key", Ranges("shard", SHARDS, shards.tasks))
    classify = Classify(feed, compaction_watermarks, source.arrives_by, SortedRuns())
    found = run.cached(run.filed(ordered, classify))
    counts = Accounts()
    files = _told(run, found, counts)
    return Classified(run, [found], counts, [*cached, found], files)


def _rows(
    run: Executor[Frame],
    feed: Feed,
    bronze: Frame,
    size: tuple[Shards, int],
    compaction_watermarks: Mapping[str, CompactionWatermark],
) -> Frame:
    """The records as rows (``ROWS``); where neighbours decide, they are brought together first.

    ``size``: how they are divided among tasks, and how many there are at most.
    """
    source, (shards, most) = FORMATS[feed.format], size
    surveyed = facts_of_windows(run, feed, bronze)
    if source.resolver is None:
        return run.staged(bronze, DecodeRows(feed, source, surveyed, compaction_watermarks, shards))
    pending = run.staged(bronze, DecodePending(feed, source, surveyed))
    groups = run.sorted(pending, ("group",), ("order",), most)
    return run.staged(groups, ResolveRows(feed, source, compaction_watermarks, shards))


def facts_of_windows(run: Executor[Frame], feed: Feed, bronze: Frame) -> Surveyed:
    """Facts that some records of a window have and others of it need, by window."""
    source = FORMATS[feed.format]
    if not source.survey_marks:
        return {}
    # A repaired record may have a mark that bronze's own does not have.
    is_repaired = bool(feed.decisions.replacements)
    marked = bronze if is_repaired else run.containing(bronze, "payload", source.survey_marks)
    facts: dict[str, set[tuple[object, ...]]] = {}
    for row in run.collected(run.staged(marked, Survey(feed, source))).to_pylist():
        facts.setdefault(row["window"], set()).add(pickle.loads(row["fact"]))
    return {window: frozenset(some) for window, some in facts.items()}


def judged(
    found: Classified[Frame],
    feed: Feed,
    with_known: Callable[[Frame], Frame],
    *,
    keeps_known: bool,
) -> Classified[Frame]:
    """The same with the changes at or below a watermark: repeats of events that the base has, and others too late.

    ``with_known`` adds ``is_known`` to such changes. ``keeps_known``: as in ``JudgeCovered``.
    """
    run = found.run
    covered = with_known(found.of_kind(COVERED))
    more = run.cached(run.filed(covered, JudgeCovered(feed, keeps_known=keeps_known)))
    counts = Accounts()
    counts.add(found.counts)
    files = [*found.files, *_told(run, more, counts)]
    return Classified(run, [*found.frames, more], counts, [*found.cached, more], files)


def _told(run: Executor[Frame], rows: Frame, counts: Accounts) -> list[NewFile]:
    """The files that a stage's tasks have left among their rows; adds the accounts that are there, too."""
    left = run.select(run.where(rows, "kind", ACCOUNT), {"payload": "payload"})
    files: list[NewFile] = []
    for pickled in run.collected(left)["payload"].to_pylist():
        told = pickle.loads(pickled)
        if isinstance(told, Accounts):
            counts.add(told)
        else:
            files += told
    return files

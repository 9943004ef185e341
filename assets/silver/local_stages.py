"""The stages between bronze and silver in this process: for so few records that a Spark job would cost more.

The functions are those that Spark's tasks call (``arrow/silver/silver_stages``); what Spark shuffles, sorts and joins
is done here in memory. Put here what Spark does between two stages (``spark_stages``). Not here: which windows are
small enough (``classified_windows``).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow.silver import outcomes, pending_stages, silver_stages
from assets.arrow.silver.packed_rows import part_of
from assets.columns.silver import OUTPUT, PENDING, ROWS
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.horizons import Horizon
from transforms.silver import transactions

Batches = Iterable[pa.RecordBatch]


def classified(
    feed: Feed, bronze: Sequence[pa.RecordBatch], horizons: Mapping[str, Horizon]
) -> pa.Table:
    """One row per outcome of these records (``OUTPUT``): the same that ``spark_stages.classified`` gives."""
    rows = _rows(feed, bronze, horizons)
    if FORMATS[feed.format].transactional:
        rows = _with_commits(rows)
    ordered = rows.sort_by("sort_key").combine_chunks()
    return _through(outcomes.Classify(feed, horizons), ordered.to_batches(), OUTPUT)


def _rows(
    feed: Feed, bronze: Sequence[pa.RecordBatch], horizons: Mapping[str, Horizon]
) -> pa.Table:
    surveyed, source = _surveyed(feed, bronze), FORMATS[feed.format]
    if source.resolver is None:
        return _through(silver_stages.DecodeRows(feed, source, surveyed, horizons), bronze, ROWS)
    pending = _through(pending_stages.DecodePending(feed, source, surveyed), bronze, PENDING)
    keys = zip(pending["group"].to_pylist(), pending["order"].to_pylist(), strict=True)
    order = [at for _, at in sorted((key, at) for at, key in enumerate(keys))]
    groups = pending.take(pa.array(order, pa.int64())).combine_chunks()
    return _through(pending_stages.ResolveRows(feed, source, horizons), groups.to_batches(), ROWS)


def _surveyed(feed: Feed, bronze: Sequence[pa.RecordBatch]) -> silver_stages.Surveyed:
    marks = FORMATS[feed.format].survey_marks
    if not marks:
        return {}
    facts: dict[str, set[tuple[object, ...]]] = {}
    for batch in bronze:
        # A mended record may have a mark that bronze's own does not have.
        is_marked = pa.array(
            [
                bool(feed.decisions.replacements) or any(mark in (one or b"") for mark in marks)
                for one in batch["payload"].to_pylist()
            ],
            pa.bool_(),
        )
        for facts_found in silver_stages.Survey(feed, FORMATS[feed.format])(
            [batch.filter(is_marked)]
        ):
            for row in facts_found.to_pylist():
                fact = pickle.loads(row["fact"])
                facts.setdefault(row["window"], set()).add(fact)
    return {window: frozenset(some) for window, some in facts.items()}


def _with_commits(rows: pa.Table) -> pa.Table:
    """The rows, those of transactions that their window holds whole with the commit's position."""
    names = rows["transaction"].to_pylist()
    if not any(names):
        return rows
    parts: dict[bytes, list[transactions.TransactionEvent]] = {}
    for name, part in zip(names, rows["part"].to_pylist(), strict=True):
        if name is not None:
            parts.setdefault(name, []).append(part_of(part))
    whole = {name: transactions.commit_of(some) for name, some in parts.items()}
    at = rows.schema.get_field_index("commit")
    found = [None if name is None else whole[name] for name in names]
    return rows.set_column(at, rows.field(at), pa.array(found, rows.field(at).type))


def _through(
    stage: Callable[[Batches], Iterator[pa.RecordBatch]], batches: Batches, schema: pa.Schema
) -> pa.Table:
    return pa.Table.from_batches(list(stage(batches)), schema=schema)


def texts_of(found: pa.Table, kind: str) -> list[str]:
    """The texts that stages left in their rows of one kind."""
    payloads = found.filter(pc.equal(found["kind"], kind))["payload"]
    return [one.decode() for one in payloads.to_pylist()]

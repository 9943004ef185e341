"""Bronze to silver and quarantine: what became of every event of a window, and the books of it."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import dagster as dg
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets import bases, decisions, ledger, partitions, schema_changes, silver_derive, verdicts
from assets import books as books_of
from assets import transactions as transactions_of
from assets import violations as violations_of
from assets.books import Book
from assets.lake import Lake, columns_of
from assets.wording import counted
from assets.writing import writing
from expectations import silver as rules
from transforms.change import CHANGE, QUARANTINE
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.horizons import covered
from transforms.silver_columns import accounting, changes, conform, late, repeats, transactions
from transforms.tables import table_of_object


@dataclass(frozen=True, slots=True)
class Derived:
    """A run's books, one row per window and table, and the violations of every rule."""

    books: Sequence[books_of.Book]
    violations: Mapping[str, int]
    samples: Mapping[str, str]


def derive(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """Write these windows' changes, quarantine and books, each in one commit, from their bronze alone.

    ``judged_by``: a proof in a lake of its own has no base rows, but what came too late there is so here.
    """
    with writing(lake, "silver", feed.name):
        return derive_alone(lake, decisions.with_recorded(lake, feed), windows, judged_by)


def derive_alone(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """The same, where no other run writes these tables."""
    if FORMATS[feed.format].decoder is not None:
        return _derived_by_decoder(lake, feed, windows, judged_by)
    horizons = bases.drawn(judged_by or lake, feed)
    bases.refuse_altered_past(lake, feed)
    # Another run may add to these windows meanwhile: a run of any window reads all that is new in a topic.
    bronze = lake.table("bronze", feed.name).read_fixed()
    objects = ledger.read_objects(lake, feed, windows, rows=bronze)
    # Parsed once. A checkpoint and no cache: every query on a cached frame would plan its large expressions anew.
    fated = fates(feed, windows, objects, bronze, covered(horizons))
    if FORMATS[feed.format].transactional:
        fated = transactions.with_commits(fated)
    fated = fated.localCheckpoint()
    if horizons and not fated.where(late.is_decided(covered(horizons))).isEmpty():
        known = bases.with_known(judged_by or lake, feed, fated)
        in_proof = judged_by is not None
        fated = late.judged(known, covered(horizons), repeats_count=in_proof).localCheckpoint()
    books = books_of.counted(feed, fated)
    books_table = lake.small_table("accounting", feed.name, books_of.COLUMNS)
    earlier = books_table.rows()
    books_of.refuse_collisions(feed, books, earlier)
    schema_changes.refuse_in_stream(feed, books, fated)
    books_of.announce(books_table, books, earlier)
    silver, quarantine = lake.table("silver", feed.name), lake.table("quarantine", feed.name)
    sorted_changes = changes.changes(fated).sortWithinPartitions("table", "key")
    written = silver.replace_windows_counted(sorted_changes, windows)
    refused = quarantine.replace_windows_counted(changes.quarantine(fated), windows)
    if FORMATS[feed.format].transactional:
        waiting = transactions.open_events(fated).coalesce(1)
        lake.table("transactions", feed.name).replace_windows(waiting, windows, partition_by=())
    books_table.replace_windows(books, windows)
    falls = books_of.falls(books_table.rows())
    landed = sum(one.records for one in objects)
    counts = violations_of.count(feed, books, landed, written, refused, falls)
    told = violations_of.samples(books, falls)
    if FORMATS[feed.format].transactional:
        waits = transactions_of.still_open(lake, feed)
        overdue = [one for one in waits if one.never_committed]
        for rule, those in (
            (rules.EVERY_TRANSACTION_IS_COMMITTED, waits),
            (rules.NO_TRANSACTION_IS_OVERDUE, overdue),
        ):
            counts[rule.name] = len(those)
            told[rule.name] = transactions_of.told(those)
    if judged_by is None and bases.drawn(lake, feed) != horizons:
        # History was compacted meanwhile: what was judged by the horizon before is judged by the new one.
        return derive_alone(lake, feed, windows)
    return Derived(books, counts, told)


def _derived_by_decoder(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None
) -> Derived:
    """The same, of a format that is read by its decoder."""
    horizons = bases.drawn(judged_by or lake, feed)
    bases.refuse_altered_past(lake, feed)
    found = silver_derive.made(lake, feed, windows, judged_by)
    books = silver_derive.stored(feed, found.accounts)
    table = lake.small_table("accounting", feed.name, books_of.COLUMNS)
    earlier = table.rows()
    silver_derive.refuse(feed, found, books, earlier)
    books_of.announce(table, books, earlier)
    written, refused = silver_derive.write(lake, feed, found, windows)
    table.replace_windows(books, windows)
    found.rows.unpersist()
    others = [row for row in earlier if row["window"] not in set(windows)]
    falls = books_of.falls([*others, *books])
    counts = violations_of.count(feed, books, found.landed, written, refused, falls)
    told = violations_of.samples(books, falls)
    if FORMATS[feed.format].transactional:
        waits = transactions_of.still_open(lake, feed)
        overdue = [one for one in waits if one.never_committed]
        for rule, those in (
            (rules.EVERY_TRANSACTION_IS_COMMITTED, waits),
            (rules.NO_TRANSACTION_IS_OVERDUE, overdue),
        ):
            counts[rule.name] = len(those)
            told[rule.name] = transactions_of.told(those)
    if judged_by is None and bases.drawn(lake, feed) != horizons:
        # History was compacted meanwhile: what was judged by the horizon before is judged by the new one.
        return derive_alone(lake, feed, windows)
    return Derived(books, counts, told)


def fates(
    feed: Feed,
    windows: Sequence[str],
    objects: Sequence[ledger.ReadObject],
    bronze: DataFrame,
    is_covered: Column,
) -> DataFrame:
    """One row per source event of these windows, with its change or fault, and its fate."""
    names = sorted({one.name for one in objects})
    tables = bronze.sparkSession.createDataFrame(
        [(name, table_of_object(name, feed.tables)) for name in names],
        "object string, object_table string",
    )
    records = bronze.where(F.col("window").isin(list(windows)) & (F.col("line") > 0))
    events = FORMATS[feed.format].to_events(
        records.join(F.broadcast(tables), on="object", how="left"), feed
    )
    return repeats.with_fate(conform.conform(events, feed), is_covered)


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's silver and quarantine assets, made in one pass."""
    silver_key, quarantine_key = ["silver", feed.name], ["quarantine", feed.name]

    @dg.multi_asset(
        name=f"silver_{feed.name}",
        specs=[
            dg.AssetSpec(
                silver_key,
                deps=[["bronze", feed.name]],
                kinds={"silver", "deltalake"},
                description="One row per normalized change: a function of its own window's bronze and nothing else.",
                metadata={
                    "dagster/column_schema": columns_of(CHANGE),
                    "dagster/table_name": f"silver.{feed.name}",
                },
            ),
            dg.AssetSpec(
                quarantine_key,
                deps=[["bronze", feed.name]],
                kinds={"quarantine", "deltalake"},
                description="What could not become a change, with the reason and the bronze coordinates.",
                metadata={
                    "dagster/column_schema": columns_of(QUARANTINE),
                    "dagster/table_name": f"quarantine.{feed.name}",
                },
            ),
        ],
        check_specs=verdicts.specs(silver_key, rules.rules_of(feed.format)),
        group_name=feed.name,
        partitions_def=partitions.windows_of(feed),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=f"silver_{feed.name}",
    )
    def silver(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = partitions.keys_of(context)
        started = monotonic()
        made = derive(lake, feed, windows)
        total = {name: sum(row[name] for row in made.books) for name in accounting.COUNTS}
        context.log.info(
            f"silver.{feed.name}: {counted(total['events'], 'source event')}"
            f" = {counted(total['changes'], 'change')}"
            + (f" + {total['control']:,} control" if total["control"] else "")
            + (f" + {total['held']:,} held" if total["held"] else "")
            + f" + {counted(total['duplicates'], 'duplicate')} of the same window"
            + f" + {total['quarantined']:,} quarantined"
            + (f" + {total['too_late']:,} too late" if total["too_late"] else "")
        )
        yield dg.MaterializeResult(
            asset_key=silver_key,
            metadata={
                "dagster/partition_row_count": total["changes"]
                + total["control"]
                + total["derived"],
                "seconds": round(monotonic() - started, 1),
                **{name: total[name] for name in accounting.COUNTS},
                "accounting": dg.MetadataValue.md(as_table(made.books)),
                "books": dg.MetadataValue.json([book(row) for row in made.books]),
            },
            check_results=list(
                verdicts.results(
                    silver_key, rules.rules_of(feed.format), made.violations, windows, made.samples
                )
            ),
        )
        yield dg.MaterializeResult(
            asset_key=quarantine_key, metadata={"dagster/partition_row_count": total["quarantined"]}
        )

    return silver


def book(row: Book) -> dict[str, object]:
    """One row of the books as plain JSON."""
    return {
        name: row[name]
        for name in ("window", "table", "source_table", "declared", *accounting.COUNTS)
    }


def as_table(books: Sequence[Book]) -> str:
    """The books as a Markdown table: one line per window and table."""
    head = ["window", "table", *accounting.FATES, "events"]
    lines = [
        [str(row[name]) for name in head]
        for row in sorted(books, key=lambda row: (row["window"], str(row["table"])))
    ]
    return "\n".join(
        "| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]
    )

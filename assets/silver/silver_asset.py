"""Bronze to silver and quarantine: what became of every event of a window, and the accounts of it."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import dagster as dg

from assets import checks, partitions
from assets.bookkeeping import accounting, bases, decisions, dismissals
from assets.bookkeeping import transactions as transactions_of
from assets.bookkeeping.accounting import StoredAccount
from assets.columns.silver import CHANGE, QUARANTINE, REFUSED
from assets.lake import Lake, columns_of
from assets.layers import Layer
from assets.locks import writing
from assets.silver import derive_windows
from assets.silver import violations as violations_of
from assets.wording import counted
from expectations import silver as rules
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import COUNTS, OUTCOMES


@dataclass(frozen=True, slots=True)
class Derived:
    """A run's accounts, one row per window and table, and the violations of every rule."""

    accounts: Sequence[StoredAccount]
    violations: Mapping[str, int]
    samples: Mapping[str, str]


def derive(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """Write these windows' changes, quarantine and accounts, each in one commit, from their bronze alone.

    ``judged_by``: a proof in a lake of its own has no base rows, but what came too late there is so here.
    """
    with writing(lake, Layer.SILVER, feed.name):
        return derive_alone(lake, decisions.with_recorded(lake, feed), windows, judged_by)


def derive_alone(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """The same, where no other run writes these tables."""
    horizons = bases.drawn(judged_by or lake, feed)
    bases.refuse_altered_past(lake, feed)
    found = derive_windows.made(lake, feed, windows, judged_by)
    accounts = derive_windows.stored(feed, found.accounts)
    table = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    earlier = table.rows()
    derive_windows.refuse(feed, found, accounts)
    accounting.announce(table, accounts, earlier)
    written, refused = derive_windows.write(lake, feed, found, windows)
    dismissed = feed.decisions.dismissed(windows)
    let_go = (
        dismissals.among(found.of_kind(REFUSED).where("derived IS NULL"), dismissed)
        if dismissed
        else 0
    )
    table.replace_windows(accounts, windows)
    found.let_go()
    others = [row for row in earlier if row["window"] not in set(windows)]
    falls = accounting.falls([*others, *accounts])
    late = violations_of.mostly_late(accounts, others)
    counts = violations_of.count(feed, accounts, found.landed, written, refused, falls, late)
    counts[rules.NOTHING_QUARANTINED.name] -= let_go
    told = violations_of.samples(accounts, falls, late)
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
    return Derived(accounts, counts, told)


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
        check_specs=checks.specs(silver_key, rules.rules_of(feed.format)),
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
        total = {name: sum(row[name] for row in made.accounts) for name in COUNTS}
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
                **{name: total[name] for name in COUNTS},
                "accounting": dg.MetadataValue.md(as_table(made.accounts)),
                "accounts": dg.MetadataValue.json([account(row) for row in made.accounts]),
            },
            check_results=list(
                checks.results(
                    silver_key, rules.rules_of(feed.format), made.violations, windows, made.samples
                )
            ),
        )
        yield dg.MaterializeResult(
            asset_key=quarantine_key, metadata={"dagster/partition_row_count": total["quarantined"]}
        )

    return silver


def account(row: StoredAccount) -> dict[str, object]:
    """One row of the accounts as plain JSON."""
    return {name: row[name] for name in ("window", "table", "source_table", "declared", *COUNTS)}


def as_table(accounts: Sequence[StoredAccount]) -> str:
    """The accounts as a Markdown table: one line per window and table."""
    head = ["window", "table", *OUTCOMES, "events"]
    lines = [
        [str(row[name]) for name in head]
        for row in sorted(accounts, key=lambda row: (row["window"], str(row["table"])))
    ]
    return "\n".join(
        "| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]
    )

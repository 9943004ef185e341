"""The Dagster assets of silver and quarantine: one pass derives both, and reports what became of every event.

Put here what Dagster is shown of silver. Not here: how silver is derived (``derive_windows``).
"""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

import dagster as dg

from assets import partitions
from assets.bookkeeping.accounting import StoredAccount
from assets.columns.silver import CHANGE, QUARANTINE
from assets.lake import Lake
from assets.layers import Layer
from assets.quality.suite_faults import refuse_unknown
from assets.silver import derive_windows
from assets.silver.silver_checks import silver_check_specs, silver_checked
from assets.window_asset import table_metadata, window_asset
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.silver.accounting import COUNTS, OUTCOMES


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's silver and quarantine assets, made in one pass."""
    silver_key, quarantine_key = ["silver", feed.name], ["quarantine", feed.name]

    @dg.multi_asset(
        name=f"silver_{feed.name}",
        specs=specs_of(feed),
        check_specs=silver_check_specs(feed),
        **window_asset(feed, "silver"),
    )
    def silver(
        context: dg.AssetExecutionContext, lake: Lake
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = partitions.keys_of(context)
        refuse_unknown(feed)
        started = monotonic()
        made = derive_windows.derive(lake, feed, windows)
        seconds = round(monotonic() - started, 1)
        total = {name: sum(row[name] for row in made.accounts) for name in COUNTS}
        context.log.info(summary(feed, total))
        yield dg.MaterializeResult(
            asset_key=silver_key,
            metadata={
                "dagster/partition_row_count": total["changes"]
                + total["control"]
                + total["derived"],
                "seconds": seconds,
                **{name: total[name] for name in COUNTS},
                "accounting": dg.MetadataValue.md(as_table(made.accounts)),
                "accounts": dg.MetadataValue.json([account(row) for row in made.accounts]),
            },
            check_results=silver_checked(lake, feed, made, windows),
        )
        yield dg.MaterializeResult(
            asset_key=quarantine_key, metadata={"dagster/partition_row_count": total["quarantined"]}
        )

    return silver


def specs_of(feed: Feed) -> list[dg.AssetSpec]:
    """The two tables that one pass over bronze writes: silver, and quarantine."""
    bronze = [["bronze", feed.name]]
    return [
        dg.AssetSpec(
            ["silver", feed.name],
            deps=bronze,
            kinds={"silver", "deltalake"},
            description="One row per normalized change: a function of its own window's bronze and nothing else.",
            metadata=table_metadata(feed, Layer.SILVER, CHANGE),
        ),
        dg.AssetSpec(
            ["quarantine", feed.name],
            deps=bronze,
            kinds={"quarantine", "deltalake"},
            description="What could not become a change, with the reason and the bronze coordinates.",
            metadata=table_metadata(feed, Layer.QUARANTINE, QUARANTINE),
        ),
    ]


def summary(feed: Feed, total: Mapping[str, int]) -> str:
    """What became of a run's events, in one line of the log; ``total``: the accounts' sums by name."""
    return (
        f"silver.{feed.name}: {counted(total['events'], 'source event')}"
        f" = {counted(total['changes'], 'change')}"
        + (f" + {total['control']:,} control" if total["control"] else "")
        + (f" + {total['held']:,} held" if total["held"] else "")
        + f" + {counted(total['duplicates'], 'duplicate')} of the same window"
        + f" + {total['quarantined']:,} quarantined"
        + (f" + {total['too_late']:,} too late" if total["too_late"] else "")
    )


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

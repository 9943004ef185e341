"""The Dagster assets of silver and quarantine, which one pass derives, and silver's checks."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import dagster as dg

from assets import feed_assets
from assets.control import asset
from assets.control.accounting import StoredAccount
from assets.executors.choice import EXECUTOR, done_by
from assets.feed_assets import (
    feed_key,
    markdown_metadata,
    spec_of_feed,
    table_metadata,
    window_step,
)
from assets.quality import checks, data_docs, declared_checks
from assets.quality.data_docs import link_to
from assets.quality.suite_faults import refuse_unknown
from assets.retries import retried
from assets.silver import derive
from assets.silver.checks import lags, samples
from assets.silver.derive import Derived
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations.feed_rules import silver_rules
from expectations.rule import judge
from expectations.validation_results import rule_in_json
from transforms.display import Markdown, own_head, table
from transforms.feed.feed import Feed
from transforms.silver.accounting import COUNTS, OUTCOMES


def build(feed: Feed) -> dg.AssetsDefinition:
    """The feed's silver and quarantine assets, made in one pass."""
    silver_key, quarantine_key = feed_key("silver", feed), feed_key("quarantine", feed)

    @dg.multi_asset(
        specs=[spec_of_feed(feed, spec) for spec in specs_of(feed)],
        check_specs=silver_check_specs(feed),
        **window_step(feed, "silver"),
    )
    @retried
    def silver(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        windows = asset.landed_windows_of_run(context, lake, feed)
        refuse_unknown(feed)
        started = monotonic()
        made = derive.derive(lake, feed, windows)
        context.log.info(summary(feed, summed(made.accounts)) + done_by(made.executor))
        of_windows: dict[str, list[StoredAccount]] = {}
        for row in made.accounts:
            of_windows.setdefault(row["window"], []).append(row)
        ages = {
            one.window: {"source_lag_seconds": round(one.age.total_seconds(), 1)}
            for one in lags(feed, made.accounts, datetime.now(UTC))
        }
        feed_assets.add_to_windows(
            context,
            silver_key,
            {name: facts(accounts) | ages.get(name, {}) for name, accounts in of_windows.items()},
            {
                "seconds": round(monotonic() - started, 1),
                EXECUTOR: made.executor,
                "data_docs": dg.MetadataValue.url(link_to(feed.name)),
            },
        )
        quarantined = {
            window: {"dagster/partition_row_count": summed(accounts)["quarantined"]}
            for window, accounts in of_windows.items()
        }
        feed_assets.add_to_windows(context, quarantine_key, quarantined, {})
        yield dg.MaterializeResult(
            asset_key=silver_key,
            metadata=facts([]),
            check_results=silver_checked(lake, feed, made, windows),
        )
        yield dg.MaterializeResult(
            asset_key=quarantine_key, metadata={"dagster/partition_row_count": 0}
        )

    return silver


def specs_of(feed: Feed) -> list[dg.AssetSpec]:
    """The two tables that one pass over bronze writes: silver, and quarantine."""
    bronze = [feed_key("bronze", feed)]
    return [
        dg.AssetSpec(
            feed_key("silver", feed),
            deps=bronze,
            kinds={"silver", "deltalake"},
            description="One row per change, derived from the bronze of its window alone.",
            metadata=table_metadata(feed, Layer.SILVER),
        ),
        dg.AssetSpec(
            feed_key("quarantine", feed),
            deps=bronze,
            kinds={"quarantine", "deltalake"},
            description="What could not become a change, with the reason and the source location.",
            metadata=table_metadata(feed, Layer.QUARANTINE),
        ),
    ]


def summed(accounts: Sequence[StoredAccount]) -> dict[str, int]:
    """The sums of the accounts' counts, by name."""
    return {name: sum(row[name] for row in accounts) for name in COUNTS}


def facts(accounts: Sequence[StoredAccount]) -> dict[str, float | dg.MetadataValue[Any]]:
    """The metadata of one window's materialization: what became of its events, in numbers and as a table."""
    total = summed(accounts)
    return {
        "dagster/partition_row_count": total["changes"] + total["control"] + total["derived"],
        **total,
        "accounting": markdown_metadata(as_table(accounts)),
        "accounts": dg.MetadataValue.json(
            [{name: row[name] for name in _OF_ACCOUNT} for row in accounts]
        ),
    }


_OF_ACCOUNT = ("window", "table", "source_table", "declared", *COUNTS)


def summary(feed: Feed, total: Mapping[str, int]) -> str:
    """What became of a run's events, in one line of the log; ``total``: the accounts' sums by name."""
    return (
        f"silver.{feed.name}: {counted(total['events'], 'source event')}"
        f" = {counted(total['changes'], 'change')}"
        + (f" + {total['control']:,} control" if total["control"] else "")
        + (f" + {total['held']:,} held" if total["held"] else "")
        + f" + {counted(total['duplicates'], 'duplicate')}"
        + f" + {total['quarantined']:,} quarantined"
        + (f" + {total['too_late']:,} too late" if total["too_late"] else "")
        + (f" + {total['erased']:,} erased" if total["erased"] else "")
    )


def as_table(accounts: Sequence[StoredAccount]) -> Markdown:
    """The accounts as a table: one line per window and table."""
    head = ["window", "table", *OUTCOMES, "events"]
    rows = sorted(accounts, key=lambda row: (row["window"], str(row["table"])))
    return table(own_head(*head), [[row[name] for name in head] for row in rows])


def silver_check_specs(feed: Feed) -> list[dg.AssetCheckSpec]:
    """The built-in checks of the feed's silver, and those that its file adds."""
    key, suite = feed_key("silver", feed), declared_checks.suite_of(feed, "silver")
    return [
        *checks.specs_of_rules(key.path, silver_rules(feed)),
        *declared_checks.specs_of_suite(key, suite),
    ]


def silver_checked(
    lake: Lake, feed: Feed, made: Derived, windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """The results of silver's checks over these windows, kept in the warehouse."""
    key, rules = feed_key("silver", feed), silver_rules(feed)
    shown = samples(lake, made.findings)
    found = list(checks.results_of_rules(key.path, rules, made.violations, windows, shown))
    stored: list[Mapping[str, Any]] = [
        rule_in_json(rule, shown.get(rule.rule.name)) for rule in judge(rules, made.violations)
    ]
    suite = declared_checks.suite_of(feed, "silver")
    if suite is not None:
        asked = declared_checks.ask_silver(lake, feed, suite, windows)
        stored += asked.results
        found += declared_checks.results_of_suite(key, asked)
    page = checks.keep_results(lake, feed, checks.place_of_results(key.path, windows), stored)
    if suite is not None:
        data_docs.build_pages_of(lake.warehouse, feed.name)
    return list(checks.linked_results(found, page))

"""The checks of a gold table, and an apply in words and numbers: for the log, the UI and the checks' results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict

import dagster as dg

from assets.control.accounting import first_and_last
from assets.executors.choice import done_by, executors_of
from assets.feed_assets import gold_key
from assets.gold import range_deletes, tables
from assets.gold.apply import TableResult
from assets.gold.fold import Applied
from assets.quality import checks, declared_checks
from assets.storage.lake import Lake
from assets.wording import counted
from expectations import gold as rules
from expectations.feed_rules import gold_rules
from expectations.gold import EVERY_TABLE_IS_MADE
from expectations.rule import Rule, judge
from expectations.validation_results import rule_in_json
from transforms.display import Markdown, bullets
from transforms.feed.feed import Feed, Table
from transforms.silver.discovered_tables import stopped_in_words


def check_specs(feed: Feed, table: Table) -> list[dg.AssetCheckSpec]:
    """The built-in checks of a declared table, and those that the feed file adds."""
    key = gold_key(feed, table.name)
    suite = declared_checks.suite_of(feed, "gold", table.name)
    return [
        *checks.specs_of_rules(key.path, gold_rules(feed)),
        *declared_checks.specs_of_suite(key, suite),
    ]


def discovered_specs(feed: Feed, tables: Iterable[Table]) -> list[dg.AssetCheckSpec]:
    """The built-in checks of tables that only the stream describes and that are nodes of their own."""
    keys, rules = [gold_key(feed, table.name) for table in tables], rules_of_discovered(feed)
    return [one for key in keys for one in checks.specs_of_rules(key.path, rules)]


def rules_of_discovered(feed: Feed) -> list[Rule]:
    """The rules of such a table; that every table is made is asked of their catch-all asset."""
    return [rule for rule in gold_rules(feed) if rule.name != EVERY_TABLE_IS_MADE.name]


def discovered_checked(
    lake: Lake, feed: Feed, name: str, done: Applied, windows: Sequence[str]
) -> list[dg.AssetCheckResult]:
    """The results of such a table's checks, kept where the run has something new of it; ``name``: the source's."""
    path, rules = gold_key(feed, name).path, rules_of_discovered(feed)
    found = checks.Counted(rules, violations_of(done), samples_of(done))
    passed = all(one.passed for one in judge(rules, found.violations))
    if done.is_news or not passed:
        return checks.kept_counts(lake, feed, path, found, windows)
    return [*checks.results_of_rules(path, rules, found.violations, windows)]


def checked(
    lake: Lake,
    feed: Feed,
    one: TableResult,
    windows: Sequence[str],
    selected: Collection[dg.AssetCheckKey],
) -> list[dg.AssetCheckResult]:
    """The results of those of the table's checks that the step selects, kept where the run has something new.

    What is asked of gold is asked after the apply, and only where the table has changed since it was asked before.
    """
    key, rules = gold_key(feed, one.table.name), gold_rules(feed)
    violations, samples = violations_of(one.done), samples_of(one.done)
    counted = list(checks.results_of_rules(key.path, rules, violations, windows, samples))
    suite = declared_checks.suite_of(feed, "gold", one.table.name)
    asked, names = None, []
    if suite is not None and any(
        dg.AssetCheckKey(key, expectation.check) in selected for expectation in suite.expectations
    ):
        names = [*tables.by_declared(lake, feed, None).get(one.table.name, {})]
        asked = declared_checks.ask_gold(lake, feed, suite, one.table, names)
    is_new = bool(one.done.is_news or (asked and asked.results))
    if is_new or not all(result.passed for result in counted):
        place = checks.place_of_results(key.path, windows)
        stored = [
            rule_in_json(rule, samples.get(rule.rule.name)) for rule in judge(rules, violations)
        ]
        page = checks.keep_results(lake, feed, place, [*stored, *(asked.results if asked else ())])
        counted = list(checks.linked_results(counted, page))
        if asked and asked.page is None:
            declared_checks.remember(lake, feed, asked, names, page)
    else:
        page = ""
    found = counted
    if asked is not None:
        declared = declared_checks.results_of_suite(key, asked)
        found += checks.linked_results(declared, asked.page or page)
    return [one for one in found if dg.AssetCheckKey(key, one.check_name or "") in selected]


def log_apply(context: dg.AssetExecutionContext, feed: Feed, name: str, done: Applied) -> None:
    """Log what an apply did to the gold tables of one declared table; ``name``: what a query calls it."""
    if done.waits_for:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed, and {counted(len(done.waits_for), 'window')}"
            f" ({done.waits_for[0]} .. {done.waits_for[-1]}) must be derived again before gold can follow:"
            " `weir run` does so, or a backfill of these windows"
        )
    if done.rebuilt:
        context.log.warning(
            f"gold.{feed.name}.{name}: the declaration changed; the table was made again from all of silver"
        )
    metrics = done.metrics
    context.log.info(
        f"gold.{feed.name}.{name}: {counted(metrics.keys, 'key')} changed, now {counted(done.rows, 'row')}"
        + (f", {done.marked:,} marked as deleted" if done.marked else "")
        + f" and {counted(done.tombstones, 'tombstone')}"
        + (f"; {metrics.repeats:,} in gold already" if metrics.repeats else "")
        + (f"; {metrics.superseded:,} older than what gold has" if metrics.superseded else "")
        + (
            f"; {counted(metrics.keys_with_late_events, 'key')} with late events"
            if metrics.keys_with_late_events
            else ""
        )
        + done_by(*done.executors)
    )
    for one in done.tables:
        for effect in one.range_deletes:
            # A delete of some rows is the source's daily business, one of a whole table seldom is.
            tell = context.log.info if effect.is_of_some_rows else context.log.warning
            for line in range_deletes.effect_lines((effect,)):
                tell(f"gold.{feed.name}.{one.name}: {line}")


def facts_of_apply(
    done: Applied, seconds: float, windows: Sequence[str]
) -> dict[str, int | float | str | dg.JsonMetadataValue]:
    """What one fold of all windows of a run did: metadata of its last window, which the UI and the summary show."""
    metrics = done.metrics
    tables = [
        {
            **{"name": one.name, "rows": one.rows, "tombstones": one.tombstones},
            **({"marked": one.marked} if one.marked else {}),
            "in_gold_already": one.metrics.repeats,
            "range_deletes": [asdict(effect) for effect in one.range_deletes],
        }
        for one in done.tables
    ]
    return {
        "windows_of_run": first_and_last(windows),
        "seconds": round(seconds, 1),
        "changes_applied": metrics.deliveries,
        "in_gold_already": metrics.repeats,
        "superseded": metrics.superseded,
        "keys_changed": metrics.keys,
        "keys_refolded": metrics.refolded,
        "keys_with_late_events": metrics.keys_with_late_events,
        "keys_with_ties": metrics.ties,
        "tables": dg.MetadataValue.json(tables),
        "waits_for": len(done.waits_for),
        **executors_of(done.executors),
    }


def violations_of(done: Applied) -> dict[str, int]:
    """How many violations of each of gold's rules an apply has found."""
    metrics = done.metrics
    return {
        rules.ONE_ROW_PER_KEY.name: metrics.foreign_copies,
        rules.NO_LATE_EVENT.name: metrics.keys_with_late_events,
        rules.POSITIONS_RISE_WITHIN_KEY.name: metrics.ties,
        rules.ROWS_WERE_INSERTED.name: metrics.never_inserted,
        rules.EVERY_TABLE_IS_MADE.name: len(done.stopped),
        rules.NO_LOSS_IS_HELD.name: len(done.held),
        rules.SNAPSHOTS_NAME_EVERY_ROW.name: len(done.unnamed),
        rules.TRUNCATES_REACH_EVERY_ROW.name: metrics.not_truncated,
    }


def samples_of(done: Applied) -> dict[str, Markdown]:
    """What is shown of a failed check, by rule: tables that could not be made, and why; or some of the keys."""
    lines = [f"gold is unchanged for {line}" for line in stopped_in_words(done.stopped)]
    keys = {
        rules.NO_LATE_EVENT.name: done.keys_shown(lambda one: one.late_keys),
        rules.POSITIONS_RISE_WITHIN_KEY.name: done.keys_shown(lambda one: one.tied_keys),
        rules.ONE_ROW_PER_KEY.name: done.keys_shown(lambda one: one.copied_keys),
        rules.ROWS_WERE_INSERTED.name: done.keys_shown(lambda one: one.partial_keys),
        rules.TRUNCATES_REACH_EVERY_ROW.name: done.keys_shown(lambda one: one.left_keys),
    }
    return {
        rules.EVERY_TABLE_IS_MADE.name: bullets(lines),
        rules.NO_LOSS_IS_HELD.name: bullets(done.held),
        rules.SNAPSHOTS_NAME_EVERY_ROW.name: bullets(done.unnamed),
        **{rule: bullets(some) for rule, some in keys.items()},
    }

"""The summary of a run, as it is printed: a table of all tables, what the checks found, and what went wrong.

Put here how it looks. Not here: the numbers (``summary_lines``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from assets.asset_keys import table_name_of
from assets.gold.range_deletes import RangeDeleteEffect, effect_lines
from assets.wording import counted
from expectations import feed_rules
from orchestration.runs.outcome import Outcome, is_blocked
from orchestration.runs.summary_lines import TableLine, executors_in_words, gold_tables, table_lines
from orchestration.sheets import Grid, Sheet
from orchestration.watching.drift_lines import NEW_DRIFT
from transforms.display.markdown import block_lines, bullet_text


def show(outcomes: Sequence[Outcome], sheet: Sheet) -> None:
    """Print the table, what the checks found and what went wrong."""
    table = table_of(outcomes)
    if table.has_rows():
        sheet.line()
        sheet.grid(table)
        sheet.line()
    for outcome in outcomes:
        for text in effects_in_words(outcome):
            sheet.line(text, "yellow")
    for text in executors_in_words(outcomes):
        sheet.line(text)
    show_checks(outcomes, sheet)
    for outcome in outcomes:
        for text in new_in_stream(outcome):
            sheet.line(text)
        for error in outcome.errors:
            sheet.lines(f"error: {error}", "red")


_HEADS: Final = (
    *("events", "changes", "in_gold_already", "duplicates", "quarantined", "control", "held"),
    *("rows", "tombstones"),
)
_SELDOM: Final = frozenset(("in_gold_already", "control", "held"))
"""Columns that are shown where they have numbers: most runs repeat nothing, and have neither commits nor holds."""


def table_of(outcomes: Sequence[Outcome]) -> Grid:
    """A line for each table of which something came."""
    table = Grid()
    table.column("table", "never")
    # A response without events is a record, and has nothing to show.
    lines = [
        (f"{outcome.plan.feed.name}.{name}", line)
        for outcome in outcomes
        for name, line in sorted(table_lines(outcome).items())
        if line != TableLine()
    ]
    heads = [
        head
        for head in _HEADS
        if head not in _SELDOM or any(getattr(line, head) for _, line in lines)
    ]
    for head in heads:
        called = "source events" if head == "events" else head.replace("_", " ")
        table.numbers(called, "between words")
    for name, line in lines:
        numbers = [getattr(line, head) for head in heads]
        table.row(name, *("-" if value is None else f"{value:,}" for value in numbers))
    return table


def effects_in_words(outcome: Outcome) -> Iterator[str]:
    """What deletes of many rows at once did to the run's gold tables."""
    for made in gold_tables(outcome):
        for text in effect_lines(_range_deletes(made)):
            yield f"{outcome.plan.feed.name}.{made['name']}: {text}"


def new_in_stream(outcome: Outcome) -> Iterator[str]:
    """What the stream has that the feed file does not declare, with the lines to paste."""
    # Every window of a run has what is new in the run.
    told = dict.fromkeys(
        str(values[NEW_DRIFT]) for _, values in outcome.metadata if NEW_DRIFT in values
    )
    for block in told:
        yield from block_lines(block)


def show_checks(outcomes: Sequence[Outcome], sheet: Sheet) -> None:
    """Print how many checks passed, and lines for each that did not."""
    checks = [(outcome.plan.feed.name, check) for outcome in outcomes for check in outcome.checks]
    if not checks:
        return
    failed = [(feed, check) for feed, check in checks if is_blocked(check)]
    warned = [(feed, check) for feed, check in checks if not check.passed and not is_blocked(check)]
    passed = len(checks) - len(failed) - len(warned)
    sheet.line(
        f"checks: {passed:,} passed, {counted(len(warned), 'warning')}, {len(failed):,} failed"
    )
    left = [f"gold.{one.plan.feed.name}" for one in outcomes if _has_stopped_gold(one)]
    for word, color, not_passed in (("failed", "red", failed), ("warning", "yellow", warned)):
        for _, check in not_passed:
            where = table_name_of(check.asset_key.path)
            sheet.line(f"  {word}: {where}: {check.check_name}", color)
            for line in filter(None, (check.description or "").splitlines()):
                sheet.line(f"    {bullet_text(line)}")
    for name in sorted(left):
        sheet.line(f"error: {name} was left as it was, because of the failed check", "red")


def _has_stopped_gold(outcome: Outcome) -> bool:
    """Whether a check of silver failed that lets nothing go on to gold."""
    rules = feed_rules.silver_rules(outcome.plan.feed)
    blocking = {rule.name for rule in rules if rule.severity == "blocking"}
    return any(
        check.check_name in blocking and check.asset_key.path[0] == "silver"
        for check in outcome.checks
        if is_blocked(check)
    )


def _range_deletes(table: Mapping[str, object]) -> tuple[RangeDeleteEffect, ...]:
    changes = table["range_deletes"]
    assert isinstance(changes, list)
    return tuple(RangeDeleteEffect(**one) for one in changes)

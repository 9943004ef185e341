"""The summary of a run: per table what came, what became of it and what is there now, at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from assets.gold.changes.scoped_delete_effects import ScopedDeleteEffect, effect_lines
from assets.wording import counted
from orchestration.runs.execute import Outcome, is_blocked


@dataclass(slots=True)
class Line:
    """One line of the summary: one table of one feed."""

    events: int = 0
    changes: int = 0
    duplicates: int = 0
    quarantined: int = 0
    rows: int | None = None
    tombstones: int | None = None
    control: int = 0
    held: int = 0


def lines(outcome: Outcome) -> dict[str, Line]:
    """One line per table, from the metadata of silver (the accounts) and gold (the sizes).

    A repeat that another window had delivered before counts as a duplicate here, too, so that
    events = changes + duplicates + quarantined + control + held. What came too late is in quarantine.
    """
    found: dict[str, Line] = {}
    for path, values in outcome.metadata:
        if path[0] == "silver":
            for account in _accounts(values):
                line = found.setdefault(str(account["table"] or "(no table)"), Line())
                line.events += _int(account["events"])
                line.changes += _int(account["changes"])
                line.duplicates += _int(account["duplicates"])
                line.quarantined += _int(account["quarantined"]) + _int(account["too_late"])
                line.control += _int(account["control"])
                line.held += _int(account["held"])
    for table in _gold_tables(outcome):
        line = found.setdefault(str(table["name"]), Line())
        repeats = _int(table["repeats"])
        line.changes -= repeats
        line.duplicates += repeats
        line.rows, line.tombstones = _int(table["rows"]), _int(table["tombstones"])
    return found


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print the table, what the checks found and what went wrong."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("table", no_wrap=True)
    found = [
        # Of a response without events there is a record, and nothing more to tell.
        (
            one.plan.feed.name,
            [(name, line) for name, line in sorted(lines(one).items()) if line != Line()],
        )
        for one in outcomes
    ]
    # Most sources have neither commits nor deletes that wait.
    rare = [
        name
        for name in ("control", "held")
        if any(getattr(line, name) for _, named in found for _, line in named)
    ]
    heads = ("events", "changes", "duplicates", "quarantined", *rare, "rows", "tombstones")
    for head in heads:
        table.add_column("source events" if head == "events" else head, justify="right")
    for feed, named in found:
        for name, line in named:
            numbers = [getattr(line, head) for head in heads]
            table.add_row(
                f"{feed}.{name}", *("-" if value is None else f"{value:,}" for value in numbers)
            )
    if table.row_count:
        console.print()
        console.print(table)
        console.print()
    for outcome in outcomes:
        for one in _gold_tables(outcome):
            for text in effect_lines(_scoped(one)):
                print_as_is(console, f"{outcome.plan.feed.name}.{one['name']}: {text}", "yellow")
    show_checks(outcomes, console)
    for outcome in outcomes:
        for error in outcome.errors:
            print_as_is(console, f"error: {error}", "red")


def show_checks(outcomes: Sequence[Outcome], console: Console) -> None:
    """One line in sum, and one for each check that did not pass."""
    checks = [(outcome.plan.feed.name, check) for outcome in outcomes for check in outcome.checks]
    if not checks:
        return
    failed = [one for one in checks if is_blocked(one[1])]
    warned = [one for one in checks if not one[1].passed and not is_blocked(one[1])]
    passed = len(checks) - len(failed) - len(warned)
    console.print(
        f"checks: {passed:,} passed, {counted(len(warned), 'warning')}, {len(failed):,} failed",
        highlight=False,
    )
    left = sorted({f"gold.{feed}" for feed, _ in failed if _.asset_key.path[0] == "silver"})
    for word, color, found in (("failed", "red", failed), ("warning", "yellow", warned)):
        for _, check in found:
            where = ".".join(check.asset_key.path)
            print_as_is(console, f"  {word}: {where}: {check.check_name}", color)
            for line in (check.description or "").splitlines():
                print_as_is(console, f"    {line}")
    for name in left:
        print_as_is(
            console, f"error: {name} was left as it was, because of the failed check", "red"
        )


def print_as_is(console: Console, text: str, style: str | None = None) -> None:
    """Print a line unwrapped and as it is: a command in it must stay one that can be copied."""
    console.print(text, style=style, soft_wrap=True, markup=False, highlight=False, emoji=False)


def _gold_tables(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    """Every gold table of the run: one asset may make several."""
    for path, values in outcome.metadata:
        if path[0] in ("gold", "undeclared") and "tables" in values:
            tables = values["tables"]
            assert isinstance(tables, list)
            yield from tables


def _accounts(values: Mapping[str, object]) -> list[dict[str, object]]:
    accounts = values["accounts"]
    assert isinstance(accounts, list)
    return accounts


def _scoped(table: Mapping[str, object]) -> tuple[ScopedDeleteEffect, ...]:
    changes = table["scoped"]
    assert isinstance(changes, list)
    return tuple(ScopedDeleteEffect(**one) for one in changes)


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value

"""The built-in suites: what Great Expectations is asked of each table as it stands, beside what runs count.

They read the tables themselves, so that they also find what something else has done to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from assets.gold import tables
from assets.quality import checks, declared_checks
from assets.quality.declared_checks import Asked, version_of_gold
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations.suites import ExpectationAnswer
from expectations.validation_results import ResultPlace
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import (
    DeclaredExpectation,
    DeclaredSuite,
    Feed,
    SuiteLayer,
    Table,
    check_names,
)
from transforms.gold.columns import EVENT_ID, key_columns

NEWEST: Final = 48
"""Maximum number of windows of silver that are read, the newest: what is asked does not grow with the lake."""

SUITE: Final = "as_stored"
"""What the name of such a suite ends with: ``gold.shop.orders.as_stored``."""

EFFECTS: Final = (
    *("replace", "update", "remove", "remove_if", "move", "increment", "decrement"),
    *CONTROL,
    HOLD,
)
"""What a change may do (docs/change_model.md)."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What one table, as it stands, answers: by its name for people, and what is broken in it."""

    name: str
    asked: int
    broken: Sequence[ExpectationAnswer]


def ask_stored(lake: Lake, feed: Feed) -> Iterator[Stored]:
    """Ask the feed's silver and each of its gold tables, declared or not, and keep what they answer."""
    in_gold = lake.in_process_table(Layer.PROGRESS, feed.name).rows(["window"])
    windows = sorted({row["window"] for row in in_gold})[-NEWEST:]
    if windows and lake.in_process_table(Layer.SILVER, feed.name).exists:
        suite = _suite("silver", None, _of_silver())
        asked = declared_checks.ask_silver(lake, feed, suite, windows)
        name = f"{Layer.SILVER}.{feed.name}"
        _keep(lake, feed, name, asked, f"{windows[0]}..{windows[-1]}")
        yield _stored(name, asked)
    for gold, table in tables.mirrors(lake, feed).items():
        if version_of_gold(lake, feed, gold) < 0:
            continue
        suite = _suite("gold", f"{gold}.{SUITE}", _of_gold(table))
        asked = declared_checks.ask_gold(lake, feed, suite, table, [gold])
        name = f"{Layer.GOLD}.{feed.name}.{gold}"
        if asked.page is None:
            page = _keep(lake, feed, name, asked, "all")
            declared_checks.remember(lake, feed, asked, [gold], page)
        yield _stored(name, asked)


def stored_in_lines(feed: Feed, stored: Sequence[Stored]) -> list[str]:
    """What was found, a line for all tables that are as they should be and one for each answer that is not."""
    asked = sum(one.asked for one in stored)
    broken = [(one.name, answer) for one in stored for answer in one.broken]
    head = (
        f"{feed.name}: {counted(asked, 'expectation')} of {counted(len(stored), 'table')} as stored"
    )
    return [
        f"{head}: {counted(len(broken), 'failure') if broken else 'all hold'}",
        *(f"  {name}: {declared_checks.answer_in_words(answer)}" for name, answer in broken),
    ]


def _keep(lake: Lake, feed: Feed, name: str, asked: Asked, windows: str) -> str:
    place = ResultPlace(f"{name}.{SUITE}", windows, datetime.now(UTC))
    return checks.keep_results(lake, feed, place, asked.results)


def _stored(name: str, asked: Asked) -> Stored:
    answers = [one for some in asked.answers.values() for one in some]
    return Stored(name, len(answers), [one for one in answers if not one.passed])


def _of_silver() -> Iterator[tuple[str, str | None, Mapping[str, object]]]:
    """Kind, column and arguments of each expectation of silver."""
    for column in ("event_id", "operation", "object", "line"):
        yield "expect_column_values_to_not_be_null", column, {}
    yield "expect_column_values_to_be_in_set", "effect", {"value_set": [*EFFECTS]}


def _of_gold(table: Table) -> Iterator[tuple[str, str | None, Mapping[str, object]]]:
    """Kind, column and arguments of each expectation of a gold table."""
    key = key_columns(table)
    for column in (*key, EVENT_ID):
        yield "expect_column_values_to_not_be_null", column, {}
    if len(key) == 1:
        yield "expect_column_values_to_be_unique", key[0], {}
    else:
        yield "expect_compound_columns_to_be_unique", None, {"column_list": [*key]}


def _suite(
    layer: SuiteLayer,
    table: str | None,
    wanted: Iterator[tuple[str, str | None, Mapping[str, object]]],
) -> DeclaredSuite:
    made = [*wanted]
    names = check_names([(kind, column) for kind, column, _ in made])
    expectations = [
        DeclaredExpectation(name, kind, column, arguments, "block", "the built-in suites")
        for name, (kind, column, arguments) in zip(names, made, strict=True)
    ]
    return DeclaredSuite(layer, table, expectations, "")

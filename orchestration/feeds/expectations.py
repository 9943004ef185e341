"""``expectations`` of a feed file: what Great Expectations is to ask of its tables in silver and gold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, get_args

from assets.columns.silver import CHANGE
from orchestration.feeds.faults import Misdeclared
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import (
    DeclaredExpectation,
    DeclaredSuite,
    ExpectationSeverity,
    Feed,
    SuiteLayer,
    Table,
    check_names,
)
from transforms.gold import columns as gold
from transforms.silver.schema_drift import did_you_mean

SECTION: Final = "expectations"
_SUITE: Final = ("table", "columns")
_SHAPE: Final = (
    "must be an expectation's name, or its name with its arguments, such as"
    " {expect_column_values_to_be_between: {min_value: 0}}"
)
_Entry = tuple[str, str | None, dict[str, object], str]
"""One entry before it has a check's name: kind, column, arguments, and where it stands."""


def suites_from(
    declared: Mapping[str, object], file: str, misdeclared: Misdeclared
) -> tuple[DeclaredSuite, ...]:
    """The section as suites; tables and columns are not looked up yet (``check_suites``).

    Raises:
        FeedMisdeclared: it has not the shape that it must have.
    """
    said = _Section(file, misdeclared)
    return tuple(said.suites(declared))


class _Section:
    """The section while it is read."""

    def __init__(self, file: str, misdeclared: Misdeclared) -> None:
        self.file, self.misdeclared = file, misdeclared

    def suites(self, declared: Mapping[str, object]) -> Iterator[DeclaredSuite]:
        layers: tuple[SuiteLayer, ...] = get_args(SuiteLayer)
        self._refuse_unknown(SECTION, declared, layers)
        if "silver" in declared:
            yield self._suite("silver", None, declared["silver"], f"{SECTION}.silver")
        tables = self._mapping(f"{SECTION}.gold", declared.get("gold", {}))
        for name, content in tables.items():
            yield self._suite("gold", name, content, f"{SECTION}.gold.{name}")

    def _suite(
        self, layer: SuiteLayer, table: str | None, content: object, place: str
    ) -> DeclaredSuite:
        parts = self._mapping(place, content)
        self._refuse_unknown(place, parts, _SUITE)
        found = [*self._entries(parts.get("table", []), None, f"{place}.table")]
        columns = self._mapping(f"{place}.columns", parts.get("columns", {}))
        for name, entries in columns.items():
            found += self._entries(entries, name, f"{place}.columns.{name}")
        names = check_names([(kind, column) for kind, column, _, _ in found])
        made = [self._expectation(name, one) for name, one in zip(names, found, strict=True)]
        return DeclaredSuite(layer, table, made, self.file)

    def _entries(self, entries: object, column: str | None, place: str) -> Iterator[_Entry]:
        if not isinstance(entries, list) or not (entries or column is None):
            raise self.misdeclared(place, f"must be a list of expectations, found {entries!r}")
        for number, one in enumerate(entries):
            at = f"{place}.{number}"
            if isinstance(one, str):
                yield one, column, {}, at
            elif isinstance(one, dict) and len(one) == 1:
                ((kind, arguments),) = one.items()
                yield kind, column, self._mapping(f"{at}.{kind}", arguments or {}), f"{at}.{kind}"
            else:
                raise self.misdeclared(at, f"{_SHAPE}, found {one!r}")

    def _expectation(self, name: str, entry: _Entry) -> DeclaredExpectation:
        kind, column, given, place = entry
        arguments = {key: value for key, value in given.items() if key != "severity"}
        if column is not None and "column" in arguments:
            fault = f"is said already: it stands under the column {column}"
            raise self.misdeclared(f"{place}.column", fault)
        severities: tuple[ExpectationSeverity, ...] = get_args(ExpectationSeverity)
        for severity in severities:
            if given.get("severity", "warn") == severity:
                return DeclaredExpectation(name, kind, column, arguments, severity, place)
        fault = f"must be {' or '.join(severities)}, found {given['severity']!r}"
        raise self.misdeclared(f"{place}.severity", fault)

    def _mapping(self, place: str, content: object) -> dict[str, object]:
        if not isinstance(content, dict):
            fault = f"must be a mapping, with keys of its own, found {content!r}"
            raise self.misdeclared(place, fault)
        return content

    def _refuse_unknown(self, place: str, given: Collection[str], known: Sequence[str]) -> None:
        for name in given:
            if name not in known:
                fault = f"is not a known key{did_you_mean(name, known)}"
                raise self.misdeclared(f"{place}.{name}", fault, known)


def check_suites(feed: Feed, misdeclared: Misdeclared) -> None:
    """Refuse expectations of tables and columns that the feed does not declare.

    Raises:
        FeedMisdeclared: there is one.
    """
    for suite in feed.suites:
        place = f"{SECTION}.{suite.layer}"
        if suite.table is not None and suite.table not in feed.tables:
            fault = f"is no declared table{did_you_mean(suite.table, feed.tables)}"
            raise misdeclared(f"{place}.{suite.table}", fault, [*feed.tables])
        columns = _columns(feed, suite)
        for one in suite.expectations:
            for unknown in _unknown_columns(one, columns, misdeclared):
                raise unknown


def _columns(feed: Feed, suite: DeclaredSuite) -> Sequence[str] | None:
    """The columns of the suite's table; None where it may have others, too."""
    if suite.table is None:
        return CHANGE.names
    table: Table = feed.tables[suite.table]
    if table.policies.add_column == "evolve":
        return None
    own = () if table.key else (gold.KEY, gold.COPY)
    return [*table.columns, gold.LOG_POSITION, gold.EVENT_ID, gold.EVENT_AT, gold.RESET, *own]


def _unknown_columns(
    one: DeclaredExpectation, columns: Sequence[str] | None, misdeclared: Misdeclared
) -> Iterator[FeedMisdeclared]:
    if one.kind == "expect_column_to_exist":
        return
    named = [one.column, *(one.arguments.get(name) for name in ("column", "column_A", "column_B"))]
    listed = one.arguments.get("column_list")
    named += listed if isinstance(listed, list) else []
    for name in named:
        if name is not None and columns is not None and name not in columns:
            fault = f"{name!r} is no column of the table{did_you_mean(str(name), columns)}"
            yield misdeclared(one.key, fault, columns)

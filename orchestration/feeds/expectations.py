"""``expectations`` of a feed file: what Great Expectations is to ask of its tables in silver and gold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, get_args

from assets.columns import layers
from orchestration.feeds.faults import InvalidKey
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
from transforms.near_names import did_you_mean

SECTION: Final = "expectations"
_SUITE: Final = ("table", "columns")
_SHAPE: Final = (
    "must be an expectation's name, or its name with its arguments, such as"
    " {expect_column_values_to_be_between: {min_value: 0}}"
)
_Entry = tuple[str, str | None, dict[str, object], str]
"""One entry before it has a check's name: kind, column, arguments, and where it stands."""


def suites_from(declared: Mapping[str, object], file: str) -> tuple[DeclaredSuite, ...]:
    """The section as suites; tables and columns are not looked up yet (``check_suites``)."""
    layers: tuple[SuiteLayer, ...] = get_args(SuiteLayer)
    _refuse_unknown(SECTION, declared, layers)
    suites = []
    if "silver" in declared:
        suites.append(_suite("silver", None, declared["silver"], file))
    tables = _mapping(f"{SECTION}.gold", declared.get("gold", {}))
    return (*suites, *(_suite("gold", name, content, file) for name, content in tables.items()))


def _suite(layer: SuiteLayer, table: str | None, content: object, file: str) -> DeclaredSuite:
    key = f"{SECTION}.{layer}" + ("" if table is None else f".{table}")
    parts = _mapping(key, content)
    _refuse_unknown(key, parts, _SUITE)
    found = [*_entries(parts.get("table", []), None, f"{key}.table")]
    columns = _mapping(f"{key}.columns", parts.get("columns", {}))
    for name, entries in columns.items():
        found += _entries(entries, name, f"{key}.columns.{name}")
    names = check_names([(kind, column) for kind, column, _, _ in found])
    made = [_expectation(name, one) for name, one in zip(names, found, strict=True)]
    return DeclaredSuite(layer, table, made, file)


def _entries(entries: object, column: str | None, key: str) -> Iterator[_Entry]:
    if not isinstance(entries, list) or not (entries or column is None):
        raise InvalidKey(key, f"must be a list of expectations, found {entries!r}")
    for number, one in enumerate(entries):
        at = f"{key}.{number}"
        if isinstance(one, str):
            yield one, column, {}, at
        elif isinstance(one, dict) and len(one) == 1:
            ((kind, arguments),) = one.items()
            yield kind, column, _mapping(f"{at}.{kind}", arguments or {}), f"{at}.{kind}"
        else:
            raise InvalidKey(at, f"{_SHAPE}, found {one!r}")


def _expectation(name: str, entry: _Entry) -> DeclaredExpectation:
    kind, column, given, key = entry
    arguments = {key: value for key, value in given.items() if key != "severity"}
    if column is not None and "column" in arguments:
        raise InvalidKey(f"{key}.column", f"is said already: it stands under the column {column}")
    severities: tuple[ExpectationSeverity, ...] = get_args(ExpectationSeverity)
    for severity in severities:
        if given.get("severity", "warn") == severity:
            return DeclaredExpectation(name, kind, column, arguments, severity, key)
    fault = f"must be {' or '.join(severities)}, found {given['severity']!r}"
    raise InvalidKey(f"{key}.severity", fault)


def _mapping(key: str, content: object) -> dict[str, object]:
    if not isinstance(content, dict):
        raise InvalidKey(key, f"must be a mapping, with keys of its own, found {content!r}")
    return content


def _refuse_unknown(key: str, given: Collection[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidKey(
                f"{key}.{name}", f"is not a known key{did_you_mean(name, known)}", known
            )


def check_suites(feed: Feed) -> None:
    """Refuse expectations of tables and columns that the feed does not declare."""
    for suite in feed.suites:
        if suite.table is not None and suite.table not in feed.tables:
            fault = f"is no declared table{did_you_mean(suite.table, feed.tables)}"
            raise InvalidKey(f"{SECTION}.{suite.layer}.{suite.table}", fault, [*feed.tables])
        columns = _columns(feed, suite)
        for one in suite.expectations:
            if columns is not None and one.kind != "expect_column_to_exist":
                _check_columns(one, columns)


def _columns(feed: Feed, suite: DeclaredSuite) -> Sequence[str] | None:
    """The columns of the suite's table; None where it may have others, too."""
    if suite.table is None:
        return [*layers.Silver.sentences]
    table: Table = feed.tables[suite.table]
    if table.policies.add_column == "evolve":
        return None
    own = () if table.key else (gold.KEY, gold.COPY)
    return [*table.columns, gold.LOG_POSITION, gold.EVENT_ID, gold.EVENT_AT, gold.RESET, *own]


def _check_columns(one: DeclaredExpectation, columns: Sequence[str]) -> None:
    named = [one.column, *(one.arguments.get(name) for name in ("column", "column_A", "column_B"))]
    listed = one.arguments.get("column_list")
    named += listed if isinstance(listed, list) else []
    for name in named:
        if name is not None and name not in columns:
            fault = f"{name!r} is no column of the table{did_you_mean(str(name), columns)}"
            raise InvalidKey(one.key, fault, columns)

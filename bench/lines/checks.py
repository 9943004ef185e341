"""The checks of a window beside the window itself: which share of its time they take.

Built-in rules are counted in the passes that write the tables, so that only judging and keeping them shows here. A
feed of the bench declares six expectations besides, five of gold and one of silver, which Great Expectations asks of
what the window has written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import dagster as dg

from assets.bronze import from_objects
from assets.gold import apply
from assets.gold.checks import check_specs, checked
from assets.silver import derive
from assets.silver.asset import silver_checked
from assets.storage.lake import Lake
from bench.aims import WINDOW
from bench.lines.appliers import WINDOWS, feed_of
from bench.made import drops, row
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from expectations import suites as gx
from transforms.feed.feed import DeclaredExpectation, DeclaredSuite, Feed

TABLE = row.table("item")


def line_of_checks(work: Workspace, sizes: Sizes) -> Line:
    """All checks of a window, and the window itself from landing to gold, without them."""
    landing = work.folder / "checked_landing"
    changes = drawn(rows=max(1, sizes.changes // 2), count=sizes.changes, seed=sizes.seed)
    say(f"writing drops of {sizes.changes:,} changes")
    drops.lay(landing, TABLE.name, changes)
    feed = replace(feed_of(landing, [TABLE]), suites=suites())
    say("importing Great Expectations, which a process does once")
    gx.import_gx()
    say("bringing the window to gold")
    ask_all = asker(work.lake("checked"), feed)

    def whole() -> Prepared:
        lake = work.fresh()
        return lambda: to_gold(lake, feed)

    def only_checks() -> Prepared:
        return partial(ask_all, work.fresh("checked"))

    competitors = {"weir": only_checks, WINDOW: whole}
    return Line("checks of a window", sizes.changes, "events", competitors)


def to_gold(lake: Lake, feed: Feed) -> tuple[derive.Derived, list[apply.TableResult]]:
    """The window from landing to gold, as Weir's assets bring it; with what they count for the checks."""
    from_objects.land(lake, feed, WINDOWS)
    made = derive.derive(lake, feed, WINDOWS)
    return made, apply.apply_tables(lake, feed, [TABLE], WINDOWS)


def asker(lake: Lake, feed: Feed) -> Callable[[Lake], None]:
    """Brings the window to gold; what is returned judges, asks and keeps all its checks in a copy of the warehouse."""
    made, applied = to_gold(lake, feed)
    selected = {dg.AssetCheckKey(one.asset_key, one.name) for one in check_specs(feed, TABLE)}

    def ask_all(copy: Lake) -> None:
        silver_checked(copy, feed, made, WINDOWS)
        for one in applied:
            checked(copy, feed, one, WINDOWS, selected)

    return ask_all


def suites() -> tuple[DeclaredSuite, ...]:
    """Six expectations of the common kinds."""
    gold = [
        _expectation("expect_table_row_count_to_be_between", None, min_value="1"),
        _expectation("expect_column_values_to_not_be_null", "code"),
        _expectation("expect_column_values_to_match_regex", "code", regex="^K[0-9]{10}$"),
        _expectation("expect_column_values_to_be_between", "quantity", min_value="0"),
        _expectation("expect_column_values_to_be_unique", "id"),
    ]
    silver = [_expectation("expect_column_values_to_not_be_null", "event_at")]
    return (
        DeclaredSuite("silver", None, silver, "bench.yaml"),
        DeclaredSuite("gold", TABLE.name, gold, "bench.yaml"),
    )


def _expectation(kind: str, column: str | None, **arguments: str) -> DeclaredExpectation:
    check = f"{kind}__{column}" if column else kind
    return DeclaredExpectation(check, kind, column, arguments, "warn", "expectations")

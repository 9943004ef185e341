"""What is known of a feed is read once, before its windows are derived, and not again while they are."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.control import decisions, progress
from assets.control.decisions import Signature
from assets.executors.choice import IN_PROCESS
from assets.quarantine.records import read_records
from assets.silver import checks, derive
from assets.silver.derive import stored_accounts
from assets.silver.plan import SilverPlan
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed import digest
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed, Table
from transforms.silver.accounting import AccountKey, Accounts

CUSTOMERS = Table(
    "customers",
    ("id",),
    {"id": "int", "name": "string", "email": "string"},
    ("id", "name", "email"),
)
NOON = datetime(2025, 11, 20, 12, tzinfo=UTC)
EARLIER, LATER = "2025-11-20T03", "2025-11-20T04"


class Reads:
    """How often each control table was read, before the plan of the windows was made and afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.while_planning: Counter[str] = Counter()
        self.afterwards: Counter[str] = Counter()
        self.is_planned = False
        read, planned = InProcessTable.read, SilverPlan.read

        def counted(table: InProcessTable, *arguments: Any) -> Any:
            # None of those that records and changes are in.
            if table.name.partition(".")[0] not in ("bronze", "silver", "quarantine", "gold"):
                (self.afterwards if self.is_planned else self.while_planning)[table.name] += 1
            return read(table, *arguments)

        def planning(*arguments: Any) -> SilverPlan:
            found = planned(*arguments)
            self.is_planned = True
            return found

        monkeypatch.setattr(InProcessTable, "read", counted)
        monkeypatch.setattr(SilverPlan, "read", planning)


def derived(
    lake: Lake, feed: Feed, windows: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[derive.Derived, Reads]:
    """What deriving the windows comes to, and the control tables that were read for it."""
    with monkeypatch.context() as patch:
        reads = Reads(patch)
        return derive.derive(lake, feed, windows), reads


def test_the_control_tables_are_read_once_for_the_windows_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, folder = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS), tmp_path / "landing"
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    # An event of a table that nobody declares, and one without its key, so that the report has to look at rows.
    odd = [change("I", 8, after={"id": "1"}, table="owners"), change("I", 9, after={"name": "Bo"})]
    lay(folder, "2025/11/20/03/a.json", drop(change("I", 5, after={"id": "1"}), *odd))
    lay(folder, "2025/11/20/04/b.json", drop(change("D", 6, {"id": "1"}), *odd[1:]))
    from_objects.land(lake, feed, [EARLIER, LATER])
    derive.derive(lake, feed, [EARLIER])
    (one,) = read_records(lake, feed)
    dismissal = Dismissal(
        EARLIER, one.source_location[0], one.source_location[1], (one.source_location[2:],)
    )
    decisions.dismiss(lake, feed, [dismissal], Signature(NOON, "ann", "torn"))

    made, reads = derived(lake, feed, [EARLIER, LATER], monkeypatch)
    assert made.violations["nothing_quarantined"] == 1
    assert made.violations["tables_are_declared"] == 1
    assert made.violations["accounting_is_exact"] == 0
    assert "  owners: " in checks.samples(lake, made.findings)["tables_are_declared"]
    assert set(reads.while_planning.values()) == {1}
    assert {"accounting.zoo", "decisions.zoo"} <= reads.while_planning.keys()
    # Whether the object of the dismissed record has landed again: asked of no run without such a decision.
    assert reads.afterwards == {"ledger.zoo": 1}
    assert "ledger.zoo" not in reads.while_planning


def test_so_are_those_that_tell_of_transactions_over_several_windows(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = root / "tests" / "cases" / "debezium" / "transaction_that_lacks_an_event" / "drop"
    lake = lake_of(str(tmp_path)).by(IN_PROCESS)
    feed = Feed("shop", "debezium", str(case), tables={"customers": CUSTOMERS})
    windows = planning.due(lake, feed).windows
    from_objects.land(lake, feed, windows)
    # Once more: the tables are there, and what they say of these windows is replaced.
    derive.derive(lake, feed, windows)
    made, reads = derived(lake, feed, windows, monkeypatch)
    assert made.violations["every_transaction_is_committed"] == 1
    assert (
        "1 of 2 events seen"
        in checks.samples(lake, made.findings)["every_transaction_is_committed"]
    )
    assert set(reads.while_planning.values()) == {1}
    asked = {"accounting.shop", "landed.shop", "ledger.shop", "transactions.shop"}
    assert asked <= reads.while_planning.keys()
    assert reads.afterwards == {}


def test_the_feed_is_digested_once_for_the_accounts_of_all_its_tables(digested: list[str]) -> None:
    names, windows, accounts = [f"t{number}" for number in range(50)], (EARLIER, LATER), Accounts()
    tables = {name: Table(name, ("id",), {"id": "int"}, ()) for name in names}
    feed = Feed("shop", "arcion_s3_json", "/nowhere", tables=tables)
    for window in windows:
        for name in names:
            key = AccountKey(window, name, f"shop.{name}", name)
            accounts.of[key].count("changes", None, is_first=True)
    rows = stored_accounts(feed, progress.declarations(feed, windows), accounts.rows())
    assert len(rows) == len(windows) * len(names)
    assert len(digested) == 1
    assert {row["declaration"] for row in rows} == {digest.feed_digest(feed, EARLIER)}

"""A morning with the UI, in a real browser on the real daemon: one story, whose steps go on from each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.commands import LONG
from tests.journeys.farm import REPAIRED, WINDOWS, WRONG
from tests.journeys.server import Server

pytestmark = pytest.mark.journey

RUN_PATIENCE = 240_000
"""Milliseconds: the daemon picks a backfill up after some seconds, and its run is a process of its own."""
QUARANTINED = "/assets/silver/farm/farm_silver?view=checks&checkDetail=nothing_quarantined"


def test_from_a_launched_backfill_to_a_repaired_record(server: Server, browser_page: Page) -> None:
    page = browser_page
    shows_the_graph(page)
    launches_three_windows(page)
    finds_the_quarantined_record(page)
    repairs_it(server)
    sees_the_command_s_run_on_the_timeline(page)
    sees_the_check_pass(page)
    opens_data_docs(page)
    opens_the_report(page)


def shows_the_graph(page: Page) -> None:
    page.goto("/locations/weir/asset-groups/farm")
    for title in ("farm_landing", "farm_bronze", "farm_silver", "farm_quarantine", "sheep"):
        expect(page.get_by_text(title, exact=True).first).to_be_visible()


def launches_three_windows(page: Page) -> None:
    """By the button of the graph; the backfill's own page says when it is over, and gold's which windows it has."""
    page.get_by_text("Materialize all").first.click()
    dialog = page.get_by_role("dialog")
    # The drops are older than the 90 days that Dagster offers at first.
    dialog.get_by_text("Show all partitions").click()
    chosen = dialog.get_by_role("textbox").first
    chosen.fill(f"[{WINDOWS[0]}...{WINDOWS[-1]}]")
    chosen.press("Enter")
    expect(dialog.get_by_text("3 partitions", exact=True).first).to_be_visible()
    dialog.get_by_text("Launch backfill").click()
    page.get_by_text("View", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs/b/\w+"))
    of_each = page.get_by_text("100% completed", exact=True)
    expect(of_each).to_have_count(4, timeout=RUN_PATIENCE)
    page.goto("/assets/gold/farm/sheep?view=partitions")
    expect(page.get_by_text("Materialized (3)")).to_be_visible()
    expect(page.get_by_text("Failed (0)")).to_be_visible()


def finds_the_quarantined_record(page: Page) -> None:
    page.goto(QUARANTINED)
    expect(page.get_by_text("1 time not so").first).to_be_visible()
    found = f"weight is {WRONG}, which is no decimal(6,2)"
    expect(page.get_by_text("2025-11-20/05/part_1.json line 1").first).to_be_visible()
    expect(page.get_by_text(found).first).to_be_visible()
    expect(page.get_by_text("weir quarantine export farm").first).to_be_visible()


def repairs_it(server: Server) -> None:
    """It is written out, edited as in an editor, and given back: its window is run again."""
    weir(server, "quarantine", "export", "farm", "--to", "repair")
    (file,) = (
        one for one in (folder_of(server) / "repair").iterdir() if one.stem != "source_locations"
    )
    assert WRONG in file.read_text()
    file.write_text(file.read_text().replace(WRONG, REPAIRED))
    printed = weir(
        server, "quarantine", "replay", "farm", "repair", "--reason", "words are no kilos"
    )
    assert "farm: repaired: " in printed


def sees_the_command_s_run_on_the_timeline(page: Page) -> None:
    page.goto("/overview")
    expect(page.get_by_text("farm_to_gold", exact=True).first).to_be_visible()


def sees_the_check_pass(page: Page) -> None:
    page.goto(QUARANTINED)
    expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible()
    expect(page.get_by_text("1 time not so")).to_have_count(0)


def opens_data_docs(page: Page) -> None:
    """By the link of the check: the page of its result, and from there the index of all results."""
    docs = opened_by(page, "/weir/data_docs/farm/validations/")
    expect(docs.get_by_text("Expectation Validation Result")).to_be_visible()
    expect(docs.get_by_text("nothing_quarantined: Every record").first).to_be_visible()
    expect(docs.get_by_text(WRONG)).to_have_count(0)
    docs.get_by_role("link", name="Home").click()
    for table in ("silver.farm", "gold.farm.sheep"):
        expect(docs.get_by_role("link", name=table, exact=True).first).to_be_visible()
    # As the backfill left it, and as it is now: icons, of which the page has the words.
    for icon in (".ge-failed-icon", ".ge-success-icon"):
        expect(docs.locator(icon).first).to_be_visible()
    docs.close()


def opens_the_report(page: Page) -> None:
    """By the link of its asset: all three windows, and no record in quarantine any more."""
    page.goto("/assets/report/farm/farm_report")
    report = opened_by(page, "/weir/reports/farm.html")
    expect(report.get_by_role("heading", name="farm", exact=True)).to_be_visible()
    for title in ("What became of the events", "Lag", "Growth of gold"):
        expect(report.get_by_role("heading", name=title)).to_be_visible()
    expect(report.get_by_text(WINDOWS[-1], exact=True).first).to_be_visible()
    # Three events and three changes: none is in quarantine any more.
    expect(report.get_by_role("row", name="sheep 3 3", exact=True)).to_be_visible()


def opened_by(page: Page, link: str) -> Page:
    """The page that opens beside Dagster's by a link with these words in it."""
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=link).first.click()
    return opened.value


def folder_of(server: Server) -> Path:
    return server.home.parent


def weir(server: Server, *words: str) -> str:
    """What a command prints that is typed beside the feed files, with the history that the UI shows."""
    done = subprocess.run(
        [sys.executable, "-m", "orchestration.cli.main", *words],
        cwd=folder_of(server),
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "DAGSTER_HOME": str(server.home),
            "WEIR_SPARK_DRIVER_MEMORY": "1g",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout

"""What each command of ``weir`` does; ``cli`` only reads its arguments.

Kept apart so that ``weir --help`` need not import Spark and Dagster.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from assets.compaction import compact_feed
from orchestration import planning, querying, running, summary
from orchestration.console import say
from orchestration.feed_files import load_feeds
from orchestration.java import check_java
from orchestration.resources import ROOT, lake_of
from orchestration.spark import warehouse_uri
from transforms.errors import FeedMisdeclared
from transforms.feed import Feed
from transforms.table_names import gold_name


def run(feeds: Path, warehouse: str, only: Sequence[str], windows: str | None) -> int:
    """Run what is new, or the windows asked for; returns the exit code."""
    check_java()
    chosen = choose(feeds, only)
    lake = lake_of(warehouse_uri(warehouse))
    say(f"starting Spark; tables go to {lake.warehouse}")
    plans = [
        planning.asked(feed, windows) if windows else planning.due(lake, feed) for feed in chosen
    ]
    for plan in plans:
        report_waiting(plan)
    plans = [plan for plan in plans if plan.windows]
    console = Console(width=None if sys.stdout.isatty() else 120)
    if not plans:
        console.print("Nothing new: every drop in the landing is in gold already.")
        return 0
    outcomes = running.run(plans, lake)
    summary.show(outcomes, console)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def choose(feeds: Path, only: Sequence[str]) -> list[Feed]:
    """The feeds of a folder, or those named."""
    found = load_feeds(feeds.expanduser().resolve())
    known = {feed.name: feed for feed in found}
    for name in only:
        if name not in known:
            raise FeedMisdeclared(
                str(feeds), f"--feed {name}", "there is no such feed here", sorted(known)
            )
    return [known[name] for name in only] if only else found


def report_waiting(plan: planning.Plan) -> None:
    """Say which objects are not read and why: nothing is left out in silence."""
    if plan.early:
        say(
            f"{plan.feed.name}: {len(plan.early)} windows have not begun and wait: {', '.join(plan.early[:5])}"
        )
    if plan.left_out:
        say(
            f"{plan.feed.name}: {len(plan.left_out)} objects are no drops of this feed: {'; '.join(plan.left_out[:5])}"
        )


def query(sql: str, warehouse: str, style: str) -> None:
    """Print what a statement gives."""
    check_java()
    lake = lake_of(warehouse_uri(warehouse))
    querying.show(querying.query(lake, sql), style, sys.stdout)


def compact(feeds: Path, warehouse: str, only: Sequence[str], dry_run: bool) -> None:
    """Compact every gold table and say what was kept and dropped."""
    check_java()
    lake = lake_of(warehouse_uri(warehouse))
    for feed in choose(feeds, only):
        names = {gold_name(table.name, feed.table_names): table for table in feed.tables.values()}
        for done in compact_feed(lake, feed, names, dry_run=dry_run):
            verb = "would drop" if dry_run else "dropped"
            print(
                f"gold.{feed.name}.{done.table}: {verb} {done.idle} tombstones whose key is back, "
                f"kept {done.kept} whose key is absent; files {done.files_before} -> {done.files_after}"
            )


def demo(folder: Path) -> int:
    """Lay out the sample drops under ``folder/landing`` and run them; returns the exit code."""
    check_java()
    folder = folder.resolve()
    laid_out = 0
    for source in sorted((ROOT / "demo").rglob("*")):
        target = folder / "landing" / source.relative_to(ROOT / "demo")
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            laid_out += 1
    say(f"laid out {laid_out} sample drops in {folder / 'landing'}")
    code = run(
        ROOT / "feeds", os.environ.get("WEIR_WAREHOUSE", str(folder / "warehouse")), (), None
    )
    if code == 0:
        print(NEXT)
    return code


NEXT = """\
Try next:
  .venv/bin/weir query "SELECT * FROM gold.shop.customers ORDER BY id"
  .venv/bin/weir query "SELECT table, reason, detail, object, line FROM quarantine.shop"
  make ui     # the same runs in Dagster, on 127.0.0.1:3000
  docs/arcion_s3.md says how to point Weir at your own drops"""

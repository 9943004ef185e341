"""What each command of ``weir`` does; ``cli`` only reads its arguments.

Kept apart so that ``weir --help`` need not import Spark and Dagster.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from assets import partitions
from assets.bookkeeping import bronze_ledger
from assets.lake import Lake
from assets.wording import counted
from orchestration import planning, querying, quickly, running, spark, summary
from orchestration.console import complain, say, waiting, without_notices
from orchestration.feed_files import load_feeds
from orchestration.java import check_java
from orchestration.resources import ROOT, lake_of
from orchestration.spark import warehouse_uri
from orchestration.warehouse import refuse_unreachable
from transforms.errors import FeedMisdeclared
from transforms.feed import Feed


def run(feeds: Path, warehouse: str, only: Sequence[str], windows: str | None) -> int:
    """Run what is new, or the windows asked for; returns the exit code."""
    check_java()
    chosen = choose(feeds, only)
    # Before Spark starts: a range that is none is said at once.
    asked = [planning.asked(feed, windows) for feed in chosen] if windows else None
    lake = reached(warehouse, chosen)
    plans, faults = (asked, 0) if asked is not None else due(lake, chosen)
    for plan in plans:
        report_waiting(plan)
    work = [plan for plan in plans if plan.windows]
    if not work:
        print(nothing_to_do(plans), end="")
        return 2 if faults else 0
    # A run of a few small drops needs no Spark. Where one does, the steps' own lines say how long they wait for it.
    say(f"the tables are in {lake.warehouse}")
    console = Console(width=None if sys.stdout.isatty() else 120)

    def rest(plan: planning.Plan) -> planning.Plan:
        left = planning.rest(lake, plan)
        report_waiting(left, [*plan.early, *plan.ancient])
        return left

    with waiting("starting"):
        outcomes = running.run(work, lake, None if asked else rest)
    summary.show(outcomes, console)
    if any(outcome.failed for outcome in outcomes):
        return 1
    return 2 if faults else 0


def due(lake: Lake, feeds: Sequence[Feed]) -> tuple[list[planning.Plan], int]:
    """What is new in each feed, and how many feeds could not say: one that cannot be read stops no other."""

    def plan(feed: Feed) -> planning.Plan | Exception:
        try:
            # So that a ledger that was lost, or that no earlier version had, is made once and not by every plan.
            bronze_ledger.catch_up(lake, feed)
            return planning.due(lake, feed)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            return fault

    with waiting("looking for new drops"), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(plan, feeds))
    for feed, one in zip(feeds, found, strict=True):
        if isinstance(one, Exception):
            complain(feed.name, one)
    plans = [one for one in found if isinstance(one, planning.Plan)]
    return plans, len(found) - len(plans)


def nothing_to_do(plans: Sequence[planning.Plan]) -> str:
    """Why there is nothing to do: every drop is in gold already, or there is none yet."""
    empty = [plan.feed for plan in plans if not plan.landed]
    lines = [f"{feed.name}: no drops in {feed.landing} yet." for feed in empty]
    waiting_only = any(plan.early or plan.undecided for plan in plans)
    if len(empty) < len(plans):
        rest = ", but for those that wait" if waiting_only else ""
        lines.append(f"Nothing new: every drop in the landing is in gold already{rest}.")
    return "".join(f"{line}\n" for line in lines)


def opened(warehouse: str, feeds: Sequence[Feed] = ()) -> Lake:
    """The warehouse, with its session started."""
    lake = reached(warehouse, feeds)
    start(lake)
    return lake


def reached(warehouse: str, feeds: Sequence[Feed] = ()) -> Lake:
    """The warehouse, with a session for these feeds that is not started yet: planning needs none."""
    refuse_unreachable(warehouse_uri(warehouse))
    spark.starting = told_of_spark
    return quickly.fitted(lake_of(warehouse_uri(warehouse)), feeds)


def start(lake: Lake) -> None:
    """Start the session, and say so."""
    say(f"the tables are in {lake.warehouse}")
    with waiting("starting Spark"):
        _ = lake.spark


@contextmanager
def told_of_spark() -> Iterator[None]:
    """Around the start of a session: it takes seconds, and Java says things that help nobody."""
    say("starting Spark")
    with without_notices():
        yield


def choose(feeds: Path, only: Sequence[str]) -> list[Feed]:
    """The feeds of a folder, or those named."""
    folder = feeds.expanduser().resolve()
    found = load_feeds(folder)
    if not found:
        raise FeedMisdeclared(
            str(folder), "the feeds", "there is no feed file here; write <feed>.yaml"
        )
    known = {feed.name: feed for feed in found}
    for name in only:
        if name not in known:
            raise FeedMisdeclared(
                str(feeds), f"--feed {name}", "there is no such feed here", sorted(known)
            )
    return [known[name] for name in only] if only else found


def report_waiting(plan: planning.Plan, said: Sequence[str] = ()) -> None:
    """Say which objects are not read and why: nothing is left out in silence; ``said`` are windows told of before."""
    name = plan.feed.name
    early, ancient = (
        [one for one in windows if one not in said] for windows in (plan.early, plan.ancient)
    )
    if early:
        say(
            f"{name}: {counted(len(early), 'window')} not begun yet, so their drops wait: {some(early)}"
        )
    if ancient:
        first = f"{partitions.FIRST:%Y-%m-%d}"
        say(f"{name}: drops whose paths name windows before {first} are left out: {some(ancient)}")
    for line in plan.undecided:
        say(f"{name}: {line}")
    if plan.left_out:
        say(f"{name}: objects that are no drops of this feed: {some(plan.left_out)}")


def some(texts: Sequence[str]) -> str:
    """The first five, and that there are more."""
    return "; ".join(texts[:5]) + ("; …" if len(texts) > 5 else "")


def query(sql: str, warehouse: str, style: str) -> None:
    """Print what a statement gives."""
    check_java()
    # Before Spark starts: what is no statement is said at once.
    querying.parsed(sql)
    lake = opened(warehouse)
    with waiting("reading"):
        querying.show(querying.query(lake, sql), style, sys.stdout)


def demo(folder: Path) -> int:
    """Lay out the sample drops and their feeds in ``folder`` and run them; returns the exit code."""
    check_java()
    folder = folder.resolve()
    drops = lay_out(ROOT / "demo", folder / "landing")
    lay_out(ROOT / "feeds", folder / "feeds")
    there = f"laid out {drops} sample drops in" if drops else "the sample drops are in"
    say(f"{there} {folder / 'landing'}")
    warehouse = os.environ.get("WEIR_WAREHOUSE", str(folder / "warehouse"))
    code = run(folder / "feeds", warehouse, (), None)
    if code == 0:
        print(what_next(warehouse))
    return code


def lay_out(source: Path, target: Path) -> int:
    """Copy every file that is not there yet; returns how many."""
    copied = 0
    for file in sorted(source.rglob("*")):
        copy = target / file.relative_to(source)
        if file.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copied += 1
    return copied


def what_next(warehouse: str) -> str:
    """Commands that can be copied from the terminal as they are."""
    program = ".venv/bin/weir" if Path(".venv/bin/weir").exists() else "weir"
    is_default = Path(warehouse) == Path("warehouse").resolve() or "WEIR_WAREHOUSE" in os.environ
    where = "" if is_default else f" --warehouse {shlex.quote(warehouse)}"
    return NEXT.format(query=f"{program} query{where}")


NEXT = """\
Try next:
  {query} "SELECT * FROM gold.shop.customers ORDER BY id"
  {query} "SELECT table, reason, detail, object, line FROM quarantine.shop"
  make ui     # the same runs in Dagster, on 127.0.0.1:3000
  README.md, "Sources", says how to point Weir at your own drops"""

"""``weir run``: brings what is new, or the windows asked for, to gold, and names what it does not read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import click

from assets.control import ledger
from assets.storage.lake import Lake, Layer
from assets.wording import counted, nothing_landed
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer
from orchestration.cli.options import JSON, Place, in_place_by, of_feeds
from orchestration.cli.session import some
from orchestration.console import say, waiting
from orchestration.runs import planning, waiting_tables
from orchestration.runs.planning import AskedWindows, RunPlan
from orchestration.spark.java import check_java
from transforms.feed.feed import Feed
from transforms.feed.windows import first_of, window_at


@click.command("run")
@in_place_by
@of_feeds
@click.option(
    "--windows",
    metavar="WINDOWS",
    help="Only these windows: 2026-11-20T03, a day 2026-11-20 (of an hourly feed all its hours), a range"
    " 2026-11-18..2026-11-20 with both ends included; or, of those that have drops, an open range 2026-11-18.. or"
    " ..2026-11-20, 'last 12h' or 'last 3d', counted back from now. All in UTC.",
)
@JSON
def run_command(place: Place, only: tuple[str, ...], windows: str | None, as_json: bool) -> None:
    """Bring the landing to bronze, silver and gold: the windows with new drops, or those that you name.

    Exits with 0 also where records were quarantined: they are counted and shown. Exits with 1 if a blocking check or a
    step fails, and with 2 if the command or a feed file is wrong, or a landing cannot be read.
    """
    sys.exit(run(place, only, windows, as_json))


def run(place: Place, only: Sequence[str], windows: str | None, as_json: bool = False) -> int:
    """Run what is new, or the windows asked for; with ``as_json``, the summary is one document for programs.

    Returns the exit code: 0, 1 where a step or a blocking check failed, 2 where a feed could not be planned.
    """
    answer = CommandAnswer(as_json)
    check_java()
    chosen = session.choose(place.feeds, only)
    # Before Spark starts, so that a person who mistypes need not wait for it.
    asked = None
    if windows is not None:
        asked = {feed.name: planning.asked(feed, windows) for feed in chosen}
    lake = session.reached(place.warehouse, chosen, place.executor)
    plans, faults = catch_up_and_plan(lake, chosen, answer, asked)
    for plan in plans:
        report_waiting(plan)
        add_plan(answer, plan)
    work = [plan for plan in plans if plan.windows]
    failed = False
    if work:
        # Dagster takes seconds to import: only what is to be run waits for it.
        from orchestration.cli.run_in_dagster import carry_out

        def rest(plan: RunPlan) -> RunPlan:
            left = planning.rest(lake, plan)
            report_waiting(left, [*plan.early, *plan.ancient])
            add_plan(answer, left)
            return left

        failed = carry_out(work, lake, place.feeds, rest, answer)
    else:
        say_nothing_to_do(lake, place, plans, answer, is_all=not faults)
    answer.end()
    return 1 if failed else 2 if faults else 0


def say_nothing_to_do(
    lake: Lake, place: Place, plans: Sequence[RunPlan], answer: CommandAnswer, *, is_all: bool
) -> None:
    """Say of each feed why no run was needed, and what still waits to be declared."""
    answer.lines(nothing_to_do([plan for plan in plans if not is_whole_range(plan)], is_all=is_all))
    for plan in plans:
        lines = [*waiting_tables.still_waiting(lake, plan.feed, place.feeds)]
        for line in lines:
            say(line)
        none_yet = not plan.landed and not is_whole_range(plan)
        notices = [f"no drops in {plan.feed.landing} yet"] if none_yet else []
        answer.of(plan.feed.name)["notices"] = [*notices, *nothing_asked(plan), *lines]


def catch_up_and_plan(
    lake: Lake,
    feeds: Sequence[Feed],
    answer: CommandAnswer | None = None,
    asked: Mapping[str, AskedWindows] | None = None,
) -> tuple[list[RunPlan], int]:
    """Bring the ledgers up to date and plan what is new, or what is asked for of each feed.

    Also returns how many feeds could not be planned: one that cannot be read stops no other.
    """
    answer = answer or CommandAnswer()

    def plan(feed: Feed) -> RunPlan | Exception:
        try:
            finish_erasures(lake, feed, answer)
            # A ledger that was lost is written once here, so that not every plan has to read bronze for it.
            held = ledger.catch_up(lake, feed)
            if asked is not None:
                return planning.of_asked(lake, feed, asked[feed.name])
            return planning.due(lake, feed, held)
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            return fault

    with waiting("looking for new drops"), ThreadPoolExecutor(4) as pool:
        results = list(pool.map(plan, feeds))
    for feed, result in zip(feeds, results, strict=True):
        if isinstance(result, Exception):
            answer.error(feed.name, result)
    plans = [result for result in results if isinstance(result, RunPlan)]
    return plans, len(results) - len(plans)


def finish_erasures(lake: Lake, feed: Feed, answer: CommandAnswer) -> None:
    """Finish the erasures that were interrupted, before anything new is looked for."""
    if not lake.in_process_table(Layer.ERASURES, feed.name).exists:
        return
    # It takes a while to import, and few feeds have ever had an erasure.
    from assets.erasure.erase import finish_interrupted
    from orchestration.observability import erasure_certificate

    done = finish_interrupted(lake, feed, lambda said: say(f"{feed.name}: {said}"))
    if done:
        erasure_certificate.store_missing(lake, feed)
        answer.of(feed.name)["erasures"] = [one.plan.id for one in done]
    for one in done:
        say(f"{feed.name}: erasure {one.plan.id} is finished; `weir erase {feed.name}` lists it")


def is_whole_range(plan: RunPlan) -> bool:
    """Whether a person has named both ends of the windows, whether they have drops or not."""
    return plan.asked is not None and bool(plan.asked.every)


def nothing_to_do(plans: Sequence[RunPlan], *, is_all: bool = True) -> list[str]:
    """Why there is nothing to do, line by line; ``is_all``: whether every feed could be planned."""
    empty = [plan.feed for plan in plans if not plan.landed]
    lines = [f"{feed.name}: no drops in {feed.landing} yet." for feed in empty]
    waiting_only = any(plan.early or plan.undecided for plan in plans)
    read = [plan.feed.name for plan in plans if plan.landed and not plan.asked]
    if read:
        rest = ", except for those that wait" if waiting_only else ""
        where = "" if is_all else f" of {', '.join(read)}"
        lines.append(f"Nothing new{where}: every drop in the landing is in gold already{rest}.")
    return lines


def nothing_asked(plan: RunPlan) -> Iterator[str]:
    """A sentence where none of the windows that were asked for has drops, though others have."""
    if plan.asked and not plan.asked.every and plan.landed and not plan.windows:
        newest = f"; the newest that has is {max(plan.finished)}" if plan.finished else ""
        yield f"no window of {plan.asked.text} has drops{newest}"


def report_waiting(plan: RunPlan, reported: Sequence[str] = ()) -> None:
    """Say which objects are not read and why: nothing is left out in silence.

    Windows in ``reported`` were named before and are not named again.
    """
    name = plan.feed.name
    for line in nothing_asked(plan):
        say(f"{name}: {line}")
    early, ancient = (
        [window for window in windows if window not in reported]
        for windows in (plan.early, plan.ancient)
    )
    if early:
        say(
            f"{name}: {counted(len(early), 'window')} not begun yet, so their drops wait: {some(early)}"
        )
    if ancient:
        first = window_at(first_of(plan.feed), plan.feed.window)
        say(f"{name}: drops whose paths name windows before {first} are left out: {some(ancient)}")
    if plan.out_of_time:
        say(f"{name}: these are {some(plan.out_of_time)}")
    if plan.asked and plan.empty:
        say(f"{name}: {nothing_landed(plan.empty, plan.asked.every)}")
    for line in plan.undecided:
        say(f"{name}: {line}")
    if plan.left_out:
        say(f"{name}: objects that are no drops of this feed: {some(plan.left_out)}")


def add_plan(answer: CommandAnswer, plan: RunPlan) -> None:
    """Note what a feed's plan leaves alone: beside each other those of a run's first plan and of the rest."""
    facts = answer.of(plan.feed.name)
    left_alone = {
        "not_begun": plan.early,
        "before_start": plan.ancient,
        "out_of_time": plan.out_of_time,
        "no_drops": plan.left_out,
        "undecided": plan.undecided,
    }
    waits = facts.setdefault("not_read", {name: [] for name in left_alone})
    assert isinstance(waits, dict)
    for name, texts in left_alone.items():
        waits[name].extend(text for text in texts if text not in waits[name])
    for name in ("windows", "notices"):
        facts.setdefault(name, [])
    for name in ("tables", "executors", "checks"):
        facts.setdefault(name, {})
    if quiet := plan.empty:
        facts["nothing_landed"] = {"first": quiet[0], "last": quiet[-1], "windows": len(quiet)}

"""``weir verify``: gold made again from bronze in another order, compared, and each table's certificate."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from uuid import uuid4

import click

from assets.audit.verify import Certificate, NotProved, Shuffled, certificates, make_again, shuffle
from assets.control import decisions, discovered_tables, ledger, progress
from assets.gold import tables as gold_tables
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli.answer import CommandAnswer, Facts
from orchestration.cli.options import JSON, Place, in_place_by, of_feeds
from orchestration.cli.session import opened_feeds, some
from orchestration.console import say, waiting
from orchestration.spark.settings import warehouse_uri
from transforms.feed.feed import Feed
from transforms.silver.discovered_tables import stopped_in_words


@click.command("verify")
@in_place_by
@of_feeds
@click.option(
    "--scratch",
    metavar="DIR-or-URI",
    help="Where the second gold is made. By default a temporary folder, which is removed afterwards.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Another number gives another order."
)
@JSON
def verify_command(
    place: Place, only: tuple[str, ...], scratch: str | None, seed: int, as_json: bool
) -> None:
    """Prove gold: make it again from bronze in another order, and compare it row by row.

    Bronze's records are shuffled over other windows (they stay in their own where the feed has epochs or columns with a
    `since`), some of them twice, and the windows are run in another order. This needs about as much time and room as
    bringing all of bronze to gold again. Exits with 0 if every row is the same, with 1 if any differs, and with 2 if
    something cannot be proved now.
    """
    answer = CommandAnswer(as_json)
    chosen, lake = opened_feeds(place, only)
    codes = []
    for feed in chosen:
        try:
            codes.append(verify_one(lake, feed, scratch, seed, answer))
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            answer.error(feed.name, fault)
            codes.append(2)
    answer.end()
    sys.exit(1 if 1 in codes else max(codes, default=0))


def verify_one(
    lake: Lake, feed: Feed, scratch: str | None, seed: int, answer: CommandAnswer
) -> int:
    """Prove one feed's gold in a temporary warehouse, or in ``scratch``; returns the exit code for it."""
    if reason := not_yet(lake, feed):
        answer.line(f"{feed.name}: not proved: {reason}")
        answer.fail(feed.name, [f"not proved: {reason}"])
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="weir-verify-") as folder,
        waiting(f"proving {feed.name}"),
    ):
        # A place of its own, whatever earlier proofs have left in the same scratch.
        place = f"{warehouse_uri(scratch or folder)}/proof-{uuid4().hex[:12]}"
        return prove(lake, lake.with_warehouse(place), feed, seed, answer)


def not_yet(lake: Lake, feed: Feed) -> str | None:
    """Why a feed's gold cannot be proved now; None where it can."""
    known = ledger.read_objects(lake, feed)
    if not known:
        return "nothing has landed in bronze yet; `weir run` first"
    if windows := progress.unfinished(lake, feed, known):
        return (
            f"{counted(len(windows), 'window')} not in gold yet ({some(windows)}); `weir run` first"
        )
    return None


def prove(
    lake: Lake, scratch: Lake, feed: Feed, seed: int, answer: CommandAnswer | None = None
) -> int:
    """Make one feed's gold again in the scratch warehouse, with a certificate per table; returns the exit code."""
    answer = answer or CommandAnswer()
    feed = decisions.with_recorded(lake, feed)
    say(f"{feed.name}: shuffling bronze's records (seed {seed})")
    shuffled = shuffle(lake, scratch, feed, seed)
    say(f"{feed.name}: making gold again from {counted(shuffled.records, 'record')}")
    faults = make_again(lake, scratch, feed, shuffled.runs)
    answer.line(heading(feed, shuffled, seed))
    tables = gold_tables.mirrors(lake, feed)
    differs, not_proved = False, 0
    proofs: list[Facts] = []
    facts = {"seed": seed, "records": shuffled.records, "repeated": shuffled.repeated}
    answer.of(feed.name).update(**facts, runs=len(shuffled.runs), tables=proofs)
    for certificate in certificates((lake, scratch), feed, tables, faults):
        proofs.append(proof_facts(certificate))
        if isinstance(certificate, NotProved):
            not_proved += 1
            name = f"gold.{feed.name}.{certificate.table}"
            answer.line(f"  not proved: {name}: {certificate.reason}")
        else:
            differs = differs or bool(certificate.differing)
            answer.lines(certificate_lines(feed, certificate))
    stopped = stopped_in_words(discovered_tables.made_and_stopped(lake, feed).stopped)
    for line in stopped:
        answer.line(f"  not proved, because gold cannot be made: {line}")
    if differs or stopped or not_proved:
        answer.fail(feed.name, [f"gold cannot be made: {line}" for line in stopped])
    if differs:
        return 1
    return 2 if stopped or not_proved else 0


def proof_facts(found: Certificate | NotProved) -> Facts:
    """A table's certificate for programs, or why there is none."""
    if isinstance(found, NotProved):
        return {"table": found.table, "state": "not proved", "reason": found.reason}
    state = "differs" if found.differing else "proved"
    facts = asdict(found)
    return {"table": facts.pop("table"), "state": state, **facts}


def heading(feed: Feed, shuffled: Shuffled, seed: int) -> str:
    """What was done to prove a feed."""
    where = (
        "in their own windows (the feed has epochs, or columns with a `since`)"
        if shuffled.in_own_windows
        else "shuffled over other windows"
    )
    return (
        f"{feed.name}: {counted(shuffled.records, 'record')} of bronze, {shuffled.repeated:,} of them twice, {where};"
        f" {counted(len(shuffled.runs), 'run')} in another order, the first of them twice (seed {seed})"
    )


def certificate_lines(feed: Feed, certificate: Certificate) -> list[str]:
    """One table's certificate in a line; where keys differ, lines for these and what to do."""
    name = f"gold.{feed.name}.{certificate.table}"
    rows = counted(certificate.rows, "row")
    if not certificate.differing:
        tombstones = counted(certificate.tombstones, "tombstone")
        told = f"{rows} and {tombstones}, the same row for row; digest {certificate.digest[:16]}"
        return [f"  proved   {name}: {told}"]
    lines = [f"  DIFFERS  {name}: {counted(certificate.differing, 'key')} of {rows}:"]
    for difference in certificate.differences:
        if not difference.in_gold:
            what = "gold has no row, and its events make one"
        elif difference.in_proof:
            what = "gold has another row than its events make"
        else:
            what = "gold has a row, and its events make none"
        lines.append(f"    {difference.key}: {what}")
    return [
        *lines,
        f"    `weir explain {feed.name} {certificate.table} <key>` shows the events of a key",
        f"    `weir rebuild {feed.name}` makes the feed's tables again from bronze",
    ]

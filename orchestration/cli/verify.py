"""``weir verify``: gold made anew from bronze in another order, and what the comparison says."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from uuid import uuid4

from assets.audit import shuffle
from assets.audit.comparing import Certificate
from assets.audit.shuffle import Shuffled
from assets.audit.verify import NotProved, certificates, make_again
from assets.bookkeeping import decisions, discovered_tables, ledger
from assets.gold import gold_tables
from assets.lake import Lake
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.session import opened_feeds, some
from orchestration.console import complain, say, waiting
from orchestration.spark.session import warehouse_uri
from transforms.feed.feed import Feed
from transforms.silver.conforming.discovered_tables import stopped_in_words


def verify(place: Place, only: Sequence[str], scratch: str | None, seed: int) -> int:
    """Prove every feed's gold; returns the exit code: 0 proved, 1 a row differs, 2 some cannot be proved now."""
    chosen, lake = opened_feeds(place, only)
    codes = []
    for feed in chosen:
        try:
            codes.append(verify_one(lake, feed, scratch, seed))
        except Exception as fault:  # whatever it is, the other feeds have nothing to do with it
            complain(feed.name, fault)
            codes.append(2)
    return 1 if 1 in codes else max(codes, default=0)


def verify_one(lake: Lake, feed: Feed, scratch: str | None, seed: int) -> int:
    """Prove one feed's gold in a warehouse that is gone afterwards, or in ``scratch``; returns its exit code."""
    if reason := not_yet(lake, feed):
        print(f"{feed.name}: not proved: {reason}", flush=True)
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="weir-verify-") as folder,
        waiting(f"proving {feed.name}"),
    ):
        # A place of its own, whatever earlier proofs have left in the same scratch.
        place = f"{warehouse_uri(scratch or folder)}/proof-{uuid4().hex[:12]}"
        return prove(lake, lake.with_warehouse(place), feed, seed)


def not_yet(lake: Lake, feed: Feed) -> str | None:
    """Why a feed's gold cannot be proved now."""
    known = ledger.read_objects(lake, feed)
    if not known:
        return "nothing has landed in bronze yet; `weir run` first"
    if windows := ledger.unfinished(lake, feed, known):
        return (
            f"{counted(len(windows), 'window')} not in gold yet ({some(windows)}); `weir run` first"
        )
    return None


def prove(lake: Lake, scratch: Lake, feed: Feed, seed: int) -> int:
    """Make one feed's gold anew in the scratch warehouse, and print a certificate per table."""
    feed = decisions.with_recorded(lake, feed)
    say(f"{feed.name}: dealing bronze's records out anew (seed {seed})")
    shuffled = shuffle.shuffle(lake, scratch, feed, seed)
    say(f"{feed.name}: making gold anew from {counted(shuffled.records, 'record')}")
    faults = make_again(lake, scratch, feed, shuffled.runs)
    print(heading(feed, shuffled, seed))
    tables = gold_tables.mirrors(lake, feed)
    found, not_proved = [], 0
    for one in certificates(lake, scratch, feed, tables, faults):
        if isinstance(one, NotProved):
            not_proved += 1
            print(f"  not proved: gold.{feed.name}.{one.table}: {one.reason}", flush=True)
        else:
            found.append(one)
            print(certificate(feed, one), flush=True)
    stopped = discovered_tables.stopped(lake, feed)
    for line in stopped_in_words(stopped):
        print(f"  not proved, since gold stays as it was: {line}", flush=True)
    sys.stdout.flush()
    if any(one.differing for one in found):
        return 1
    return 2 if stopped or not_proved else 0


def heading(feed: Feed, shuffled: Shuffled, seed: int) -> str:
    """What was done to prove a feed."""
    where = (
        "in their own windows (the feed has epochs, or columns with a `since`)"
        if shuffled.in_own_windows
        else "dealt out over other windows"
    )
    return (
        f"{feed.name}: {counted(shuffled.records, 'record')} of bronze, {shuffled.repeated:,} of them twice, {where};"
        f" {counted(len(shuffled.runs), 'run')} in another order, the first of them twice (seed {seed})"
    )


def certificate(feed: Feed, one: Certificate) -> str:
    """One table's certificate, or the keys that differ."""
    name = f"gold.{feed.name}.{one.table}"
    if not one.differing:
        return (
            f"  proved   {name}: {counted(one.rows, 'row')} and {counted(one.tombstones, 'tombstone')}, the same"
            f" row for row; digest {one.digest[:16]}"
        )
    lines = [f"  DIFFERS  {name}: {counted(one.differing, 'key')} of {counted(one.rows, 'row')}:"]
    for difference in one.differences:
        what = (
            "another row in gold than its events make"
            if difference.in_gold and difference.in_proof
            else "in gold, but not by its events"
            if difference.in_gold
            else "not in gold, but by its events"
        )
        lines.append(f"    {difference.key}: {what}")
    lines.append(
        f"    `weir explain {feed.name} {one.table} <key>` shows a key's events; removing the table and running again"
        " makes it anew"
    )
    return "\n".join(lines)

"""``weir epoch``: where a source's positions start again, decided by a person and recorded for good.

Put here what the command records and prints. Not here: what a person may write (``orchestration/feeds/epochs``), and
what an epoch means (``transforms/feed/decisions``).
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime

import click

from assets.bookkeeping import decisions
from assets.bookkeeping.compacted import bases
from assets.gold import epoch_effects
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.console import put, put_json
from orchestration.feeds.epochs import DeclaredEpoch, epoch_from
from orchestration.feeds.misdeclared import Unfit
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Epoch


def open_epoch(
    place: Place,
    name: str,
    declared: DeclaredEpoch,
    reason: str | None,
    *,
    dry_run: bool = False,
    is_sure: bool = False,
) -> None:
    """Say what an epoch does to gold, and record that a feed's positions start again.

    With ``dry_run`` nothing is recorded. A person at a terminal is asked, unless ``is_sure``.

    Raises:
        DecisionRefused: the epoch cannot begin there, or would alter history that is compacted.
    """
    (feed,) = session.choose(place.feeds, [name])
    try:
        epoch = epoch_from(declared, feed.window, feed.tables)
    except Unfit as fault:
        raise DecisionRefused(feed.name, str(fault)) from None
    lake = session.reached(place.warehouse)
    known = decisions.with_recorded(lake, feed)
    if epoch in known.decisions.epochs:
        put(f"{feed.name}: that epoch is open already; nothing was recorded")
        return
    with_it = replace(known.decisions, epochs=(*known.decisions.epochs, epoch))
    facts = bases.compaction_watermark_facts(lake, feed)
    try:
        bases.refuse_altered_past(replace(feed, decisions=with_it), facts)
    except DecisionRefused as fault:
        raise DecisionRefused(
            feed.name, f"{fault.fault}. Nothing was recorded: open the epoch after the rebuild"
        ) from None
    put(f"{feed.name}: {epoch_in_words(epoch)}:")
    for one in epoch_effects.effects_of(lake, known, epoch):
        put(f"  {one.in_words(feed.name, epoch)}")
    if dry_run:
        put("nothing was recorded (--dry-run)")
        return
    is_asked = sys.stdin.isatty() and sys.stdout.isatty() and not is_sure
    if is_asked and not click.confirm("Record this? It is never undone"):
        put("nothing was recorded")
        return
    decisions.open_epoch(lake, feed, epoch, datetime.now(UTC), reason)
    if epoch.time is None:
        put(
            f"{feed.name}: without --time, everything that lands in {epoch.window} or later belongs to the new epoch,"
            " repeats of older events included"
        )
    put(f"{feed.name}: recorded.")
    put(
        f"The windows from {epoch.window} on are due again, and the next run makes gold again from its whole history:"
        f" `weir run --feed {feed.name}`"
    )


def list_epochs(place: Place, name: str, as_json: bool = False) -> None:
    """Print the epochs of a feed, those of its file and the recorded ones."""
    feed, lake = session.reached_feed(place, name)
    recorded = decisions.with_recorded(lake, feed).decisions.epochs
    epochs = sorted(recorded, key=lambda epoch: epoch.window)
    if as_json:
        put_json([asdict(epoch) for epoch in epochs], indent=None)
        return
    if not epochs:
        put(f"{feed.name}: one epoch, from the first window on")
    for epoch in epochs:
        put(f"{feed.name}: {epoch_in_words(epoch)}")


def epoch_in_words(epoch: Epoch) -> str:
    """Where an epoch begins, in a line without an end."""
    of = f"of table {epoch.table}" if epoch.table else "of all tables"
    since = f" for events made at {epoch.time:%Y-%m-%d %H:%M:%S} UTC or later" if epoch.time else ""
    rest = (
        "; its snapshot is complete, so older rows that it does not name are removed"
        if epoch.complete
        else ""
    )
    return f"an epoch {of} from window {epoch.window} on{since}{rest}"

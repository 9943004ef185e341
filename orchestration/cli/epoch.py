"""``weir epoch``: where a source's positions start again, decided by a person and written down for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from assets.bookkeeping import decisions
from assets.bookkeeping.compacted import bases
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.cli.session import choose, opened_feed
from orchestration.feeds.epochs import DeclaredEpoch, UnfitEpoch, epoch_from
from orchestration.spark.java import check_java
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Epoch


def open_epoch(place: Place, name: str, declared: DeclaredEpoch, reason: str | None) -> None:
    """Record that a feed's positions start again, and say what follows."""
    check_java()
    (feed,) = choose(place.feeds, [name])
    try:
        epoch = epoch_from(declared, feed.window, feed.tables)
    except UnfitEpoch as fault:
        raise DecisionRefused(feed.name, str(fault)) from None
    lake = session.opened(place.warehouse, [feed])
    known = decisions.with_recorded(lake, feed)
    if epoch in known.decisions.epochs:
        print(f"{feed.name}: that epoch is open already; nothing was recorded")
        return
    with_it = replace(known.decisions, epochs=(*known.decisions.epochs, epoch))
    try:
        bases.refuse_altered_past(lake, replace(feed, decisions=with_it))
    except DecisionRefused as fault:
        raise DecisionRefused(
            feed.name, f"{fault.fault}. Nothing was recorded: open the epoch after the rebuild"
        ) from None
    decisions.open_epoch(lake, feed, epoch, datetime.now(UTC), reason)
    if epoch.time is None:
        print(
            f"{feed.name}: without --time, all that lands in {epoch.window} or later is of the new epoch, repeats of"
            " older events included"
        )
    print(
        f"{feed.name}: recorded: {told(epoch)}.\n"
        f"The windows from {epoch.window} on are due again, and gold is made anew: `weir run --feed {feed.name}`"
    )


def list_epochs(place: Place, name: str) -> None:
    """Print the epochs of a feed, those of its file and the recorded ones."""
    feed, lake = opened_feed(place, name)
    found = decisions.with_recorded(lake, feed).decisions.epochs
    if not found:
        print(f"{feed.name}: one epoch, from the first window on")
    for epoch in sorted(found, key=lambda one: one.window):
        print(f"{feed.name}: {told(epoch)}")


def told(epoch: Epoch) -> str:
    """An epoch in words."""
    of = f"of table {epoch.table}" if epoch.table else "of all tables"
    since = f" for events made at {epoch.time:%Y-%m-%d %H:%M:%S} UTC or later" if epoch.time else ""
    rest = (
        "; its snapshot is complete, so older rows that it does not name go"
        if epoch.complete
        else ""
    )
    return f"an epoch {of} from window {epoch.window} on{since}{rest}"

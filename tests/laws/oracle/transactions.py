"""Which events count once some windows have been read: those of open transactions wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tests.laws.oracle.event import Event, Transaction, event_id

Window = TypeVar("Window", int, str)


def visible(
    delivered: Mapping[Window, Sequence[Event]], derived_windows: Collection[Window]
) -> list[Event]:
    """The deliveries that count, each at its position; the keys of ``delivered`` are all windows."""
    windows = sorted(delivered)
    seen = {window: delivered[window] for window in windows if window in derived_windows}
    unread = [window for window in windows if window not in seen]
    rows: dict[str, list[tuple[Window, Event]]] = defaultdict(list)
    for window in seen:
        for event in seen[window]:
            if event.transaction:
                rows[event.transaction.id].append((window, event))

    commits = {transaction: _complete_by(rows[transaction], unread) for transaction in rows}
    counting: list[Event] = []
    for event in [event for events in seen.values() for event in events if not event.is_control]:
        commit = commits[event.transaction.id] if event.transaction else None
        if commit or not event.transaction:
            counting.append(_placed(event, commit))
    return counting


def _complete_by(rows: list[tuple[Window, Event]], unread: list[Window]) -> Event | None:
    """The commit of a transaction of which these rows were seen; None while it is open."""
    events = [event for _, event in rows]
    commits = [event for event in events if event.effect == "commit"]
    if not commits:
        return None
    commit = min(commits, key=lambda event: event.log_position)
    terms = commit.transaction
    assert isinstance(terms, Transaction)
    if terms.expected is not None:
        # A key change is one event, whatever it is split into.
        own = {event_id(event) for event in events if not event.is_control and not event.derived}
        return commit if len(own) >= terms.expected else None
    begun = [window for window, event in rows if event.effect == "begin"]
    ended = [window for window, event in rows if event.effect == "commit"]
    if not terms.has_begin:
        return commit if any(all(w > end for w in unread) for end in ended) else None
    spans = [(min(b, e), max(b, e)) for b in begun for e in ended]
    whole = any(not any(b < w < e for w in unread) for b, e in spans)
    return commit if whole else None


def _placed(event: Event, commit: Event | None) -> Event:
    """The event, at its commit if that is where it takes effect; it stays the same event."""
    if commit is None or event.transaction is None or not event.transaction.at_commit:
        return event
    log_position = (*commit.log_position, *event.log_position)
    return replace(event, log_position=log_position, own_identity=tuple(event.identity))

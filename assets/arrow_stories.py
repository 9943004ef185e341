"""The whole story of a key: all its changes in their order, and which of them the run brings.

Not here: how rows become what is known of a key (``arrow_meetings``), and what is made of its story (``arrow_gold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assets.arrow_meetings import Folding, Meeting
from transforms.gold import key_changes
from transforms.gold.change import Change
from transforms.gold.fold import ABSENT, Fold
from transforms.gold.onto_gold import Current
from transforms.gold.ordering import Counts, in_order, sort_key
from transforms.gold.scopes import Scopes


@dataclass(slots=True)
class News:
    """Which of a key's events the run brings, and which of these came before."""

    new: list[Change] = field(default_factory=list)
    old: set[str] = field(default_factory=set)

    def meet(self, change: Change, *, is_new: bool) -> None:
        """Take note of a delivery."""
        if is_new:
            self.new.append(change)
        else:
            self.old.add(change.event_id)

    @property
    def deliveries(self) -> int:
        """How many events of the key itself the run brings, however often."""
        return sum(not one.is_derived for one in self.new)

    def repeats(self) -> int:
        """How many of the deliveries came before, in this run or in others."""
        seen = set(self.old)
        found = 0
        for one in self.new:
            if not one.is_derived:
                found += one.event_id in seen
                seen.add(one.event_id)
        return found

    def are_late(self, current: Current | None) -> bool:
        """Whether an event that was not known is older than what gold has of the key."""
        last = None if current is None else current.state.last
        return last is not None and any(
            one.stable <= last.position[: one.stable_prefix]
            for one in self.new
            if not one.is_derived and one.event_id not in self.old
        )


@dataclass(frozen=True, slots=True)
class Story:
    """One key: what is known of it, its changes in their order, with those that it takes from other keys filled in."""

    key: Meeting
    changes: Sequence[Change]
    news: News
    counts: Counts
    streams: frozenset[str | None]


def stories(
    folding: Folding, fold: Fold, scopes: Scopes, meetings: Sequence[Meeting]
) -> list[Story]:
    """The stories of keys that are linked, or of one."""
    found = [_story(folding, one, scopes) for one in meetings]
    if not folding.moves:
        return found
    before = {one.key.key: one.key.base for one in found if one.key.base is not ABSENT}
    changes = key_changes.resolved(fold, {one.key.key: one.changes for one in found}, before)
    return [
        Story(one.key, changes[one.key.key], one.news, one.counts, one.streams) for one in found
    ]


def _story(folding: Folding, one: Meeting, scopes: Scopes) -> Story:
    streams: set[str | None] = set(one.base_streams)
    news, counts = News(), Counts()
    found = []
    for change, stream, is_new in one.changes:
        if not change.is_scoped:
            streams.add(stream)
        news.meet(change, is_new=is_new)
        found.append(change)
    scoped = [*scopes.of(one.key, streams)]
    if folding.crossing is not None:
        matching = scopes.matching(one.key)
        scoped += folding.crossing.reaching(matching, [*found], one.places)
    for change in scoped:
        news.meet(change, is_new=not change.is_past)
        found.append(change)
    found.sort(key=sort_key)
    return Story(one, [*in_order(found, counts)], news, counts, frozenset(streams))

"""All changes of a key in their order, scoped ones among them, and which of them the run brings.

Put here what orders and completes a key's changes. Not here: how rows become what is known of a key (``key_groups``),
and what is made of them (``history_fold``, ``base_fold``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assets.arrow.gold.key_groups import Folding, KeyGroup
from transforms.gold import key_changes
from transforms.gold.change import Change
from transforms.gold.delivery_counts import DeliveryCounts
from transforms.gold.fold import Fold
from transforms.gold.ordering import Counts, distinct, merge_sorted
from transforms.gold.scopes import Scopes
from transforms.gold.state import ABSENT


@dataclass(frozen=True, slots=True)
class OrderedChanges:
    """One key: what is known of it, and its changes in order; where a change moves a row here, with that row's values.

    The changes can be taken once; ``deliveries``, ``counts`` and ``streams`` are complete when all of them have been
    taken.
    """

    key: KeyGroup
    changes: Iterator[Change]
    deliveries: DeliveryCounts
    counts: Counts
    streams: set[str | None]


def ordered_changes(
    folding: Folding, fold: Fold, scopes: Scopes, key_groups: Sequence[KeyGroup]
) -> list[OrderedChanges]:
    """The ordered changes of some keys that key changes link, or of a single key."""
    found = [_ordered_changes(folding, one, scopes) for one in key_groups]
    if not folding.moves:
        return found
    before = {one.key.key: one.key.base for one in found if one.key.base is not ABSENT}
    own = {one.key.key: [*one.changes] for one in found}
    resolved = key_changes.resolved(fold, own, before)
    return [replace(one, changes=iter(resolved[one.key.key])) for one in found]


def _ordered_changes(folding: Folding, one: KeyGroup, scopes: Scopes) -> OrderedChanges:
    current = one.current
    deliveries = DeliveryCounts(None if current is None else current.state.last)
    counts, streams = Counts(), set(one.base_streams)

    def own_changes() -> Iterator[Change]:
        for change, stream, is_new in one.changes:
            if not change.is_scoped:
                streams.add(stream)
            deliveries.add(change, is_new=is_new)
            yield change

    own: Iterable[Change] = own_changes()
    matching = [*scopes.matching(one.key)]
    if any(scoped.stream is not None for scoped in matching):
        # Whether they are for the key depends on the streams of all its changes.
        own = [*own]
    scoped = [*scopes.of(one.key, streams)]
    if folding.crossing is not None:
        own = [*own]
        scoped += folding.crossing.for_key(matching, own, one.cross_stream_positions)
    for change in scoped:
        deliveries.add(change, is_new=not change.is_past)
    return OrderedChanges(
        one, distinct(merge_sorted(own, scoped), counts), deliveries, counts, streams
    )

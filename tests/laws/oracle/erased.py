"""What an erasure means for the events of a table, in plain Python: which changes of it never happened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.laws.oracle.event import Event, Key, LogPosition, Table, event_id
from tests.laws.oracle.oracle import changes_of

Reached = Mapping[str | None, LogPosition]
"""The newest position of each stream of a table."""


def reached_by(deliveries: Iterable[Event]) -> Reached:
    """How far each stream had come."""
    found: dict[str | None, LogPosition] = {}
    for event in deliveries:
        found[event.stream] = max(event.log_position, found.get(event.stream, event.log_position))
    return found


def linked(keys: Collection[Key], deliveries: Sequence[Event], table: Table) -> set[Key]:
    """The keys, and all that key changes among the deliveries lead to from these, or to these."""
    pairs = [pair for event in deliveries if len(pair := _keys_of(event, table)) > 1]
    found = {*keys}
    while more := {key for pair in pairs if not found.isdisjoint(pair) for key in pair} - found:
        found |= more
    return found


@dataclass(frozen=True)
class Erasure:
    """Some keys of a table are erased, once each stream of it had come so far."""

    keys: Collection[Key]
    reached: Reached

    def left_out(self, deliveries: Iterable[Event], table: Table) -> set[tuple[str, Key]]:
        """The changes that never happened, each by its event and its key.

        What a key change brings to its new key is the old key's, and goes with either; that it takes the old key away
        goes with that one alone.
        """
        found: set[tuple[str, Key]] = set()
        for event in deliveries:
            keys = _keys_of(event, table) if self._covers(event) else []
            if keys and keys[0] in self.keys:
                found |= {(event_id(event), key) for key in keys}
            elif keys and keys[-1] in self.keys:
                found.add((event_id(event), keys[-1]))
        return found

    def _covers(self, event: Event) -> bool:
        end = self.reached.get(event.stream)
        return end is None or _shared(event, event.log_position) <= _shared(event, end)


def _shared(event: Event, log_position: LogPosition) -> LogPosition:
    """What all deliveries of an event have of its position: replicas of Cassandra number it each in their own way."""
    return log_position[:3] if event.source == "cassandra" else log_position


def _keys_of(event: Event, table: Table) -> list[Key]:
    """The keys of an event of one row: of a key change the old one and the new one."""
    if event.is_control:
        return []
    return [one.key for one in changes_of(event, table) if one.key is not None]

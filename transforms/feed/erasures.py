"""Erased keys: which rows are a person's who was erased, told by a keyed hash, without the key itself.

A key that was erased stays erased for what the source had said of it by then. What it says later comes through: the
person may have come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from transforms.change import Key
from transforms.feed.masks import MaskKey

SECRET: Final = "WEIR_ERASURE_KEY"
"""The variable of the environment that holds the secret of the keyed hash."""

Position: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Erasure:
    """A key of a gold table (``table``) is erased.

    ``key_hash``: of the key, under the secret whose fingerprint is ``secret``. ``reached``: how far each stream of the
    table had come then: events at or below are erased, whenever they land. Of a stream that nothing had come of, events
    count as erased that the source made by ``at``, or made nobody knows when. ``lifted``: the key is erased no more,
    and what lands again comes through.
    """

    table: str
    key_hash: str
    reached: tuple[tuple[str, Position], ...]
    at: datetime
    secret: str
    lifted: bool = False


def hashed_key(secret: MaskKey, feed: str, table: str, key: Sequence[str | None]) -> str:
    """HMAC-SHA256 of a key of a feed's gold table, as hexadecimal digits; ``key``: its canonical texts."""
    return secret.hashed(json.dumps(["erased key", feed, table, *key]))


def hashed_event(secret: MaskKey, event_id: str) -> str:
    """What stands for the id of an erased event, which is a digest of its values."""
    return secret.hashed(json.dumps(["erased event", event_id]))


def standing(erasures: Sequence[Erasure]) -> list[Erasure]:
    """Those that are not lifted: all of a key since it was last lifted.

    A later one does not take the place of an earlier one: what that has erased is not among what it saw of its streams.
    """
    found: dict[tuple[str, str], list[Erasure]] = {}
    for one in erasures:
        of_key = found.setdefault((one.table, one.key_hash), [])
        if one.lifted:
            of_key.clear()
        else:
            of_key.append(one)
    return [one for of_key in found.values() for one in of_key]


class ErasedKeys:
    """Tells the rows of erased keys; for one process to keep, and not to be pickled: it remembers keys.

    ``erasures``: those that stand.
    """

    def __init__(self, feed: str, erasures: Sequence[Erasure], secret: MaskKey) -> None:
        self._feed, self._secret = feed, secret
        self._of_table: dict[str, dict[str, list[_Bound]]] = {}
        self._hashes: dict[tuple[str, Key], str] = {}
        for one in erasures:
            bounds = self._of_table.setdefault(one.table, {})
            bounds.setdefault(one.key_hash, []).append(_Bound(dict(one.reached), _micros(one.at)))

    def has(
        self,
        table: str | None,
        keys: Iterable[Sequence[str | None] | None],
        stream: str | None,
        log_position: Sequence[int | None] | None,
        event_at: int | None,
    ) -> bool:
        """Whether a row is of an erased key, and no newer than its erasure.

        ``keys``: its own, and the one that it comes from where a key change moved it: its values are that one's.
        ``log_position``: as much of it as all deliveries of the event have.
        """
        of_table = self._of_table.get(table or "")
        if of_table is None:
            return False
        return any(
            one.covers(stream, log_position, event_at)
            for key in keys
            if key is not None
            for one in of_table.get(self._hash_of(table or "", tuple(key)), ())
        )

    def _hash_of(self, table: str, key: Key) -> str:
        found = self._hashes.get((table, key))
        if found is None:
            if len(self._hashes) >= _MOST_REMEMBERED:
                self._hashes.clear()
            found = self._hashes[table, key] = hashed_key(self._secret, self._feed, table, key)
        return found


_MOST_REMEMBERED: Final = 100_000


@dataclass(frozen=True, slots=True)
class _Bound:
    """Up to where one erasure reaches: positions by stream, and a time (microseconds since 1970) for other streams."""

    reached: Mapping[str, Position]
    at: int

    def covers(
        self, stream: str | None, log_position: Sequence[int | None] | None, event_at: int | None
    ) -> bool:
        end = self.reached.get(stream or "")
        if end is None or log_position is None or None in log_position:
            return event_at is None or event_at <= self.at
        return tuple(log_position) <= end[: len(log_position)]


def _micros(moment: datetime) -> int:
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def erased_keys(
    feed: str, erasures: Sequence[Erasure], secret: MaskKey | None
) -> ErasedKeys | None:
    """What tells the rows of a feed's erased keys; None where no key is erased."""
    found = standing(erasures)
    if not found:
        return None
    assert secret is not None  # whoever derives has refused a feed without it
    return ErasedKeys(feed, found, secret)


# What stands in bronze in place of an erased record: its place, so that it counts as read, and what others need of it.


MARK: Final = "erased: "
"""What the ``defect`` of an erased record begins with; behind it stands an ``ErasedRecord`` as JSON."""


@dataclass(frozen=True, slots=True)
class ErasedEvent:
    """An erased event of a transaction, as far as the transaction has to know of it; ``event_id``: its hash."""

    event_id: str
    effect: str
    log_position: tuple[int, ...]
    transaction: tuple[str, int | None, bool | None]
    event_at: int | None


@dataclass(frozen=True, slots=True)
class ErasedRecord:
    """What is kept of an erased record: its table, how many events it held, those of them that are of transactions.

    ``operations``: how many operations its source says it had written by then, and of which table. ``stretches``: which
    rows of snapshots it held, by the source's name of their table and the feed file's.
    """

    table: str
    events: int
    of_transactions: tuple[ErasedEvent, ...] = ()
    operations: tuple[str, int] | None = None
    stretches: tuple[tuple[str, str | None, str], ...] = ()

    def mark(self) -> str:
        """It as the ``defect`` of its row in bronze."""
        said: dict[str, Any] = {"table": self.table, "events": self.events}
        if self.of_transactions:
            said["of_transactions"] = [
                [one.event_id, one.effect, one.log_position, one.transaction, one.event_at]
                for one in self.of_transactions
            ]
        if self.operations:
            said["operations"] = self.operations
        if self.stretches:
            said["stretches"] = self.stretches
        return MARK + json.dumps(said, sort_keys=True)


def is_erased(defect: str | None) -> bool:
    """Whether a row of bronze is what is left of an erased record."""
    return defect is not None and defect.startswith(MARK)


def erased_record(defect: str) -> ErasedRecord:
    """What a row of bronze tells of an erased record."""
    said = json.loads(defect.removeprefix(MARK))
    events = tuple(
        ErasedEvent(event_id, effect, tuple(position), (name, expected, has_begin), event_at)
        for event_id, effect, position, (name, expected, has_begin), event_at in said.get(
            "of_transactions", ()
        )
    )
    operations = said.get("operations")
    return ErasedRecord(
        table=said["table"],
        events=said["events"],
        of_transactions=events,
        operations=(operations[0], operations[1]) if operations else None,
        stretches=tuple(
            (one, declared, facts) for one, declared, facts in said.get("stretches", ())
        ),
    )

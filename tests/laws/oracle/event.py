"""What the oracle knows of a source: its tables, its events, and which deliveries are one event."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

Image = dict[str, str | None]  # a column that is missing was not mentioned; None is a null
Key = tuple[str | None, ...]
LogPosition = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of gold: its types as the feed declares them, its defaults as texts."""

    name: str
    key: tuple[str, ...]  # empty: a multiset
    columns: dict[str, str]
    defaults: dict[str, str] = field(default_factory=dict)
    keeps_deleted: bool = False  # deleted rows stay, as they were

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns that identify a row: the key, or in a table without a key all columns."""
        return self.key or tuple(self.columns)


@dataclass(frozen=True, slots=True)
class Transaction:
    """The transaction that an event is part of."""

    id: str
    expected: int | None = None  # on a commit: of how many changes it consists
    has_begin: bool = False
    at_commit: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One delivery of something the source did, or of what that implies."""

    source: str  # mysql | cassandra | arcion_kafka | debezium | debezium_bare | snapshot | model
    table: str
    operation: str  # insert | update | delete | replace | read | …
    log_position: LogPosition
    event_at_ms: int | None  # None for snapshot rows, which have no cursor
    before: Image
    after: Image
    effect: str | None = None  # None: what the operation means to Arcion
    attribute_ops: dict[str, str] = field(default_factory=dict)
    scope: Image | None = None
    stream: str | None = None
    transaction: Transaction | None = None
    derived: str | None = None
    own_identity: tuple[str, ...] | None = None  # where the position does not identify the event
    digest: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def identity(self) -> list[str]:
        """What every delivery of the event shares apart from its content, as texts."""
        if self.own_identity is not None:
            return list(self.own_identity)
        # Replicas of Cassandra number the same mutation each in their own way.
        shared = self.log_position[:3] if self.source == "cassandra" else self.log_position
        return [str(number) for number in shared]

    @property
    def result(self) -> Image:
        """What the event says about the row once it has happened."""
        return self.before | self.after

    @property
    def is_control(self) -> bool:
        """True where the event says nothing but that a transaction began or was committed."""
        return self.effect in ("begin", "commit")


def event_id(event: Event) -> str:
    """The digest of everything that two deliveries of one event agree on; an event remembers its own."""
    if not event.digest:
        event.digest.append(_digest(event))
    return event.digest[0]


def _digest(event: Event) -> str:
    identity = event.identity
    texts: list[str | None] = [event.table, event.operation, str(len(identity)), *identity]
    for image in (event.before, event.after, event.attribute_ops, event.scope):
        if image is None:
            texts.append(None)
            continue
        texts.append(str(len(image)))
        for column in sorted(image):
            texts += [column, image[column]]
    netstrings = ("-" if text is None else f"{len(text)}:{text}" for text in texts)
    return sha256("".join(netstrings).encode()).hexdigest()

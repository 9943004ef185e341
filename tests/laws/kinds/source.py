"""What the sources of all kinds share: a clock, a log with positions, and the events so far."""

from __future__ import annotations

from random import Random

from tests.laws.drawn.histories import STARTED_AT_MS
from tests.laws.oracle.oracle import Event, Image, LogPosition, Transaction


class Source:
    """A source of one case: whatever it writes stays within its ``case_id``."""

    def __init__(self, rng: Random, case: str) -> None:
        self.rng, self.case = rng, case
        self.events: list[Event] = []
        self.now_ms = STARTED_AT_MS
        self.epoch = 0
        self.log: LogPosition = self.draw_log()

    def draw_log(self) -> LogPosition:
        """The first position: just below a new digit, where an order by text goes wrong."""
        return (self.rng.choice([1, 9, 99, 999_999]), self.rng.choice([4, 90, 950, 9_990]))

    @property
    def log_position(self) -> LogPosition:
        return (self.epoch, 1, *self.log)

    def advance(self) -> None:
        """Go on to a higher position."""
        number, offset = self.log
        rotates = self.rng.random() < 0.1
        self.log = (number + 1, 4) if rotates else (number, offset + self.rng.randint(1, 60))
        self.now_ms += self.rng.choice([0, 1000, 60_000])

    def drift(self) -> None:
        """What happens between two actions: mostly a higher position, sometimes a tie."""
        if self.rng.random() > 0.12:
            self.advance()

    def emit(
        self,
        table: str,
        operation: str,
        effect: str,
        before: Image,
        after: Image,
        *,
        log_position: LogPosition | None = None,
        scope: Image | None = None,
        attribute_ops: dict[str, str] | None = None,
        derived: str | None = None,
        stream: str | None = None,
        transaction: Transaction | None = None,
        identity: tuple[str, ...] | None = None,
    ) -> None:
        """Write down one event, here and now unless said otherwise."""
        self.events.append(
            Event(
                "model", table, operation,
                self.log_position if log_position is None else log_position,
                None if operation == "read" else self.now_ms,
                before, after,
                effect=effect, attribute_ops=attribute_ops or {}, scope=scope, stream=stream,
                transaction=transaction, derived=derived, own_identity=identity,
            )
        )  # fmt: skip

    def scoped(self, **values: str) -> Image:
        """A scope within the case."""
        return {"case_id": self.case, **values}

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

"""Changes of one table, drawn from a seed: inserts, updates and deletes, late ones and repeated ones.

What the table holds before them: every key below ``rows`` came with the snapshot (version 0); every fifth was updated
in log 5 (version 1); a hundredth more keys was deleted there. ``base`` writes the same with Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

LATE_LOG, BASE_LOG, LOG = 4, 5, 6
"""The source's log files: of late changes, of changes before the window that is timed, and of that window's own."""

DELETES, INSERTS, REDELIVERED, LATE = 0.10, 0.05, 0.05, 0.02
"""The parts of all changes; half of the redelivered repeat one of their own window, half one that gold has seen."""

SCATTER = 7_368_787
"""Keys are multiples of this prime, so that they are scattered over a table; it divides no usual size, so none meet."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row: ``before`` and ``after`` are versions, None where there is no such image."""

    operation: str
    id: int
    log: int
    position: int
    before: int | None
    after: int | None


def drawn(*, rows: int, count: int, seed: int, first: int = 0) -> Iterator[Change]:
    """``count`` changes of a table of ``rows`` rows, in the order of delivery, of keys from ``first`` on."""
    rng = Random(seed)
    state = TableState(rows, first)
    recent: list[Change] = []
    for number in range(count):
        draw = rng.random()
        if draw < LATE:
            id = 5 * rng.randrange(first // 5, max(1, rows // 5))
            change = Change("update", id, LATE_LOG, 100 * number, 0, count + number)
        elif draw < LATE + REDELIVERED / 2:
            id = 5 * rng.randrange(first // 5, max(1, rows // 5))
            change = Change("update", id, BASE_LOG, id, 0, 1)
        elif draw < LATE + REDELIVERED and recent:
            change = rng.choice(recent)
        else:
            change = state.changed(rng, number)
            recent.append(change)
            # What is delivered again was delivered not long before.
            if len(recent) > 10_000:
                recent.clear()
        yield change


class TableState:
    """What a table holds while its changes are drawn: by key, a version that is not the first, or None if deleted."""

    def __init__(self, rows: int, first: int = 0) -> None:
        self._first, self._rows = first, rows - first
        self._versions: dict[int, int | None] = {}
        self._next = 2 * rows

    def changed(self, rng: Random, number: int) -> Change:
        """Change the table at random; ``number`` says where in the log the change is."""
        kind = rng.random()
        if kind < INSERTS:
            id, self._next = self._next, self._next + 1
            before = None
        else:
            id = self._first + skewed(rng, self._rows)
            before = self._versions.get(id, 1 if id % 5 == 0 else 0)
        after = None if before is not None and kind < INSERTS + DELETES else number + 2
        self._versions[id] = after
        operation = "insert" if before is None else "delete" if after is None else "update"
        return Change(operation, id, LOG, 100 * number, before, after)


def skewed(rng: Random, rows: int) -> int:
    """A key: half of all draws meet an eighth of the keys, and the hottest gets thousands; these are scattered."""
    hot = int(rows * rng.random() ** 3)
    return hot * SCATTER % rows

"""How many rows of each history an applier has wrong, and in which way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from bench.answers.appliers import Found
from bench.answers.delivery import APART, groups
from bench.answers.histories import COLUMNS, HISTORIES, History, Row, states


@dataclass(frozen=True, slots=True)
class Wrong:
    """Rows of one history.

    - ``missing``: they should be there. ``extra``: they should not, or are there twice.
    - ``stale``: as they were once. ``mixed``: as they never were.
    """

    missing: int = 0
    extra: int = 0
    stale: int = 0
    mixed: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return self.missing + self.extra + self.stale + self.mixed

    def __str__(self) -> str:
        """How many of each kind, or that all are right."""
        kinds = ((kind, count) for kind, count in asdict(self).items() if count)
        return ", ".join(f"{count} {kind}" for kind, count in kinds) or "right"


Judgements = Mapping[str, Mapping[str, Wrong]]
"""What each applier has wrong, by history and by applier."""


def judge(history: History, found: Sequence[Row]) -> Wrong:
    """Compare the rows that an applier has made of a history with those that it should have made, cell by cell."""
    past = states(history)
    right = past[-1]
    by_key = {row["id"]: {name: row[name] for name in COLUMNS} for row in found}
    common = [id for id in right if id in by_key]
    differing = [id for id in common if by_key[id] != right[id]]
    stale = sum(any(by_key[id] == state.get(id) for state in past) for id in differing)
    return Wrong(
        missing=len(right) - len(common),
        extra=len(found) - len(common),
        stale=stale,
        mixed=len(differing) - stale,
    )


def judgements(found: Found) -> Judgements:
    """Judge each applier's rows, history by history."""
    firsts = {
        history.name: first for group in groups() for first, history in group.histories.items()
    }
    return {
        history.name: {
            name: judge(history, _of_history(firsts[history.name], rows))
            for name, rows in found.items()
        }
        for history in HISTORIES
    }


def _of_history(first: int, rows: Sequence[Row]) -> list[Row]:
    keys = range(first, first + APART)
    return [{**row, "id": int(row["id"] or 0) - first} for row in rows if row["id"] in keys]


def as_json(judged: Judgements) -> list[dict[str, object]]:
    """One entry per history, for programs."""
    rights = {history.name: len(states(history)[-1]) for history in HISTORIES}
    return [
        {
            "history": history,
            "right rows": rights[history],
            "wrong": {name: asdict(one) for name, one in wrong.items()},
        }
        for history, wrong in judged.items()
    ]

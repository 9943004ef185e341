"""So many rows a second and no more are read, whatever was not read before."""

from __future__ import annotations

import pytest

from assets.reconcile import compare
from assets.reconcile.compare import Pace


class Clock:
    """A clock that goes on only where it is waited for, or told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_rows_are_paid_for_from_one_question_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(compare, "time", clock)
    pace = Pace(100, since=clock.now)
    pace.keep(50)
    assert clock.now == 0.5
    # What the question took counts.
    clock.now += 0.25
    pace.keep(150)
    assert clock.now == 1.5
    # An hour in which nothing was read is no credit.
    clock.now += 3600
    pace.keep(160)
    began = clock.now
    pace.keep(260)
    assert clock.now == began + 1

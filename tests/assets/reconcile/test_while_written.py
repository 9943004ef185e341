"""A source that is written two hundred times a second is compared without a false difference, and faults are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.assets.reconcile.soak import PLANTED, soak
from tests.services.postgres import USER, Postgres, postgres

__all__ = ["postgres"]


def test_no_false_difference_in_a_minute_and_every_planted_fault_is_found(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    postgres.run("DROP SCHEMA IF EXISTS shop CASCADE")
    made, found, kinds = soak(postgres, tmp_path, minutes=1)
    assert found.different == []
    assert found.behind == 0
    # Gold came along, and something was under way when it was looked at.
    assert made.events > 1_000 and found.caught_up > 0
    assert kinds == PLANTED

"""Two runs that find the same drop new, where no lock keeps them apart: its records are in bronze once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.bronze.from_objects import LandingDiff
from assets.storage.lake import Lake, Layer
from transforms.errors import TableBusy
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T10"


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """A landing with two drops of one record each."""
    landing = tmp_path / "landing" / WINDOW.replace("T", "/")
    landing.mkdir(parents=True)
    for name in "ab":
        (landing / f"{name}.json").write_text(f'{{"of": "{name}"}}\n')
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"))


@pytest.fixture(params=["in this process", "by Spark"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How few objects are read: as they are, and as many would be."""
    if request.param == "by Spark":
        monkeypatch.setattr(from_objects, "read_here", lambda *_: None)


def in_between(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Do this once, between a run's look at the landing and its commit."""
    look = from_objects.arrivals
    # A store without leases, say.
    monkeypatch.setattr(from_objects, "writing", lambda *_: nullcontext())

    def looked(*given: Any, **named: Any) -> LandingDiff:
        found = look(*given, **named)
        monkeypatch.setattr(from_objects, "arrivals", look)
        do()
        return found

    monkeypatch.setattr(from_objects, "arrivals", looked)


def payloads(lake: Lake) -> list[bytes]:
    rows = lake.table(Layer.BRONZE, "zoo").read().where("line > 0").collect()
    return sorted(bytes(row["payload"]) for row in rows)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("is_first", [True, False])
def test_what_another_run_has_read_meanwhile_is_not_read_twice(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    if not is_first:
        earlier = Path(feed.landing, WINDOW.replace("T", "/"), "0.json")
        earlier.write_text('{"of": "0"}\n')
        from_objects.land(lake, feed, [WINDOW])
        earlier.with_name("c.json").write_text('{"of": "c"}\n')
    in_between(monkeypatch, lambda: from_objects.land(lake, feed, [WINDOW]))
    # Spark adds nothing in silence, where it sees that another was first.
    with suppress(TableBusy):
        from_objects.land(lake, feed, [WINDOW])
    from_objects.land(lake, feed, [WINDOW])
    found = payloads(lake)
    assert len(found) == len({*found}) == (2 if is_first else 4)

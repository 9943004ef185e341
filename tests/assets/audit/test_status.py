"""How a feed stands: windows, events, rows, what waits, and what its source can never tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.audit.status import status_of
from assets.bronze import from_objects
from assets.storage.lake import Lake
from orchestration.cli import status
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed


def test_a_feed_tells_what_is_in_gold_and_what_is_not(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    assert [*status.status_lines(feed, status_of(lake, feed))][:2] == [
        f"zoo: arcion_s3_json from {folder}",
        "  nothing was read yet: `weir run` reads what has landed",
    ]
    born = change("I", 10, after={"id": "1", "name": "Ada"})
    lost = change("I", 12, after={"id": "9", "name": "Rex"}, table="beasts")
    # An insert with an image before it.
    odd = change("I", 9, {"id": "4", "name": "Abe"}, {"id": "4", "name": "Ann"})
    records = (odd, born, born, lost, change("D", 11, {"id": "2"}), '{"cut": ')
    lay(folder, "2025-11-20/03/a.json", drop(*records))
    bring(lake, feed)
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 20, after={"id": "3", "name": "Cleo"})))
    from_objects.land(lake, feed, ["2025-11-20T04"])

    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    lines = [*status.status_lines(feed, status_of(lake, feed))]
    assert lines[1:-2] == [
        "  windows: 1 in gold, the newest 2025-11-20T03; not yet: 2025-11-20T04",
        "  events: 6 = 4 changes + 1 duplicate + 1 quarantined",
        "  gold pets: 2 rows, 1 tombstone, newest change at the source 2025-11-20T01:03:20Z",
        "  quarantine: damaged_record 1",
        "  to be decided: 1 record in quarantine (`weir quarantine list zoo`)",
        "  tables that wait to be declared: main.zoo.beasts 1",
        "  noticed: exists_flags_agree_with_operation 1",
    ]
    assert lines[-2].startswith("  cannot be known: whether a transaction is whole")

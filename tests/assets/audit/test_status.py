"""How a feed stands: windows, events, rows, what waits, and what its source can never tell."""

from __future__ import annotations

from dataclasses import replace
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
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(born, born, lost, change("D", 11, {"id": "2"}), '{"cut": '),
    )
    bring(lake, feed)
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 20, after={"id": "3", "name": "Cleo"})))
    from_objects.land(lake, feed, ["2025-11-20T04"])

    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    lines = [*status.status_lines(feed, status_of(lake, feed))]
    assert lines[1:-2] == [
        "  windows: 1 in gold, the newest 2025-11-20T03; not yet: 2025-11-20T04",
        "  events: 5 = 3 changes + 1 duplicate + 1 quarantined",
        "  gold pets: 1 row, 1 tombstone, newest change at the source 2025-11-20T01:03:20Z",
        "  quarantine: damaged_record 1",
        "  to be decided: 1 record in quarantine (`weir quarantine list zoo`)",
        "  tables that wait to be declared: main.zoo.beasts 1",
    ]
    assert lines[-2].startswith("  cannot be known: whether a transaction is whole")


def test_what_a_format_noticed_is_counted_by_the_rule_that_it_breaks(
    lake: Lake, folder: Path
) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    odd = change("I", 10, {"id": "1", "name": "Abe"}, {"id": "1", "name": "Ada"})
    lay(folder, "2025-11-20/03/a.json", drop(odd))
    _, made = bring(lake, feed)
    assert made.violations["exists_flags_agree_with_operation"] == 1
    assert "  noticed: exists_flags_agree_with_operation 1" in [
        *status.status_lines(feed, status_of(lake, feed))
    ]
    # Another feed of the same warehouse stands apart.
    assert "  noticed" not in "\n".join(
        status.status_lines(
            replace(feed, name="other"), status_of(lake, replace(feed, name="other"))
        )
    )

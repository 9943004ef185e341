"""The commands of the how-to pages, typed as they stand there, one page after another, over the demo's shop."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.journeys.pages import Step, carried_out, steps

pytestmark = pytest.mark.journey

PAGES = ("backfill.md", "compact.md", "dbt.md")


def test_the_commands_of_the_pages_do_what_they_are_for(root: Path, tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing" / "shop").symlink_to(root / "demo" / "shop")
    (tmp_path / "feeds").mkdir()
    shutil.copy(root / "feeds" / "shop.yaml", tmp_path / "feeds")
    typed = {
        name: [*steps((root / "docs" / "howto" / name).read_text(encoding="utf-8"))]
        for name in PAGES
    }
    assert [len(done) for done in typed.values()] == [1, 1, 1]
    printed = carried_out(tmp_path, [Step("weir run\n"), *[one for (one,) in typed.values()]], {})
    _, backfill, compaction, _ = printed
    assert "windows 2025-11-19T22 .. 2025-11-20T01" in backfill
    assert "0 keys changed, now 6 rows and 1 tombstone" in backfill
    assert "retention: all windows since 2025-11-19T22 are kept" in compaction
    assert "name: customers" in (tmp_path / "sources.yml").read_text()

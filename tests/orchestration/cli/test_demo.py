"""The demo's drops are laid out, and what to try next can be copied from the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.cli import demo


def test_the_demo_lays_out_what_is_not_there_and_keeps_what_is(tmp_path: Path, root: Path) -> None:
    total = len([file for file in (root / "demo").rglob("*") if file.is_file()])
    assert demo.lay_out(root / "demo", tmp_path / "landing") == total
    kept = tmp_path / "landing" / "shop" / "2025-11-20" / "00" / "part_2.json"
    kept.write_text("mine")
    (tmp_path / "landing" / "shop" / "2025-11-20" / "01" / "part_1.json").unlink()
    assert demo.lay_out(root / "demo", tmp_path / "landing") == 1
    assert kept.read_text() == "mine"


def test_what_to_try_next_names_the_warehouse_where_it_is_not_the_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "weir").touch()
    usual = demo.what_next(tmp_path, str(tmp_path / "warehouse"))
    assert '  .venv/bin/weir query "SELECT * FROM gold.shop.customers ORDER BY id"' in usual
    assert "  .venv/bin/weir quarantine list shop " in usual
    assert "  .venv/bin/weir ui     # the same runs" in usual
    elsewhere = demo.what_next(tmp_path / "my demo", str(tmp_path / "my lake"))
    assert f"  .venv/bin/weir query --warehouse '{tmp_path}/my lake' \"SELECT" in elsewhere
    assert f"  .venv/bin/weir quarantine list --warehouse '{tmp_path}/my lake' shop " in elsewhere
    place = f"--feeds '{tmp_path}/my demo/feeds' --warehouse '{tmp_path}/my lake'"
    assert f"  .venv/bin/weir ui {place} " in elsewhere

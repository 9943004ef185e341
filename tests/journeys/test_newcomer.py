"""An empty folder, a feed file and a few drops typed from Arcion's documentation: gold has the rows that they mean."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.journeys.commands import weir
from tests.journeys.pages import Step, carried_out

pytestmark = pytest.mark.journey

FEED = """\
format: arcion_s3_json
landing: drops
tables:
  region:
    key: [r_regionkey]
    columns: {r_regionkey: int, r_name: string, r_comment: string}
"""


STATEMENTS = (
    Path(__file__).parents[1] / "cases/arcion_s3_json/document_realtime_3_delete/drop/2026-11-20/03"
)


def land(folder: Path, window: str, statement: int) -> None:
    """One statement of the document, as it stands there, is one object of the landing."""
    drop = folder / "feeds" / "drops" / window / f"{statement}.json"
    drop.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STATEMENTS / f"realtime_{statement}.json", drop)


def test_a_feed_typed_by_hand_mirrors_what_the_statements_mean(tmp_path: Path) -> None:
    land(tmp_path, "2026-11-20/03", 1)
    land(tmp_path, "2026-11-20/03", 2)
    feed = tmp_path / "feeds" / "hand.yaml"
    feed.write_text(FEED)

    # A feed that cannot be read is reported, and does not stop the others.
    lost = tmp_path / "feeds" / "lost.yaml"
    lost.write_text(FEED.replace("landing: drops", "landing: nowhere"))

    ran = weir(tmp_path, "run")
    assert ran.code == 2, ran.err
    assert "error: feed lost: cannot read" in ran.err
    assert "hand.region" in ran.out
    assert "0 failed" in ran.out
    # So few records come from landing to gold without Spark.
    assert "starting Spark" not in ran.err
    sql = "SELECT r_regionkey, r_name, r_comment FROM gold.hand.region"
    before = weir(tmp_path, "query", "--format", "jsonl", sql)
    assert [json.loads(line) for line in before.out.splitlines()] == [
        {"r_regionkey": 10, "r_name": "India", "r_comment": "USA"}
    ], before.err

    lost.unlink()
    land(tmp_path, "2026-11-20/04", 3)
    deleted = weir(tmp_path, "run", "--windows", "2026-11-20T04..2026-11-20T04")
    assert deleted.code == 0, deleted.err
    assert "2026-11-20T03" not in deleted.err
    after = weir(tmp_path, "query", sql, "--format", "csv")
    assert after.out == "r_regionkey,r_name,r_comment\n", after.err

    compacted = weir(tmp_path, "compact")
    assert compacted.code == 0, compacted.err
    assert "Deleted" not in compacted.out, "Delta prints of its own accord"
    assert "tombstones: 0 whose key is back" in compacted.out
    assert "dropped; 1 kept for events that may still come" in compacted.out
    assert "no further: retention: all windows since 2026-11-20T03 are kept" in compacted.out

    feed.write_text(FEED + "window: day\n")
    changed = weir(tmp_path, "run")
    assert changed.code == 2
    assert changed.out == ""
    assert "bronze was read by the hour" in changed.err.splitlines()[-1]


def test_the_commands_of_the_readme_bring_drops_to_gold_as_they_stand(
    root: Path, tmp_path: Path
) -> None:
    page = (root / "README.md").read_text(encoding="utf-8")
    own = page.split("## Your own drops")[1]
    typed = re.findall(r"^```text\n(.*?)^```", own, re.MULTILINE | re.DOTALL)[0]
    assert "s3://drops/shop/" in typed
    folder = tmp_path / "weir"
    folder.mkdir()
    (printed,) = carried_out(
        folder, [Step(typed.replace("s3://drops/shop/", f"{root / 'demo' / 'shop'}"))], {}
    )
    assert "Try next: weir run --feed shop" in printed
    assert "gold.shop.customers: 7 keys changed, now 6 rows and 1 tombstone" in printed
    assert re.search(r"^1 +Ada Lindqvist ", printed.split("checks: ")[1], re.MULTILINE)

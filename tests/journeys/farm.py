"""A feed whose windows nobody has brought to gold yet: what the journey through the browser begins with."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.pet_feed import change, drop, lay

FEED: Final = """\
# A farm, captured by Arcion.
format: arcion_s3_json
landing: ../farm_drops
window: hour
start: 2025-11-20T03
tables:
  sheep: {key: [id], columns: {id: int, name: string, weight: "decimal(6,2)"}}
expectations:
  gold:
    sheep:
      columns:
        name:
          - expect_column_values_to_not_be_null
"""
WINDOWS: Final = ("2025-11-20T03", "2025-11-20T04", "2025-11-20T05")
WRONG: Final = "very heavy"
"""A weight that is no number."""
REPAIRED: Final = "71.50"


def lay_farm(folder: Path) -> None:
    """The feed file, and the drops of its three windows."""
    (folder / "feeds" / "farm.yaml").write_text(FEED)
    dolly = {"id": "1", "name": "Dolly", "weight": "60.00"}
    elsa = {"id": "2", "name": "Elsa", "weight": "55.25"}
    records = (
        change("I", 10, after=dolly, table="sheep", schema="farm"),
        change("I", 20, after=elsa, table="sheep", schema="farm"),
        change("U", 30, dolly, {**dolly, "weight": WRONG}, table="sheep", schema="farm"),
    )
    for window, record in zip(WINDOWS, records, strict=True):
        day, hour = window.split("T")
        lay(folder / "farm_drops", f"{day}/{hour}/part_1.json", drop(record))

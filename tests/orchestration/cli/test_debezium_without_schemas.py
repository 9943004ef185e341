"""Debezium's defaults with a JSON converter without schemas, in a bucket of Connect's S3 sink: from drops to gold."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestration.feeds.load import load_feed
from tests.support.commands_here import weir

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HOUR = "topics/shop.public.orders/year=2026/month=11/day=20/hour=08"
OBJECT = f"{HOUR}/shop.public.orders+0+0000000000"


def order(number: int, unscaled: bytes, **more: object) -> dict[str, Any]:
    """A row as Debezium writes it: the amount is the unscaled number, times are counts."""
    return {
        "id": number,
        "amount": base64.b64encode(unscaled).decode(),
        "created_at": 1_529_507_596_945_104 + number,
        "updated_at": "2026-11-19T08:17:00.5Z",
        "ordered_on": 20_776 + number,
        "ships_at": 30_600_000_000,
        "quantity": number,
        "note": "call first",
        "price_cents": 20_415,
        **more,
    }


def change(op: str, lsn: int, before: object, after: object) -> dict[str, Any]:
    source = {"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders"}
    return {"op": op, "before": before, "after": after, "source": {**source, "lsn": lsn}}


ROWS = [
    order(1, b"\x00\x9c"),  # 1.56
    order(2, b"\x9c"),  # -1.00
    order(3, b"\xff"),  # -0.01
    order(4, b"\x05\xf5\xe0\xff"),  # 999999.99
    order(5, b"\x00"),
]
CHANGED = {**ROWS[1], "amount": "AP8=", "note": None}
CHANGES = [
    *(change("c", 10 + at, None, row) for at, row in enumerate(ROWS)),
    change("u", 20, ROWS[1], CHANGED),
    change("d", 21, ROWS[4], None),
]
GOLD = {
    1: ("1.56", "2018-06-20T15:13:16.945105Z", "2026-11-20"),
    2: ("2.55", "2018-06-20T15:13:16.945106Z", "2026-11-21"),
    3: ("-0.01", "2018-06-20T15:13:16.945107Z", "2026-11-22"),
    4: ("999999.99", "2018-06-20T15:13:16.945108Z", "2026-11-23"),
}
KEY_FILES = [f"{OBJECT}.keys.json", f"{OBJECT}.headers.json"]
DECLARED = """\
format: debezium
landing: ../drops
tables:
  orders:
    key: [id]
    columns: {{id: bigint, amount: "decimal(10,2)", created_at: timestamp, ordered_on: date, note: string}}
{encoded}"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sink's objects: values, with keys and headers beside them."""
    lay(tmp_path / "drops" / f"{OBJECT}.json", CHANGES)
    for name in KEY_FILES:
        lay(tmp_path / "drops" / name, [{"id": number} for number in range(7)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    return tmp_path


def lay(file: Path, lines: Iterable[Mapping[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def declare(place: Path, encoded: str) -> None:
    file = place / "feeds/drops.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(DECLARED.format(encoded=f"    encoded: {encoded}\n" if encoded else ""))


def gold(capsys: pytest.CaptureFixture[str]) -> dict[int, tuple[str, str, str]]:
    capsys.readouterr()
    question = "select id, amount, created_at, ordered_on from gold.drops.orders"
    assert weir("query", question, "--format", "jsonl") == 0
    rows = [json.loads(line, parse_float=str) for line in capsys.readouterr().out.splitlines()]
    return {row["id"]: (row["amount"], row["created_at"], row["ordered_on"]) for row in rows}


def test_what_onboarding_proposes_brings_such_drops_to_gold(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert weir("onboard", "drops") == 0
    said = capsys.readouterr()
    table = load_feed(place / "feeds/drops.yaml").tables["orders"]
    assert dict(table.columns) == {
        **{"id": "bigint", "amount": "decimal(18,2)", "created_at": "timestamp"},
        **{"updated_at": "timestamp", "ordered_on": "date", "ships_at": "string"},
        **{"quantity": "int", "note": "string", "price_cents": "int"},
    }
    assert table.encodings == {
        **{"amount": "base64(2)", "created_at": "micros", "ordered_on": "days"},
        "ships_at": "micros_of_day",
    }
    written = (place / "feeds/drops.yaml").read_text()
    assert written.count("a guess: nothing in the drops says it") == 4
    assert "created_at (micros), ordered_on (days), ships_at (micros_of_day)" in said.err
    assert "which is a guess, for nothing says how many there are: amount." in said.err
    assert f"{KEY_FILES[0]}: keys of Kafka records, which a sink wrote beside their" in said.err
    assert weir("run") == 0
    told = capsys.readouterr()
    assert "bronze.drops: 1 new object" in told.err
    assert told.err.count(".keys.json: keys of Kafka records, which a sink wrote") == 1
    assert gold(capsys) == GOLD


def test_quarantine_says_the_line_that_takes_what_did_not_fit(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(place, "")
    weir("run")
    weir("quarantine", "list", "drops")
    (line,) = {
        one.partition("encoded: ")[2]
        for one in capsys.readouterr().out.splitlines()
        if "encoded: " in one
    }
    assert line == "{amount: base64, created_at: micros}"
    assert gold(capsys) == {}
    declare(place, line)
    assert weir("run") == 0
    assert gold(capsys) == GOLD


def test_what_is_too_large_for_its_type_waits_in_quarantine(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(place, "{amount: base64, created_at: micros}")
    large = order(6, (10**10).to_bytes(5, "big"))
    late = order(7, b"\x01", created_at=253_402_300_800_000_000)
    lay(
        place / "drops" / f"{HOUR}/shop.public.orders+0+0000000007.json",
        [change("c", 30, None, large), change("c", 31, None, late)],
    )
    weir("run")
    assert gold(capsys) == GOLD
    weir("quarantine", "list", "drops")
    out = capsys.readouterr().out
    assert "orders: amount is AlQL5AA=, which is no decimal(10,2) in base64" in out
    assert "orders: created_at is 253402300800000000, which is no timestamp in micros" in out

"""Masked columns are neither compared nor read: no plain value leaves the source by a comparison or a repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.assets.reconcile.shop import Shop
from tests.assets.reconcile.test_postgres import reconcile, told
from tests.assets.reconcile.test_repairs import gold, place_of
from tests.services.postgres import USER, Postgres, postgres
from tests.support.commands_here import weir

__all__ = ["postgres"]

# Dagster's own, in the run that brings a repair to gold.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SECRET = "Annabel-of-the-source"
FAULTS = f"""
UPDATE shop.person SET name = '{SECRET}', born = '1999-12-31', raw = '{SECRET}' WHERE id BETWEEN 5 AND 8;
UPDATE shop.person SET name = '{SECRET}', flag = NOT flag WHERE id = 9;
DELETE FROM shop.person WHERE id = 10;
INSERT INTO shop.person(id, name, code) VALUES (10101, '{SECRET}', 'new');
"""
"""What no event tells of; four rows of it differ in nothing but what is masked."""


@pytest.fixture
def shop(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The shop, with a table of which three columns are masked, each in another way."""
    monkeypatch.setenv("WEIR_SOURCE_USERNAME", USER)
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setenv("WEIR_MASK_KEY", "a secret of at least sixteen")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    made = Shop(postgres, tmp_path)
    masked = "mask: {name: hash, born: null, raw: drop}\n    encoded: {made:"
    made.file.write_text(made.file.read_text().replace("encoded: {made:", masked))
    made.land_all()
    return made


def test_a_masked_column_makes_no_difference_and_no_repair_has_its_plain_value(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reconcile(shop, "--table", "person") == 0
    said = capsys.readouterr().out
    for column in ("name", "born"):
        assert f"column {column} is not compared: it is masked" in said
    assert "column raw is not compared" in said

    hashed = gold(shop, "person", id=9)[0]["name"]
    assert len(hashed) == 64
    shop.server.run(FAULTS)
    shop.go_on()
    code, found = told(shop, capsys, "--table", "person")
    kinds = {
        one["key"][0]: (one["kind"], one["columns"]) for one in found["tables"][0]["different"]
    }
    assert kinds == {"9": ("column", ["flag"]), "10": ("extra", []), "10101": ("missing", [])}
    assert code == 1
    assert SECRET not in str(found) and "1999-12-31" not in str(found)

    flag = gold(shop, "person", id=9)[0]["flag"]
    assert reconcile(shop, "--table", "person", "--repair", "--yes", "--by", "ann") == 0
    answer = capsys.readouterr()
    assert SECRET not in answer.out + answer.err
    assert "which is null in a new row: name, born" in answer.out
    (repaired,), (new,) = gold(shop, "person", id=9), gold(shop, "person", id=10101)
    assert (repaired["flag"], repaired["name"]) == (not flag, hashed)
    assert (new["name"], new["code"]) == (None, "new ")
    assert gold(shop, "person", id=10) == []
    assert weir("explain", "shop", "person", "9", *place_of(shop)) == 0
    assert SECRET not in capsys.readouterr().out
    # Every replay has it, and no byte of all that was written has what the source alone has.
    assert weir("rebuild", "shop", *place_of(shop)) == 0
    assert reconcile(shop, "--table", "person") == 0
    assert weir("verify", "shop", *place_of(shop)) == 0
    written = layers_with(Path(shop.lake.warehouse), [SECRET, "10101"])
    assert "10101" in written["bronze"]
    assert not any(SECRET in texts for texts in written.values())


def test_a_table_whose_key_is_masked_is_not_compared(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shop.file.read_text()
    shop.file.write_text(
        text.replace("word: {key: [text],", "word: {key: [text], mask: {text: hash},")
    )
    shop.bring()
    assert reconcile(shop, "--table", "word") == 2
    said = capsys.readouterr().out
    assert "gold.shop.word: not compared: its key cannot be compared: text: it is masked" in said

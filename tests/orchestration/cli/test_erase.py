"""``weir erase`` as a person calls it: asked, listed, certified, lifted; and its errors say what to do."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from assets.quality.data_docs import QualityFolder
from assets.storage.lake import Lake
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.assets.erasure.test_erasing import KEY, PLANTED, lay_all, names_of, person
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.support.commands_here import weir
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed

FEED = b"""format: arcion_s3_json
landing: ../drops
tables:
  people:
    key: [id]
    columns: {id: string, name: string, age: int}
    history: true
"""


class Here:
    """A folder of feeds and a warehouse, with three windows of people in gold."""

    def __init__(self, folder: Path) -> None:
        self.feeds, self.warehouse, self.drops = (
            folder / name for name in ("feeds", "warehouse", "drops")
        )
        lay(self.feeds, "zoo.yaml", FEED)
        lay_all(self.drops)
        self.lake: Lake = lake_of(str(self.warehouse))
        bring(self.lake, self.feed)

    @property
    def feed(self) -> Feed:
        (feed,) = load_feeds(self.feeds)
        return feed

    def erase(self, *words: str) -> int:
        return weir(
            "erase", "zoo", *words, "--feeds", str(self.feeds), "--warehouse", str(self.warehouse)
        )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setenv("WEIR_EXECUTOR", "in-process")
    monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of the tests' own")
    monkeypatch.setattr(Lake, "spark", property(lambda _: pytest.fail("Spark was asked")))
    return Here(tmp_path)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_person_is_erased_and_the_certificate_says_from_where(
    here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    # Pages that show samples.
    QualityFolder(here.lake.warehouse, "zoo").write("results/one.json", f'"{KEY}"')
    lay(here.warehouse, "_reports/zoo.html", KEY.encode())
    lay(here.warehouse, "_reports/other.html", b"another feed's")
    assert {"_quality", "_reports"} < layers_with(here.warehouse, PLANTED).keys()

    assert here.erase("people", KEY, "--reason", "asked for it", "--by", "ann", "--dry-run") == 0
    assert "5 records of bronze, of 3 windows" in printed(capsys)
    assert layers_with(here.warehouse, PLANTED).keys() >= {"bronze", "gold", "_reports"}

    assert here.erase("people", KEY, "--reason", "asked for it", "--by", "ann", "--json") == 0
    (facts,) = json.loads(printed(capsys))["certificates"]
    assert layers_with(here.warehouse, PLANTED) == {}
    assert (here.warehouse / "_reports/other.html").exists()
    assert names_of(here.lake, here.feed) == {"pk-1": "Adele"}

    kept = here.warehouse / "_erased/zoo" / f"{facts['erasure']}.json"
    certificate: dict[str, Any] = json.loads(kept.read_text())
    assert certificate == facts
    assert (certificate["decided_by"], certificate["reason"]) == ("ann", "asked for it")
    assert certificate["records"] == 5
    of_tables = {one["table"]: one for one in certificate["tables"]}
    assert of_tables["bronze.zoo"]["rows"] == 5
    assert (
        of_tables["gold.zoo.people"]["version_before"]
        < of_tables["gold.zoo.people"]["version_after"]
    )
    landing = [(one["object"], one["records"]) for one in certificate["landing"]]
    assert landing == [
        ("2025-11-20/03/a.json", 1),
        ("2025-11-20/04/b.json", 2),
        ("2025-11-20/05/c.json", 2),
    ]
    page = kept.with_suffix(".html").read_text()
    assert facts["key_hashes"][0] in page
    assert "Backups and snapshots" in page

    assert here.erase() == 0
    assert "people  5 records, finished; ann: asked for it" in printed(capsys)


def test_a_key_from_standard_input_and_what_landed_again(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert here.erase("people", "-", "--reason", "asked", "--yes") == 0
    assert here.erase("--again", "--reason", "a look") == 0
    assert "bronze holds nothing of erased keys" in printed(capsys)
    lay(here.drops, "2025-11-20/06/d.json", drop(person("I", 30, KEY, "Quillfeather")))
    bring(here.lake, here.feed)
    assert layers_with(here.warehouse, PLANTED).keys() == {"bronze"}
    assert here.erase("--again", "--reason", "it landed again") == 0
    assert layers_with(here.warehouse, PLANTED) == {}

    assert here.erase("people", KEY, "--lift", "--reason", "a mistake") == 0
    assert "after `weir rebuild zoo`" in printed(capsys)
    lay(here.drops, "2025-11-20/06/e.json", drop(person("I", 30, KEY, "Quillfeather")))
    bring(here.lake, here.feed)
    assert KEY in names_of(here.lake, here.feed)
    assert here.erase() == 0
    assert "1 record, finished" in (said := printed(capsys))
    assert "lifted" in said


def test_faults_say_what_to_do(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.erase("people", KEY) == 2
    assert "say why with --reason" in capsys.readouterr().err
    assert here.erase("peopel", KEY, "--reason", "x") == 2
    assert "did you mean" in capsys.readouterr().err
    assert here.erase("people", "--reason", "x") == 2
    assert "which key of people?" in capsys.readouterr().err
    assert here.erase("people", KEY, "--lift", "--reason", "x") == 2
    assert "is not erased; nothing was recorded" in capsys.readouterr().err
    monkeypatch.delenv("WEIR_ERASURE_KEY")
    assert here.erase("people", KEY, "--reason", "x") == 2
    assert "Set it to a text of at least 16 characters" in capsys.readouterr().err

"""``weir erase`` as a person calls it: asked, listed, certified, lifted; and its errors say what to do."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.erasure import record
from assets.erasure.erase import Told, erase
from assets.erasure.record import Plan
from assets.erasure.search import KeyToErase
from assets.quality.data_docs import QualityFolder
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from orchestration.definitions import job_to_gold
from orchestration.feeds.load import load_feeds
from orchestration.observability.run_tags import RANGE
from orchestration.resources import lake_of
from tests.assets.erasure.test_erasing import (
    KEY,
    NAME,
    OLDER,
    PLANTED,
    UNFIT,
    lay_all,
    names_of,
    person,
    response,
)
from tests.assets.erasure.warehouse_bytes import layers_with
from tests.support.commands_here import weir
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

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
    lay(here.warehouse, "_reports/.zoo.html.77", f"of one who was killed: {KEY}".encode())
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

    # The same once more finds nothing, and shows the same certificate; a mistyped key has none.
    assert here.erase("people", KEY, "--reason", "asked for it", "--by", "ann", "--json") == 0
    assert [one["erasure"] for one in json.loads(printed(capsys))["certificates"]] == [
        facts["erasure"]
    ]
    mistyped = ("people", "pk-0000", "--reason", "asked for it", "--by", "ann", "--yes")
    assert here.erase(*mistyped) == 2
    assert here.erase(*mistyped, "--in-advance") == 0


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


class Stopped(Exception):
    """The process dies here."""


class Deaths:
    """Lets an erasure die once before and after each note of a step, and before each table's older versions go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.died: set[str] = set()
        self.are_over = False
        noted, forgotten = record.note, InProcessTable.forget_versions

        def note(lake: Lake, feed: Feed, erasure: str, step: str, meaning: object) -> None:
            # Before the plan is noted, nothing is begun.
            self.once(f"before {step}" if step != record.PLANNED else "")
            noted(lake, feed, erasure, step, meaning)
            self.once(f"after {step}")

        def forget(table: InProcessTable) -> int:
            self.once(f"versions of {table.name}")
            return forgotten(table)

        monkeypatch.setattr(record, "note", note)
        monkeypatch.setattr(InProcessTable, "forget_versions", forget)

    def once(self, where: str) -> None:
        if where and not self.are_over and where not in self.died:
            self.died.add(where)
            raise Stopped(where)


def erasure_that_dies(here: Here, key: str) -> None:
    """Begin to erase a key, and die right after that."""
    table = here.feed.tables["people"]
    with pytest.raises(Stopped):
        erase(here.lake, here.feed, KeyToErase(table, "people", (key,)), ("ann", "asked for it"))


def statuses(here: Here, capsys: pytest.CaptureFixture[str]) -> str:
    place = ("--feeds", str(here.feeds), "--warehouse", str(here.warehouse))
    capsys.readouterr()
    assert weir("status", *place) == 0
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_the_next_run_finishes_an_interrupted_erasure_before_it_reads_anything(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--feeds", str(here.feeds), "--warehouse", str(here.warehouse))
    deaths = Deaths(monkeypatch)
    erasure_that_dies(here, KEY)
    (begun,) = record.unfinished(here.lake, here.feed)
    said = statuses(here, capsys)
    assert "erasure unfinished" in said
    assert f"zoo: erasure {begun.plan.id} of people, begun at" in said
    assert "`weir run zoo` finishes it" in said
    # She comes again, and so does what was erased.
    again = drop(person("I", 40, KEY, "Newname"), person("I", 30, KEY, NAME))
    lay(here.drops, "2025-11-20/06/d.json", again)

    for _ in range(200):
        code = weir("run", *place)
        if code == 0:
            break
        assert record.unfinished(here.lake, here.feed) or f"after {record.FINISHED}" in deaths.died
        assert "2025-11-20T06" not in here.lake.in_process_table(Layer.BRONZE, "zoo").windows
    assert code == 0
    assert {"after planned", "after decided", "before derived", "before finished"} < deaths.died
    assert "versions of gold.zoo.people" in deaths.died
    (done,) = record.recorded(here.lake, here.feed)
    assert done.finished_at is not None
    assert names_of(here.lake, here.feed) == {"pk-1": "Adele", KEY: "Newname"}
    # Of what is old nothing is left, but in bronze that it has landed once more.
    assert layers_with(here.warehouse, (NAME, OLDER, UNFIT)) == {"bronze": {NAME}}
    certificate = json.loads((here.warehouse / f"_erased/zoo/{done.plan.id}.json").read_text())
    assert (certificate["records"], certificate["finished_at"]) == (5, done.finished_at.isoformat())
    rows = {one["table"]: one["rows"] for one in certificate["tables"]}
    assert (rows["bronze.zoo"], rows["silver.zoo"], rows["gold.zoo.people"]) == (5, 4, 1)
    assert "unfinished" not in statuses(here, capsys)


def test_a_run_finishes_several_erasures_where_nothing_is_new_and_stops_without_their_secret(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--feeds", str(here.feeds), "--warehouse", str(here.warehouse))
    deaths = Deaths(monkeypatch)
    for key in (KEY, "pk-1"):
        deaths.died.clear()
        erasure_that_dies(here, key)
    deaths.are_over = True
    lay(here.drops, "2025-11-20/06/d.json", drop(person("I", 40, "pk-2", "Cleo")))
    for secret in (None, "another secret of the tests"):
        monkeypatch.delenv("WEIR_ERASURE_KEY")
        if secret:
            monkeypatch.setenv("WEIR_ERASURE_KEY", secret)
        capsys.readouterr()
        assert weir("run", *place) == 2
        wrong = "holds another" if secret else "is not set"
        assert f"before anything new is read: WEIR_ERASURE_KEY {wrong}" in capsys.readouterr().err
        monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of the tests' own")
    assert "2025-11-20T06" not in here.lake.in_process_table(Layer.BRONZE, "zoo").windows
    (here.drops / "2025-11-20/06/d.json").unlink()
    assert weir("run", *place, "--json") == 0
    shown = capsys.readouterr()
    both = [one.plan.id for one in record.recorded(here.lake, here.feed)]
    assert json.loads(shown.out)[0]["erasures"] == both
    assert "bronze.zoo" in shown.err
    assert names_of(here.lake, here.feed) == {}
    assert layers_with(here.warehouse, (*PLANTED, "Adele")) == {}
    assert record.unfinished(here.lake, here.feed) == []


def test_a_run_in_dagster_finishes_it_and_keeps_the_certificate(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths = Deaths(monkeypatch)
    deaths.died.add("after planned")
    erasure_that_dies(here, KEY)
    deaths.are_over = True
    lay(here.drops, "2025-11-20/06/d.json", drop(person("I", 40, KEY, "Newname")))
    job = job_to_gold(here.feed, here.lake)
    tags = dict.fromkeys(RANGE, "2025-11-20T06")
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, tags=tags)
        told = [entry.user_message for entry in instance.all_logs(result.run_id)]
    (done,) = record.recorded(here.lake, here.feed)
    assert done.finished_at is not None
    gone_on = [at for at, text in enumerate(told) if "was interrupted and is gone on with" in text]
    landed = [at for at, text in enumerate(told) if "1 new object" in text]
    assert gone_on and landed and gone_on[0] < landed[0]
    assert names_of(here.lake, here.feed) == {"pk-1": "Adele", KEY: "Newname"}
    assert layers_with(here.warehouse, (NAME, OLDER, UNFIT)) == {}
    assert (here.warehouse / f"_erased/zoo/{done.plan.id}.html").exists()


def test_what_a_run_has_read_since_the_key_was_looked_for_is_looked_through_too(
    here: Here,
) -> None:
    what = KeyToErase(here.feed.tables["people"], "people", (KEY,))

    def meanwhile(_: Plan) -> bool:
        lay(here.drops, "2025-11-20/06/d.json", drop(person("U", 40, KEY, NAME, "Newname")))
        bring(here.lake, here.feed)
        return True

    done = erase(here.lake, here.feed, what, ("ann", "asked for it"), Told(meanwhile))
    assert len(done.plan.records) == 6
    assert layers_with(here.warehouse, (*PLANTED, "Newname")) == {}
    assert names_of(here.lake, here.feed) == {"pk-1": "Adele"}


def test_a_person_whose_record_others_share_is_erased_by_a_new_warehouse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the refusal says to do, done: the source erases her, a new export lands, a new warehouse is made of it."""
    monkeypatch.setenv("WEIR_EXECUTOR", "in-process")
    monkeypatch.setenv("WEIR_ERASURE_KEY", "a secret of the tests' own")
    table = "tables: {region: {key: [id], columns: {id: int, name: string}}}"
    text = f"format: yugabyte\nlanding: ../drops\n{table}\n"
    lay(tmp_path / "feeds", "zoo.yaml", text.encode())
    name, other = "2025-11-20/03/tablet=t1/a.jsonl", ("region", 7, "Other")
    lay(tmp_path / "drops", name, drop(response(4, ("region", 1, NAME), other)))
    feeds = ("--feeds", str(tmp_path / "feeds"))
    first = ("--warehouse", str(tmp_path / "first"))
    (feed,) = load_feeds(tmp_path / "feeds")
    # Not as a run, whose step of tablets' offsets takes Spark.
    bring(lake_of(str(tmp_path / "first")), feed)
    before = layers_with(tmp_path / "first", [NAME])
    assert before.keys() >= {"bronze", "silver", "gold"}
    capsys.readouterr()
    for words in (["--dry-run"], ["--yes"]):
        why = ("--reason", "asked for it", *words)
        assert weir("erase", "zoo", "region", "1", *why, *feeds, *first) == 2
        said = capsys.readouterr().err
        assert f"{name}, line 1, is one record that holds more than rows of this key" in said
        assert "let a new export land, and make a new warehouse of it" in said
    assert layers_with(tmp_path / "first", [NAME]) == before
    assert weir("erase", "zoo", *feeds, *first) == 0
    assert "zoo: 0 erasures" in capsys.readouterr().out

    lay(tmp_path / "drops", name, drop(response(9, other)))
    made = lake_of(str(tmp_path / "second"))
    bring(made, feed)
    assert layers_with(tmp_path / "second", [NAME]) == {}
    rows = made.in_process_table(Layer.GOLD, "zoo", "region").rows()
    assert [(row["id"], row["name"]) for row in rows] == [(7, "Other")]


def test_a_dry_run_changes_nothing_whatever_stands_beside_it(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It decides nothing, so that nobody has to say why.
    assert here.erase("people", KEY, "--dry-run") == 0
    assert "5 records of bronze" in printed(capsys)
    deaths = Deaths(monkeypatch)
    erasure_that_dies(here, KEY)
    deaths.are_over = True
    assert here.erase("people", KEY, "--dry-run") == 0
    assert "was interrupted; the next `weir run` finishes it" in capsys.readouterr().err
    assert here.erase("--again", "--dry-run", "--reason", "x") == 2
    assert "knows no --dry-run" in capsys.readouterr().err
    (left,) = record.unfinished(here.lake, here.feed)
    assert here.erase("--again", "--reason", "x") == 0
    assert here.erase("people", KEY, "--lift", "--dry-run") == 0
    assert "that key of people is erased; nothing was recorded" in printed(capsys)
    assert here.erase() == 0
    assert f"{left.plan.id}  " in (said := printed(capsys))
    assert "lifted" not in said


def test_what_would_be_passed_over_is_refused(
    here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    assert here.erase("--lift", "--reason", "x") == 2
    assert "--lift is about one key" in capsys.readouterr().err
    for words in (("people", KEY, "--again"), ("--again", "--lift")):
        assert here.erase(*words, "--reason", "x") == 2
        assert "--again is about all erased keys" in capsys.readouterr().err


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

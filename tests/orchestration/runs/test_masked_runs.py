"""Whole runs of feeds that mask columns: nothing behind bronze holds a masked value but quarantine's payload."""

from __future__ import annotations

import gzip
import json
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from assets.quarantine.records import quarantine_of
from assets.storage.lake import Lake
from orchestration.cli import quarantine
from orchestration.cli.options import Place
from orchestration.definitions import build, job_to_gold
from orchestration.feeds.load import load_feed
from orchestration.feeds.tables import MASK_KEY
from orchestration.resources import lake_of
from tests.support.pet_feed import change, drop, lay
from transforms.feed.feed import Feed

# Dagster's and Great Expectations' own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = "2025-11-20T03"
SECRET = "the key of a whole run's masks"
FEED = """\
format: {format}
landing: ../landing
tables:
  pets:
    key: [id]
    columns: {{id: int, name: string, born: string, note: string, weight: int}}
    mask: {{name: hash, born: null, note: drop}}
    history: true
    schema_changes: {{add_column: evolve}}
expectations:
  gold:
    pets:
      columns:
        name: [{{expect_column_values_to_match_regex: {{regex: "^no hash is this$"}}}}]
"""
OPERATION = '"{{""log"":""log-bin.000007"",""position"":{at},""logSeqNum"":1,""timestamp"":1763600000000,""v"":2}}"'

# What stands nowhere else: words, with the sign that ends a name in a path, and one that JSON escapes.
VALUES = st.lists(
    st.text(string.ascii_letters + string.digits + " äß/'", min_size=12, max_size=30).map(
        lambda text: f"q{text}Q"
    ),
    min_size=4,
    max_size=4,
    unique=True,
)


def json_drop(values: Sequence[str]) -> bytes:
    """Changes of two pets, each with masked values, and every way in which such a record ends in quarantine."""
    first, second, third, fourth = values
    pet = {"id": "1", "name": first, "born": second, "note": third, "weight": "3"}
    other = {**pet, "id": "2", "name": fourth}
    insert = change("I", 1, after=pet)
    return drop(
        *(insert, insert, change("I", 2, after=other)),
        change("U", 3, pet, {**pet, "name": fourth, "note": first}),
        change("U", 4, {"id": "1"}, {"id": "1", "NAME": first, "Note": second}),
        change("U", 5, other, {**other, "id": "3"}),
        # Another payload at a position that was there, a value that does not fit, and no known operation.
        change("U", 5, other, {**other, "id": "3", "weight": "4"}),
        change("U", 6, pet, {**pet, "weight": "heavy"}),
        change(third, 7, pet),
        change("I", 8, after={**pet, "id": "x"}),
        insert[:-20],
        json.dumps({"name": first, "tableName": second, "opType": third}),
        json.dumps({**json.loads(insert), "exists": dict.fromkeys(pet, first)}),
        json.dumps({**json.loads(insert), "cursor": fourth}),
    )


def csv_drop(values: Sequence[str]) -> bytes:
    """The same as rows that are read by position; one of them has a comma too many."""
    first, second, third, fourth = values
    lines = [f'1,"{first}","{second}","{third}",3', f"2,{fourth},{second},{third},heavy"]
    triplets = f"1,1,3,{fourth},{first},3,{second},{second},3,{first},{third},3,3,3,3"
    lines += [
        f"{triplets},U,{OPERATION.format(at=3)},{{}}",
        f"{triplets},{first},{OPERATION.format(at=4)},{{}}",
        f"{triplets},U,{second},{{}}",
        f"1,1,3,{fourth},{first},0,{second},{second},{third},{first},{third},3,3,3,3,U,"
        f"{OPERATION.format(at=5)},{{}}",
        f"1,{first},,{second},{third},3",
        f'1,"{first}" {second},{third},3,4',
    ]
    return "".join(f"{line}\n" for line in lines).encode()


DROPS = {"arcion_s3_json": (json_drop, "a.json"), "arcion_s3_csv": (csv_drop, "pets/a.csv")}


class Made:
    """A warehouse after one run of Dagster, and all that its event log holds."""

    def __init__(self, folder: Path, format: str, values: Sequence[str], *, masked: bool) -> None:
        to_bytes, name = DROPS[format]
        lay(folder / "landing", f"{WINDOW.replace('T', '/')}/{name}", to_bytes(values))
        lay(folder / "feeds", "zoo.yaml", FEED.format(format=format).encode())
        feed = load_feed(folder / "feeds" / "zoo.yaml")
        if not masked:
            pets = feed.tables["pets"]
            pets = replace(pets, columns=pets.source_columns, masks={}, unmasked_columns={})
            feed = replace(feed, tables={"pets": pets}, mask_key=None)
        self.feed: Feed = feed
        self.lake: Lake = lake_of(str(folder / "warehouse"))
        with dg.DagsterInstance.ephemeral() as instance:
            result = job_to_gold(feed, self.lake).execute_in_process(
                instance=instance, partition_key=WINDOW, raise_on_error=False
            )
            self.events = [
                dg.serialize_value(one) + repr(one.user_message)
                for one in instance.all_logs(result.run_id)
            ]

    def holding(self, values: Sequence[str]) -> set[str]:
        """The places that hold one of the values: layers of the warehouse, and the event log."""
        return {
            where
            for where, texts in self.texts()
            if any(
                spelled in text for text in texts for one in values for spelled in spellings(one)
            )
        }

    def texts(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Everything that the run has left, as texts, by its place."""
        yield "event log", self.events
        root = Path(self.lake.warehouse.removeprefix("file:"))
        for file in sorted(one for one in root.rglob("*") if one.is_file()):
            layer = file.relative_to(root).parts[0]
            data = file.read_bytes()
            if file.suffix == ".gz":
                data = gzip.decompress(data)
            yield layer, [str(file)]
            if file.suffix != ".parquet" or layer != "quarantine":
                # The bytes of quarantine's files are its payloads, too: there only columns can be told apart.
                yield layer, [data.decode("utf-8", "replace")]
            if file.suffix == ".parquet":
                table = pq.read_table(file, partitioning=None)
                for column in table.column_names:
                    of_payload = layer == "quarantine" and column == "payload"
                    where = "payload of quarantine" if of_payload else layer
                    yield where, [str(one) for one in table[column].to_pylist()]


def spellings(value: str) -> list[str]:
    """A value as it may be written: as it is, in JSON (once and within a text), as Python shows bytes and texts."""
    in_json = json.dumps(value)[1:-1]
    raw = repr(value.encode())[2:-1]
    return [value, in_json, json.dumps(in_json)[1:-1], raw, repr(value)[1:-1]]


@pytest.fixture(autouse=True, scope="module")
def _secret() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MASK_KEY, SECRET)
        yield


@pytest.mark.parametrize("format", sorted(DROPS))
# Each example is a run: they are few, and a smaller one says no more.
@settings(max_examples=3, phases=[Phase.generate])
@given(values=VALUES)
def test_no_masked_value_leaves_bronze_but_in_quarantines_payload(
    format: str, values: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        made = Made(Path(folder), format, values, masked=True)
        # No run is searched in which nothing was refused, or no check had anything to show.
        assert len(quarantine_of(made.lake, made.feed).records) >= 5
        assert any("expect_column_values_to_match_regex" in one for one in made.events)
        assert any("weight is heavy, which is no int" in one for one in made.events)
        assert made.holding([SECRET]) == set()
        assert made.holding(values) == {"bronze", "payload of quarantine"}


@pytest.mark.parametrize("format", sorted(DROPS))
def test_without_masks_the_same_search_finds_them_everywhere(tmp_path: Path, format: str) -> None:
    values = ["qMallory's nameQ", "qher birthdayQ", "qa note of herQ", "qanother nameQ"]
    places = Made(tmp_path, format, values, masked=False).holding(values)
    assert places >= {
        "bronze",
        "silver",
        "gold",
        "quarantine",
        "payload of quarantine",
        "event log",
    }


def test_lists_of_quarantine_show_no_payload_and_a_single_record_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = ["qMallory's nameQ", "qher birthdayQ", "qa note of herQ", "qanother nameQ"]
    made = Made(tmp_path, "arcion_s3_json", values, masked=True)
    place = Place(tmp_path / "feeds", str(tmp_path / "warehouse"))
    for as_json in (False, True):
        quarantine.list_records(place, "zoo", None, "all", as_json=as_json)
    listed = capsys.readouterr().out
    assert "(not shown: the feed masks columns)" in listed
    assert not any(one in listed for one in values)
    cut = next(
        one for one in quarantine_of(made.lake, made.feed).records if one.reason == "damaged_record"
    )
    quarantine.show_record(place, "zoo", cut.id, as_json=False)
    assert values[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("form", "command"),
    [
        ({"action": "show"}, "weir quarantine show"),
        (
            {"action": "replay", "repaired_payload": "{}", "reason": "a typo"},
            "weir quarantine replay",
        ),
    ],
)
def test_dagsters_form_neither_shows_a_record_nor_takes_one(
    tmp_path: Path, form: dict[str, object], command: str
) -> None:
    values = ["qMallory's nameQ", "qher birthdayQ", "qa note of herQ", "qanother nameQ"]
    made = Made(tmp_path, "arcion_s3_json", values, masked=True)
    record = quarantine_of(made.lake, made.feed).records[0]
    with dg.DagsterInstance.ephemeral() as instance:
        result = (
            build([made.feed], made.lake)
            .resolve_job_def("zoo_quarantine")
            .execute_in_process(
                instance=instance,
                run_config={"ops": {"quarantine_of_zoo": {"config": {**form, "ids": [record.id]}}}},
                raise_on_error=False,
            )
        )
        logged = [dg.serialize_value(one) for one in instance.all_logs(result.run_id)]
    assert not result.success
    assert any(command in one for one in logged)
    assert not any(value in one for one in logged for value in values)

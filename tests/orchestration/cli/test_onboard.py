"""`weir onboard`: the feed file that it writes, what it says, and what it refuses."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from assets.landing.landings import open_landing
from assets.onboarding import sample
from orchestration.cli.onboard import Request, name_of, onboard
from orchestration.feeds.load import load_feed
from tests.support.onboarded import laid, onboarded
from transforms.errors import FeedMisdeclared, FormatUnclear, UnreadableLanding
from transforms.feed.feed import CsvDialect
from transforms.records.encoding import canonical

ENVELOPE = {
    "tableName": {"namespace": {"catalog": "zoo", "schema": "s"}, "name": "pets"},
    "opType": "I",
    "cursor": None,
    "before": {"id": "null", "name": "null"},
    "exists": {"id": "1", "name": "1"},
}
DEBEZIUM = {
    "op": "c",
    "source": {"connector": "mysql", "db": "d", "table": "t", "file": "bin.1", "pos": 1},
    "after": {"id": 1},
}


def pets(*rows: tuple[str, str]) -> bytes:
    lines = [{**ENVELOPE, "after": {"id": key, "name": name}} for key, name in rows]
    return "\n".join(map(json.dumps, lines)).encode()


@pytest.fixture
def drops(tmp_path: Path) -> str:
    objects = {"2026-11-20/03/part_1.json": pets(("1", "Rex"), ("2", "Mia"))}
    return laid(tmp_path / "drops", objects)


@pytest.mark.parametrize(
    "feed", ["shop", "bank", "clinic", "films", "meters", "social", "tpch", "wallet"]
)
def test_the_demos_drops_are_proposed_as_their_feed_files_declare_them(
    root: Path, feed: str
) -> None:
    """What nothing in the drops says is left out of the comparison, and named here."""
    written = load_feed(root / f"feeds/{feed}.yaml")
    found = onboarded(str(root / f"demo/{feed}"))
    assert found.feed.format == written.format
    assert found.feed.window == written.window
    if feed == "films":
        assert found.feed.predicates.keys() >= written.predicates.keys()
        return
    assert found.feed.tables.keys() == written.tables.keys()
    # The drops of the nation have no names for its columns.
    for name in {*written.tables} - {"nation"}:
        mine, theirs = found.feed.tables[name], written.tables[name]
        assert mine.key == theirs.key
        assert {*mine.columns} == {*theirs.columns}
        assert mine.cdc_columns == theirs.cdc_columns or feed != "tpch"


def test_the_file_is_written_once_and_says_where_the_drops_are(
    drops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feeds = tmp_path / "feeds"
    assert onboard(Request(drops, feeds, name="zoo")) == 0
    captured = capsys.readouterr()
    feed = load_feed(feeds / "zoo.yaml")
    assert (feed.landing, feed.window) == (drops, "hour")
    assert feed.tables["pets"].key == ("id",)
    assert "gold.zoo.pets: 2 rows" in captured.out
    assert captured.err.splitlines()[-1] == f"Try next: weir run --feed zoo --feeds {feeds}"
    assert "a guess" in (feeds / "zoo.yaml").read_text()
    with pytest.raises(FeedMisdeclared, match="there is one already"):
        onboard(Request(drops, feeds, name="zoo"))
    (feeds / "zoo.yaml").write_text("")
    assert onboard(Request(drops, feeds, name="zoo", force=True)) == 0
    assert load_feed(feeds / "zoo.yaml") == feed


def test_the_windows_are_said_before_anything_is_read(
    drops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid(
        Path(drops), {"2026-11-20/04/part_1.json": pets(("3", "Leo")), "a.json": pets(("4", "Tom"))}
    )
    # At noon of the day before.
    os.utime(Path(drops) / "a.json", (1_763_640_000, 1_763_640_000))
    assert onboard(Request(drops, tmp_path / "feeds")) == 0
    said = capsys.readouterr().err.splitlines()
    begin = said.index("3 windows of one hour, 2025-11-20T12 to 2026-11-20T04:")
    assert said[begin + 1 : begin + 4] == [
        "  by {year}-{month}-{day}/{hour} in the path: 2 windows, 2 objects; 2026-11-20/03/part_1.json is of"
        " 2026-11-20T03",
        "  by when an object was last modified, as its path has no date that is known (the key window_path of the feed"
        " file can name the place of one): 1 window, 1 object; a.json is of 2025-11-20T12",
        "reading a sample of the objects:",
    ]


def test_a_path_that_needs_the_key_gets_it_in_the_feed_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"pets/y=2026/m=11/d=20/h={hour:02}/a.json" for hour in range(3)]
    landing = laid(tmp_path / "drops", {name: pets(("1", "Rex")) for name in names})
    assert onboard(Request(landing, tmp_path / "feeds", name="zoo")) == 0
    captured = capsys.readouterr()
    shape = "y={year}/m={month}/d={day}/h={hour}"
    assert (
        f"  by {shape} in the path: 3 windows, 3 objects; {names[0]} is of 2026-11-20T00"
        in captured.err
    )
    feed = load_feed(tmp_path / "feeds/zoo.yaml")
    assert (feed.window, feed.window_path) == ("hour", shape)
    windows = [one.window for one in open_landing(feed, ("**/*.json",)).list()]
    assert windows == ["2026-11-20T00", "2026-11-20T01", "2026-11-20T02"]


def test_a_relative_landing_stays_relative_to_the_feed_file(
    drops: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    onboard(Request("drops", Path("feeds")))
    assert capsys.readouterr().err.splitlines()[-1] == "Try next: weir run --feed drops"
    assert "landing: ../drops" in (tmp_path / "feeds/drops.yaml").read_text()
    assert load_feed(tmp_path / "feeds/drops.yaml").landing == drops


def test_printing_writes_no_file_and_nothing_else_to_standard_output(
    drops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert onboard(Request(drops, tmp_path / "feeds", writes=False)) == 0
    captured = capsys.readouterr()
    assert not (tmp_path / "feeds").exists()
    file = tmp_path / "printed.yaml"
    file.write_text(captured.out)
    assert load_feed(file).format == "arcion_s3_json"
    assert "gold.drops.pets: 2 rows" in captured.err


def test_what_would_be_quarantined_is_counted_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        pets(("1", "Rex"))
        + b'\n{"tableName": {}, "opType": "X", "cursor": "{}", "exists": {}}\n{"cut'
    )
    landing = laid(tmp_path / "drops", {"a.json": lines})
    onboard(Request(landing, tmp_path / "feeds"))
    out = capsys.readouterr().out
    assert "2 quarantined" in out
    assert "quarantine: 1 unknown_operation, the first a.json:2" in out
    assert "quarantine: 1 damaged_record, the first a.json:3" in out


def test_an_empty_landing_is_no_feed_yet(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLanding, match="no drop is there yet"):
        onboarded(laid(tmp_path / "drops", {"_SUCCESS": b""}))
    (tmp_path / "drops/a.json").write_bytes(b"")
    with pytest.raises(UnreadableLanding, match="all are empty"):
        onboarded(str(tmp_path / "drops"))
    with pytest.raises(UnreadableLanding, match="there is no such folder"):
        onboarded(str(tmp_path / "nowhere"))


def test_rubbish_is_of_no_format(tmp_path: Path) -> None:
    landing = laid(tmp_path, {"a.json": bytes(range(256)) * 40, "b.csv": b"\x00\x01,\x02\n"})
    with pytest.raises(FormatUnclear, match="of no format that Weir recognises") as quarantined:
        onboarded(landing)
    assert "a.json begins with" in str(quarantined.value)
    assert quarantined.value.candidates == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"op": "c", "ts_ms": 1, "before": null, "after": {"id": 1}, "db": {}}',
            "the nearest is debezium: of its fields they have op, before, after, ts_ms; no source; and db beside",
        ),
        ('{"op_type": "I", "table": "A", "after": {}}', "written op_type for opType"),
        (
            '{"type": "insert", "data": {"id": 1}}',
            "a row without an envelope .* objects or lists in data",
        ),
        (
            "1;Rex;2,5\n2;Mia;3,5\n",
            "rows of 3 fields with ';' between them: the nearest is arcion_s3_csv",
        ),
    ],
)
def test_of_drops_of_no_format_the_nearest_is_named_and_what_differs(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(FormatUnclear, match=says):
        onboarded(laid(tmp_path, {"a.txt": text.encode()}))


def test_files_in_another_encoding_and_dialect_are_read_as_they_are_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = "Pet no.;Its name;Fee\n1;Müller;2,50\n2;Zoë;\\N\n".encode("windows-1252")
    second = b"Pet no.;Its name;Fee\n3;'Ang; I';10,00\n"
    landing = laid(
        tmp_path / "drops",
        {
            "pets/2026-11-20/03/a.csv": first,
            "pets/2026-11-20/04/b.csv.bz2": bz2.compress(second),
            "pets/2026-11-20/04/c.csv": b"\xff\x06\0\0sNaPpYabcdef",
            "toys/2026-11-20/04/d.csv": b"1\tball\n2\tbone\n",
        },
    )
    assert onboard(Request(landing, tmp_path / "feeds", name="zoo")) == 0
    captured = capsys.readouterr()
    feed = load_feed(tmp_path / "feeds/zoo.yaml")
    assert feed.encoding == canonical("windows-1252")
    assert feed.csv == CsvDialect(";", "'", "\\", "\\N", "yes")
    assert feed.tables["pets"].renamed
    text = (tmp_path / "feeds/zoo.yaml").read_text()
    assert "a guess: 2 of 2 lines with other letters than ASCII's are no UTF-8" in text
    assert re.search(r"^1 +Müller +2,50 *$", captured.out, re.MULTILINE)
    assert re.search(r"^3 +Ang; I +10,00 *$", captured.out, re.MULTILINE)
    said = captured.err
    assert "1 of them bz2" in said
    assert (
        "quarantine as they are: pets/2026-11-20/04/c.csv: the object is compressed with snappy"
        in said
    )
    assert "check: toys/2026-11-20/04/d.csv seems to have another delimiter" in said


def test_a_large_zip_is_sampled_although_its_list_of_files_stands_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MOST_OF_OBJECT", 4_000)
    file = tmp_path / "drops/a.json"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.json", pets(*((str(number), "x") for number in range(100))))
    assert onboarded(str(file.parent)).gold()["pets"]


def test_drops_of_two_formats_need_two_feeds(tmp_path: Path) -> None:
    landing = laid(
        tmp_path, {"arcion/a.json": pets(("1", "Rex")), "dbz/b.json": json.dumps(DEBEZIUM).encode()}
    )
    with pytest.raises(FormatUnclear, match="several formats lie here") as quarantined:
        onboarded(landing)
    assert {*quarantined.value.candidates} == {"arcion_s3_json", "debezium"}
    # Either can be had alone.
    assert onboarded(landing, files="dbz/*.json").feed.format == "debezium"
    assert onboarded(f"{landing}/arcion").feed.format == "arcion_s3_json"


def test_objects_that_the_feed_leaves_out_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landing = laid(
        tmp_path,
        {"a.json": pets(("1", "Rex")), "b.csv": b"1,Rex\n", "c.txt": b"hello", "_done": b"1"},
    )
    assert onboard(Request(landing, tmp_path / "feeds", name="zoo")) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("check: ")]
    assert said[-3:] == [
        "check: b.csv may be of format arcion_s3_csv: onboard such objects apart, with --files.",
        "check: the feed leaves out by their names: b.csv; c.txt.",
        "check: the feed leaves out as no drops: _done: a marker: its name begins with an underscore.",
    ]
    assert onboard(Request(f"{landing}/a.json", tmp_path / "feeds", name="alone")) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "leaves out" in line]
    assert len(said) == 1


def test_a_format_that_is_named_is_taken(tmp_path: Path) -> None:
    landing = laid(tmp_path, {"pets/a.json": b'{"id": "1", "name": "Rex"}'})
    assert onboarded(landing).feed.format == "arcion_s3_json"
    assert onboarded(landing, "debezium").feed.format == "debezium"
    with pytest.raises(FeedMisdeclared, match="did you mean debezium"):
        onboard(Request(landing, tmp_path / "feeds", format_name="debesium"))


def test_of_a_large_landing_little_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MOST_OF_OBJECT", 4_000)
    many = {f"2026-11-20/{hour:02}/part.json": pets(("1", "Rex")) for hour in range(24)}
    large = pets(*((str(number), "x") for number in range(100)))
    many |= {"big.json": large, "big.json.gz": gzip.compress(large)}
    landing = laid(tmp_path, many)
    found = onboarded(landing, objects=5)
    read = found.evidence.objects
    # The hours are of one kind, so that the large ones are among those that are read.
    assert len(read) == 5
    assert {"big.json", "big.json.gz"} <= read.keys()
    # Where the sample is cut, half a record is no fault of the drop.
    assert found.preview.quarantined == ()
    assert 2 < found.preview.records < 200


@pytest.mark.parametrize(
    ("landing", "name"),
    [
        ("s3://drops/Shop-EU/", "shop_eu"),
        ("/data/tpch/2026-11-20/03", "tpch"),
        ("kafka://broker:9092/clinic.public.visits", "clinic_public_visits"),
        ("/data/3.10", "feed_3_10"),
    ],
)
def test_the_feed_is_called_after_the_landing(landing: str, name: str) -> None:
    assert name_of(landing) == name


def test_a_landing_that_is_no_address_is_refused(tmp_path: Path) -> None:
    for landing in ("http://host/drops", "kafka://user@host/topic", "kafka://host"):
        with pytest.raises(FeedMisdeclared, match="LANDING"):
            onboard(Request(landing, tmp_path))
    with pytest.raises(FeedMisdeclared, match="a feed's name is"):
        onboard(Request(str(tmp_path), tmp_path, name="No!"))


@pytest.mark.parametrize("name", ["shop", "clinic"])
def test_the_page_shows_what_the_command_prints(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (root / "docs/onboarding.md").read_text(encoding="utf-8")
    monkeypatch.chdir(root)
    assert onboard(Request(f"demo/{name}", Path("feeds"), writes=False)) == 0
    captured = capsys.readouterr()
    assert f"```yaml\n{captured.out}```" in page
    said = [line.rstrip() for line in captured.err.splitlines()[:-1]]
    if name == "shop":
        assert [line for line in said if line not in page] == []


def test_tables_of_one_name_in_two_schemas_are_told_apart(tmp_path: Path) -> None:
    lines = []
    for schema in ("farm", "zoo"):
        names = {"namespace": {"catalog": "c", "schema": schema}, "name": "pets"}
        image = {"id": "1", "name": schema}
        lines.append(json.dumps({**ENVELOPE, "tableName": names, "after": image}))
    found = onboarded(laid(tmp_path, {"a.json": "\n".join(lines).encode()}))
    assert found.feed.table_names == "schema"
    assert {name: rows[0]["name"] for name, rows in found.gold().items()} == {
        "farm__pets": "farm",
        "zoo__pets": "zoo",
    }


def test_the_previews_rows_are_in_the_order_of_their_typed_keys(tmp_path: Path) -> None:
    rows = [(key, "Rex") for key in ("10", "2", "1", "11", "-3")]
    found = onboarded(laid(tmp_path, {"a.json": pets(*rows)}))
    assert [row["id"] for row in found.gold()["pets"]] == [-3, 1, 2, 10, 11]


def test_every_predicate_that_may_or_may_not_be_a_list_is_named(tmp_path: Path) -> None:
    lines = []
    for commit, (name, kind) in enumerate(
        [*((f"p{number}", "string") for number in range(5)), ("friend", "uid")], start=1
    ):
        event = {"operation": "set", "uid": 1, "attr": name, "value": "0x2", "value_type": kind}
        lines.append({"meta": {"commit_ts": commit}, "type": "mutation", "event": event})
    events = "\n".join(map(json.dumps, lines)).encode()
    found = onboarded(laid(tmp_path, {"2026-11-20/03/a.json": events}))
    assert found.feed.predicates["friend"].list
    # First the one that the file calls a list, and a guess.
    assert "(friend, p0, p1, p2, p3, …)" in found.proposal.notes[0]

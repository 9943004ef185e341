"""Every command of ``weir quarantine`` as a person uses it, over drops of JSON and of CSV in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.journeys import commands
from tests.support.pet_feed import change, drop, lay

pytestmark = pytest.mark.journey

ZOO = """\
format: arcion_s3_json
landing: {landing}
tables: {{pets: {{key: [id], columns: {{id: int, name: string}}}}}}
"""
TPCH = """\
format: arcion_s3_csv
landing: {landing}
tables: {{region: {{key: [id], columns: {{id: int, name: string}}}}}}
"""


class Weir:
    """The command line in one folder, which has the feed files, their drops and the tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "feeds").mkdir()

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        ended = commands.weir(self.folder, *arguments)
        return ended.code, ended.out, ended.err

    def feed(self, name: str, text: str) -> None:
        (self.folder / "feeds" / f"{name}.yaml").write_text(text.format(landing=self.folder / name))

    def listed(self, feed: str, *more: str) -> list[dict[str, object]]:
        code, out, _ = self("quarantine", "list", feed, "--json", *more)
        assert code == 0
        found: list[dict[str, object]] = json.loads(out)
        return found


@pytest.fixture
def weir(tmp_path: Path) -> Weir:
    return Weir(tmp_path)


def test_records_of_json_are_listed_repaired_replayed_and_given_up(
    weir: Weir, tmp_path: Path
) -> None:
    weir.feed("zoo", ZOO)
    born = change("I", 10, after={"id": "1", "name": "Ada"})
    unfit = change("U", 20, {"id": "1"}, {"id": "one", "name": "Bea"})
    lay(tmp_path / "zoo", "2025-11-20/03/a.json", drop(born, unfit, '{"cut": '))
    assert weir("run")[0] == 0

    code, out, _ = weir("quarantine", "list", "zoo")
    assert code == 0
    lines = out.splitlines()
    assert lines[:3] == [
        "zoo: 2 open records in quarantine",
        "      1  damaged_record",
        "      1  value_does_not_fit",
    ]
    (wrong,) = weir.listed("zoo", "--reason", "value_does_not_fit")
    (cut,) = weir.listed("zoo", "--reason", "damaged_record")
    assert (wrong["object"], wrong["line"], wrong["state"]) == ("2025-11-20/03/a.json", 2, "open")
    assert any(str(wrong["id"])[:12] in line for line in lines)

    _, out, _ = weir("quarantine", "show", "zoo", str(wrong["id"])[:6])
    assert "found       id is one, which is no int" in out
    assert "what to do  If the declaration is wrong, repair the feed file" in out
    assert '    "id": "one",' in out.splitlines()

    # Files that nobody wrote out, and nothing at all, are no choice.
    (tmp_path / "mine.json").write_text("{}")
    code, _, err = weir("quarantine", "replay", "zoo", str(tmp_path / "mine.json"))
    assert (code, "has no source_locations.json" in err) == (2, True)
    code, _, err = weir("quarantine", "replay", "zoo")
    assert (code, "say which records" in err) == (2, True)

    folder = tmp_path / "repair"
    _, out, _ = weir("quarantine", "export", "zoo", "--to", str(folder))
    assert {one.name for one in folder.iterdir()} == {
        "source_locations.json", f"{str(wrong['id'])[:12]}.json", f"{str(cut['id'])[:12]}.json",
    }  # fmt: skip
    file = folder / f"{str(wrong['id'])[:12]}.json"
    assert file.read_bytes() == unfit.encode() + b"\n"
    # Nothing was changed yet; and without a reason nothing is recorded.
    assert "nothing to replay" in weir("quarantine", "replay", "zoo", str(folder))[1]
    file.write_text(change("U", 20, {"id": "1"}, {"name": "Bea"}))
    code, _, err = weir("quarantine", "replay", "zoo", str(folder))
    assert (code, "say why with --reason" in err) == (2, True)
    code, out, _ = weir("quarantine", "export", "zoo", "--to", str(folder))
    assert code == 2

    code, out, _ = weir(
        "quarantine", "replay", "zoo", str(folder), "--reason", "a typo", "--by", "ann"
    )
    assert code == 0
    assert f"zoo: repaired: {str(wrong['id'])[:12]}" in out
    _, out, _ = weir("query", "SELECT id, name FROM gold.zoo.pets", "--format", "jsonl")
    assert json.loads(out) == {"id": 1, "name": "Bea"}
    (repaired,) = weir.listed("zoo", "--state", "repaired")
    assert [repaired[one] for one in ("id", "decided_by", "decision")] == [
        wrong["id"],
        "ann",
        "a typo",
    ]
    _, out, _ = weir("quarantine", "show", "zoo", str(wrong["id"]))
    assert "original, as it landed (bronze keeps it):" in out
    assert "read in its place, decided " in out
    assert "repaired by ann" in weir("explain", "zoo", "pets", "1")[1]

    # As it is the other cannot be taken: it is said, and given up.
    code, out, _ = weir("quarantine", "replay", "zoo", str(cut["id"])[:8])
    assert code == 1
    assert "zoo: still in quarantine: " in out
    code, out, _ = weir("quarantine", "dismiss", "zoo", "--all", "--reason", "torn")
    assert out.splitlines()[-1] == "zoo: 1 record dismissed; nothing waits for it now"
    assert weir.listed("zoo") == []
    assert [one["state"] for one in weir.listed("zoo", "--state", "all")] == [
        "repaired",
        "dismissed",
    ]
    assert "no open record in quarantine" in weir("quarantine", "list", "zoo")[1]
    code, _, err = weir("quarantine", "dismiss", "zoo", str(wrong["id"]), "--reason", "x")
    assert (code, "it is repaired, so that nothing waits for it" in err) == (2, True)


def test_a_row_of_csv_is_repaired_below_its_header(weir: Weir, tmp_path: Path) -> None:
    weir.feed("tpch", TPCH)
    lay(tmp_path / "tpch", "2025-11-20/03/region/a.csv", b"id,name\n1,Asia\ntwo,Europe\n")
    assert weir("run")[0] == 0
    (wrong,) = weir.listed("tpch")
    folder = tmp_path / "repair"
    weir("quarantine", "export", "tpch", "--to", str(folder))
    file = folder / f"{str(wrong['id'])[:12]}.csv"
    content = file.read_bytes()
    assert content == b"id,name\ntwo,Europe\n"
    file.write_bytes(b"name,id\n2,Europe\n")
    code, _, err = weir("quarantine", "replay", "tpch", str(file), "--reason", "a word")
    assert (code, "Expected: id,name" in err) == (2, True)
    file.write_bytes(b"id,name\ntwice,Europe\n")
    code, _, err = weir("quarantine", "replay", "tpch", str(file), "--reason", "a word")
    assert (code, "would be quarantined, too: value_does_not_fit" in err) == (2, True)
    file.write_bytes(b"id,name\r\n2,Europe\r\n".replace(b"name\r\n", b"name\n"))
    code, out, _ = weir("quarantine", "replay", "tpch", str(file), "--reason", "a word", "--later")
    assert (code, "1 window due: `weir run --feed tpch`" in out) == (0, True)
    assert weir("run")[0] == 0
    _, out, _ = weir(
        "query", "SELECT id, name FROM gold.tpch.region ORDER BY id", "--format", "jsonl"
    )
    assert [json.loads(line) for line in out.splitlines()] == [
        {"id": 1, "name": "Asia"}, {"id": 2, "name": "Europe"},
    ]  # fmt: skip
    assert [one["state"] for one in weir.listed("tpch", "--state", "all")] == ["repaired"]

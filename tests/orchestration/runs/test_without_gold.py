"""Tables that have events and no gold are named after a run, with lines that bring them there once they are pasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.storage.lake import Layer
from orchestration.cli import run
from orchestration.cli.options import Place
from orchestration.resources import lake_of
from orchestration.runs import summary
from orchestration.runs.outcome import Outcome
from orchestration.runs.planning import RunPlan
from orchestration.runs.waiting_tables import Waiting
from tests.support.onboarded import laid
from tests.support.pet_feed import change, drop
from transforms.feed.feed import Feed

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

UNDECLARED = "format: arcion_s3_json\nlanding: ../drops\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A feed that declares nothing, with two pets and a keeper."""
    lines = [
        change("I", 1, after={"id": "1", "name": "Ada"}),
        change("I", 2, after={"id": "2", "name": "Bo"}),
        change("I", 3, after={"id": "1", "since": "2020-01-31"}, table="keepers"),
    ]
    laid(tmp_path / "drops", {"2025-11-20/03/a.json": drop(*lines)})
    laid(tmp_path / "feeds", {"zoo.yaml": UNDECLARED.encode()})
    return Place(tmp_path / "feeds", str(tmp_path / "warehouse"))


def pasted(out: str) -> str:
    """The lines that were shown, without what is in front of each."""
    return "\n".join(line[4:] for line in out.splitlines() if line.startswith("    ")) + "\n"


def test_the_lines_that_a_run_shows_bring_its_tables_to_gold(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.run(place, (), None) == 0
    out = capsys.readouterr().out
    assert "zoo: this run made no gold." in out
    assert "main.zoo.keepers (1 change), main.zoo.pets (2 changes)" in out
    shown = out[out.index("look over these lines") :]
    # What was not read again waits still.
    assert run.run(place, (), None) == 0
    again = capsys.readouterr()
    assert "Nothing new" in again.out
    assert pasted(again.err) == pasted(shown)

    file = place.feeds / "zoo.yaml"
    file.write_text(UNDECLARED + pasted(shown))
    assert run.run(place, (), None) == 0
    out = capsys.readouterr().out
    assert "not declared" not in out
    gold = lake_of(place.warehouse)
    rows = gold.in_process_table(Layer.GOLD, "zoo", "pets").table
    assert rows is not None
    found = rows.to_pyarrow_table(columns=["id", "name"]).to_pylist()
    assert sorted(found, key=str) == [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]


def test_a_file_that_has_tables_gets_lines_to_go_below_them(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = "tables:\n  pets:\n    key: [id]\n    columns: {id: int, name: string}\n"
    file = place.feeds / "zoo.yaml"
    file.write_text(UNDECLARED + declared)
    assert run.run(place, (), None) == 0
    out = capsys.readouterr().out
    assert "made no gold" not in out
    assert "main.zoo.keepers (1 change)" in out
    assert "below `tables`" in out
    shown = out[out.index("look over these lines") :]
    file.write_text(UNDECLARED + declared + pasted(shown))
    assert run.run(place, (), None) == 0
    assert "not declared" not in capsys.readouterr().out


def test_a_declared_table_that_may_be_misspelt_is_named_and_one_declaration_proposed(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = "tables:\n" + "".join(
        f"  {name}:\n    key: [id]\n    columns: {{id: int}}\n" for name in ("pets", "keeprs")
    )
    (place.feeds / "zoo.yaml").write_text(UNDECLARED + declared)
    assert run.run(place, (), None) == 0
    lines = capsys.readouterr().out.splitlines()
    (hint,) = [line for line in lines if "did you mean" in line]
    assert hint.startswith("zoo: no event ever came of table keeprs, which ")
    assert "and the stream has main.zoo.keepers; did you mean that?" in hint
    proposals = [line.split("#")[0].strip() for line in lines if "keepers:" in line]
    assert proposals == ["keepers:"]
    assert "main.zoo.pets" not in hint
    # A table that had events is not misspelt, whatever the newest window has.
    (place.feeds / "zoo.yaml").write_text(UNDECLARED + declared.replace("keeprs", "keepers"))
    assert run.run(place, (), None) == 0
    assert "did you mean" not in capsys.readouterr().out


def outcome_of(*accounts: dict[str, object]) -> Outcome:
    feed = Feed("zoo", "arcion_s3_csv", "/drops")
    found = Outcome(RunPlan(feed, [], [], []))
    found.metadata.append((("silver", "zoo"), {"accounts": [*accounts]}))
    return found


def account(name: str | None, **counts: object) -> dict[str, object]:
    return {
        "window": "w",
        "source_table": name,
        "declared": None,
        "changes": 0,
        "quarantined": 0,
        **counts,
    }


def test_what_all_went_to_quarantine_is_named_too() -> None:
    found = outcome_of(
        account("rows", quarantined=3),
        account("rows", quarantined=2),
        account("mixed", quarantined=1),
        account("mixed", changes=1),
        account("known", declared="known", quarantined=1),
        account(None, quarantined=7),
    )
    assert summary.quarantined_whole(found) == {"rows": 5}
    assert Waiting.of(found.metadata[0][1]["accounts"]) == Waiting({"mixed": 1}, {"w"})  # type: ignore[arg-type]

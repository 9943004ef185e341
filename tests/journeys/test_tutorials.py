"""The tutorials, carried out as they are written: on a real S3 server, and on a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.pages import Step, carried_out, missing, steps
from tests.services.kafka import Broker
from tests.services.seaweed import Store, store

__all__ = ["store"]

PRINTED = """\
starting
  … working on it (10 s)
  one: 3 rows, in 5 s
  two: 4 rows
"""


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """Where a reader begins: a copy of the project, of which the tutorials need the drops of the demo."""
    folder = tmp_path / "weir"
    folder.mkdir()
    (folder / "demo").symlink_to(root / "demo")
    return folder


def compared(done: list[Step], printed: list[str]) -> list[str]:
    """What the page promises and nothing printed, each with what was printed there."""
    assert len(done) == len(printed) > 5
    pairs = [(step.expected, shown) for step, shown in zip(done, printed, strict=True)]
    assert sum(expected is not None for expected, _ in pairs) > 5
    return [
        f"{lost!r} is not in\n{shown}"
        for expected, shown in pairs
        if expected and (lost := missing(expected, shown))
    ]


@pytest.mark.journey
@pytest.mark.services
def test_arcion_files_in_a_bucket_reach_gold_as_the_tutorial_says(
    root: Path, project: Path, store: Store
) -> None:
    store.put("my-drops", {})
    page = (root / "docs/tutorial_arcion.md").read_text(encoding="utf-8")
    done = [*steps(page)]
    assert compared(done, carried_out(project, done, store.environment())) == []


@pytest.mark.journey
@pytest.mark.services
def test_debezium_on_a_topic_reaches_gold_as_the_tutorial_says(
    root: Path, project: Path, broker: Broker
) -> None:
    page = (root / "docs/tutorial_debezium.md").read_text(encoding="utf-8")
    assert "localhost:9092" in page
    done = [*steps(page.replace("localhost:9092", broker.address))]
    assert compared(done, carried_out(project, done, {})) == []


def test_a_page_is_read_as_files_to_save_and_commands_to_type() -> None:
    page = (
        "```yaml\n# feeds/a.yaml\nformat: x\n```\n```shell\nls\n```\n\nIt prints:\n\n```text\na\n```\n"
        "```yaml\nno: file\n```\n```bash\nnot typed\n```\n```shell\npwd\n```\n"
    )
    saved = "cat > feeds/a.yaml <<'END_OF_FILE'\n# feeds/a.yaml\nformat: x\nEND_OF_FILE\n"
    assert [*steps(page)] == [Step(saved), Step("ls\n", "a\n"), Step("pwd\n")]


@pytest.mark.parametrize(
    ("expected", "lost"),
    [
        ("  one: 3 rows, in 17 s\n", None),
        ("starting\n…\n  two: 4 …\n", None),
        ("  one: 4 rows, in 5 s\n", "  one: 4 rows, in N s"),
        ("starting\n  two: 4 rows\n", "  two: 4 rows"),
        ("  two: 4 rows\n…\n  one: …\n", "  one: …"),
        ("…\nended\n", "ended"),
    ],
)
def test_what_was_not_printed_there_is_named(expected: str, lost: str | None) -> None:
    assert missing(expected, PRINTED) == lost


def test_a_command_that_fails_stops_the_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no such feed"):
        carried_out(tmp_path, [Step("echo no such feed\nfalse\n"), Step("echo on\n")], {})

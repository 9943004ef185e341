"""The command line before any work is done: help, and what is refused with exit code 2 and without a stack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assets.storage.lake import Lake
from orchestration.cli import main, session
from orchestration.cli.options import Place
from orchestration.spark.on_first_use import SparkOnFirstUse

NO_FOLDER = "there is no such folder; make it, or name another with --feeds or WEIR_FEEDS"
SHOP = """\
format: arcion_s3_json
landing: drops
tables: {customers: {key: [id], columns: {id: int, name: string}}}
"""


class Answer:
    """What a command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as ended:
            main.main(list(arguments))
        self.code = ended.value.code or 0
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def feeds(tmp_path: Path) -> Path:
    folder = tmp_path / "feeds"
    folder.mkdir()
    (folder / "shop.yaml").write_text(SHOP)
    return folder


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is said before Spark starts."""

    def refuse(*_: object) -> None:
        raise AssertionError("Spark was to start")

    monkeypatch.setattr(session, "start", refuse)
    monkeypatch.setattr(Lake, "spark", property(refuse))
    monkeypatch.delenv("WEIR_FEEDS", raising=False)
    monkeypatch.delenv("WEIR_WAREHOUSE", raising=False)


def test_help_lists_the_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = Answer(capsys, "--help")
    assert answer.code == 0
    listed = answer.out.split("Commands:")[1]
    names = sorted(main.COMMANDS)
    assert [line.split()[0] for line in listed.strip().splitlines()] == names
    # Each command's sentence is whole, and fits its line.
    assert all(line.endswith(".") and "..." not in line for line in listed.strip().splitlines())
    for name in names:
        answer = Answer(capsys, name, "--help")
        assert answer.code == 0
        assert all(len(line) <= 100 for line in answer.out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("query",), "Missing argument 'SQL'"),
        (("query", "SELECT 1", "--format", "xml"), "'xml' is not one of"),
        (("nosuch",), "No such command"),
        (("run", "--no"), "No such option"),
        *(
            ((*command, "--executor", "sprak"), "not one of 'auto', 'spark', 'in-process'")
            for command in (("run",), ("demo",), ("verify",), ("explain", "a", "b", "1"))
        ),
    ],
)
def test_what_click_refuses_has_the_same_exit_code(
    arguments: tuple[str, ...], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer(capsys, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert "Usage: weir" in answer.err
    assert fault in answer.err


def test_the_list_of_commands_imports_nothing_that_takes_time(root: Path) -> None:
    code = """
import sys
from orchestration.cli import main
try:
    main.main(sys.argv[1:])
except SystemExit:
    print(*{"pyarrow", "pyspark", "dagster", "pydantic"} & set(sys.modules), file=sys.stderr)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Usage: weir [OPTIONS]" in answer.stdout
    assert answer.stderr.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--feed", "sop"), "feed sop: there is no such feed here. Known: shop."),
        (("compact", "--feed", "sop"), "feed sop: there is no such feed here. Known: shop."),
        (
            ("run", "--windows", "today"),
            "feed shop: --windows today: 'today' is no window of one hour; write 2026-11-20T03 (an hour),",
        ),
        (
            ("run", "--windows", "2025-11-20T05..2025-11-20T03"),
            "feed shop: --windows 2025-11-20T05..2025-11-20T03: the range ends before it begins",
        ),
        (("run", "--windows", "2999-01-01T00"), "it has not begun yet"),
        (("run", "stop"), "feed stop: there is no such feed here. Known: shop"),
        (("status", "shop", "--feed", "stop"), "feed stop: there is no such feed here"),
        (("run", "shop", "--warehouse", "gs://b"), "'gs://b' is neither s3://bucket/prefix nor a"),
        (("run", "--windows", ""), "feed shop: --windows : '' is no window of one hour; write"),
        (("quarantine", "dismiss", "shop", "0123"), "feed shop: say why with --reason"),
        (("quarantine", "dismiss", "shop", "--all", "--reason", " "), "say why with --reason"),
    ],
)
def test_what_is_wrong_with_the_arguments_is_one_line(
    feeds: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer(capsys, *arguments, "--feeds", str(feeds))
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert message in answer.err


def test_a_run_that_finds_nothing_to_do_starts_no_session(
    feeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("run", "--feeds", str(feeds), "--warehouse", str(tmp_path / "warehouse"))
    # A landing that does not exist is reported, also without starting Spark.
    answer = Answer(capsys, *arguments)
    assert answer.code == 2
    assert f"cannot read {feeds}/drops: there is no such folder" in answer.err
    (feeds / "drops").mkdir()
    answer = Answer(capsys, *arguments)
    assert (answer.code, answer.out) == (0, f"shop: no drops in {feeds}/drops yet.\n")
    assert not (tmp_path / "warehouse").exists()


def test_a_range_without_drops_says_which_window_has_the_newest(
    feeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (feeds / "drops/2025-11-20").mkdir(parents=True)
    (feeds / "drops/2025-11-20/a.json").write_text("{}")
    arguments = ("run", "--feeds", str(feeds), "--warehouse", str(tmp_path / "warehouse"))
    answer = Answer(capsys, *arguments, "--windows", "2025-11-21..")
    assert (answer.code, answer.out) == (0, "")
    said = "no window of 2025-11-21.. has drops; the newest that has is 2025-11-20T00"
    assert f"shop: {said}\n" in answer.err
    answer = Answer(capsys, *arguments, "--windows", "last 12h", "--json")
    assert answer.code == 0
    assert said.replace("2025-11-21..", "last 12h") in answer.out
    assert not (tmp_path / "warehouse").exists()


def test_a_folder_without_feeds_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer(capsys, "run", "--feeds", str(tmp_path))
    assert answer.code == 2
    assert answer.err == (
        f"error: {tmp_path}: the feeds: there is no feed file here; write <feed>.yaml, or call"
        " `weir onboard LANDING`.\n"
    )


def test_the_default_folder_of_feeds_is_the_one_that_one_stands_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = Answer(capsys, "run")
    assert answer.err == f"error: {tmp_path}/feeds: the feeds: {NO_FOLDER}.\n"
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "elsewhere"))
    assert f"{tmp_path}/elsewhere" in Answer(capsys, "run").err


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("release", "shop"), "shop: 0 held deletes"),
        (("epoch", "list", "shop"), "shop: one epoch, from the first window on"),
        (("epoch", "list", "shop", "--json"), "[]"),
        (
            ("epoch", "open", "shop", "--window", "2025-11-20T05"),
            "shop: an epoch of all tables from window 2025-11-20T05 on:",
        ),
        (
            ("epoch", "open", "shop", "--window", "2025-11-20T05", "--dry-run"),
            "nothing was recorded",
        ),
    ],
)
def test_decisions_are_listed_and_recorded_without_spark(
    arguments: tuple[str, ...],
    printed: str,
    feeds: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = ("--feeds", str(feeds), "--warehouse", str(tmp_path / "warehouse"))
    main.cli(args=[*arguments, *place], prog_name="weir", standalone_mode=False)
    assert printed in capsys.readouterr().out


def test_a_reader_who_has_seen_enough_gets_no_stack(root: Path) -> None:
    code = """
import sys
from orchestration.cli import main, query as work
def query(*_):
    for _ in range(100_000):
        print("a line that nobody reads")
work.query = query
main.main(["query", "SELECT 1"])
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""


def test_the_command_line_says_more_than_the_environment(
    feeds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_EXECUTOR", "spark")
    warehouse = str(tmp_path / "warehouse")
    for told, executor in ((None, "spark"), ("auto", "auto"), ("in-process", "in-process")):
        place = Place(feeds, warehouse, told)
        assert session.reached_feed(place, "shop")[1].executor == executor
        if executor != "spark":
            lake = session.opened_feeds(place)[1]
            assert lake.executor == executor
            # Spark starts when somebody asks for it.
            assert isinstance(lake.pyspark, SparkOnFirstUse)
            assert lake.pyspark.resource._spark_session is None


def test_a_key_of_two_columns_is_two_words_or_one_or_a_json_array(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def note(_place: object, _feed: str, _table: str, key: str, *_: object) -> int:
        asked.append(key)
        return 0

    monkeypatch.setattr("orchestration.cli.explain.explain", note)
    for typed in (("1", "a,b"), ("1,2",), ('["1", "2"]',)):
        assert Answer(capsys, "explain", "shop", "item", *typed).code == 0
    assert asked == ['["1", "a,b"]', "1,2", '["1", "2"]']

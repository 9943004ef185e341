from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests import check
from tests.suites import SLOW

TARGETS = (
    *("help", "run", "test", "test-long", "test-laws", "test-mutations", "test-cdc", "test-faults"),
    *("cluster-test", "lint", "check", "format", "bench", "ui", "docs", "screenshots", "archive"),
    *("lock", "clean"),
)


def make(folder: Path, *arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    program = shutil.which("make")
    assert program, "Weir's commands need make: apt-get install make"
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        env=kept | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path, root: Path) -> Path:
    """What set-up looks at, where nothing is set up."""
    (tmp_path / "tree" / "orchestration" / "spark").mkdir(parents=True)
    (tmp_path / "tree" / ".ci").mkdir()
    locks = ("requirements.lock", ".ci/uv.lock")
    for name in ("Makefile", "pyproject.toml", *locks, "orchestration/spark/java.py"):
        shutil.copy(root / name, tmp_path / "tree" / name)
    return tmp_path / "tree"


def path_of(folder: Path, *programs: str) -> str:
    """A PATH that has these programs and nothing else."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found, program
        (folder / program).symlink_to(found)
    return str(folder)


@pytest.mark.parametrize("arguments", [(), ("help",)])
def test_make_alone_lists_the_commands(root: Path, arguments: tuple[str, ...]) -> None:
    answer = make(root, *arguments, path=os.environ["PATH"])
    assert answer.returncode == 0
    listed = re.findall(r"^  make ([\w-]+) +\S", answer.stdout, flags=re.MULTILINE)
    assert tuple(listed) == TARGETS


@pytest.mark.parametrize("target", ["run", "test", "check", "format", "ui"])
def test_without_java_make_says_so_before_anything_else(
    tmp_path: Path, tree: Path, target: str
) -> None:
    path = path_of(tmp_path / "bin", "sh")
    # The Python under this environment: a shim on PATH may need more than there is here.
    (tmp_path / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    answer = make(tree, target, path=path)
    assert answer.returncode != 0
    assert "error: Java was not found: JAVA_HOME is not set and PATH has no java." in answer.stderr
    assert "Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless" in answer.stderr
    assert not (tree / ".venv").exists()


def test_without_python_make_says_so(tmp_path: Path, tree: Path) -> None:
    answer = make(tree, "check", path=path_of(tmp_path / "bin", "sh"))
    assert answer.returncode != 0
    assert "error: there is no python3; install Python 3.11 to 3.14 with venv" in answer.stderr


def test_hooks_are_tools_of_the_environment_and_have_no_address(root: Path) -> None:
    text = (root / ".pre-commit-config.yaml").read_text()
    assert "://" not in text
    hooks = [hook for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]]
    programs = {hook["id"]: hook["entry"].split()[0] for hook in hooks}
    # What make lint tries, and the same tools; these are the environment's own.
    assert programs == {
        name: f".venv/bin/{Path(command[0]).name}"
        for name, command in check.STEPS.items()
        if name != "tests"
    }
    assert {hook["language"] for hook in hooks} == {"system"}
    folder = Path(sys.executable).parent
    assert [name for name in programs.values() if not (folder / Path(name).name).exists()] == []
    assert (folder / "pre-commit").exists()


def test_each_slow_test_is_there(root: Path) -> None:
    """Where one has another name, ``make check`` would run it."""
    parts = [name.partition("::") for name in sorted(SLOW)]
    assert [path for path, _, _ in parts if not (root / path).exists()] == []
    named = [(path, test) for path, _, test in parts if test]
    assert [test for path, test in named if f"def {test}(" not in (root / path).read_text()] == []


def test_each_package_says_that_it_has_types(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    packages = [
        name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]
    ]
    assert [name for name in packages if not (root / name / "py.typed").exists()] == []
    assert project["tool"]["setuptools"]["package-data"]["*"] == ["py.typed"]


def said(line: str, code: int) -> tuple[str, ...]:
    return (sys.executable, "-c", f"print({line!r}); raise SystemExit({code})")


def test_check_tells_each_step_in_a_line_and_tries_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = "........ [ 50%]\n==== laws ====\nitem: 7 histories\n"
    steps = {"style": said("x.py is ugly", 1), "tests": said(f"{progress}3 passed", 0)}
    monkeypatch.setattr(check, "STEPS", steps)
    assert check.main([]) == 1
    captured = capsys.readouterr()
    assert captured.err == "failed: style\n"
    assert "\n    x.py is ugly\n" in captured.out
    step_lines = [line.split() for line in captured.out.splitlines() if line[:1].strip()]
    assert sorted((line[0], line[1], *line[4:]) for line in step_lines) == [
        ("FAILED", "style"),
        ("ok", "tests", "3", "passed"),
    ]
    assert check.main(["tests"]) == 0
    assert check.main(["test"]) == 2


def test_check_leaves_out_what_is_marked_and_draws_fewer_histories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marks = "not spark and not services and not journey and not slow and not long"
    assert check.STEPS["tests"][-3:] == ("-m", marks, "--hypothesis-profile=quick")
    monkeypatch.delenv("WEIR_LAW_HISTORIES", raising=False)
    assert check.environment()["WEIR_LAW_HISTORIES"] == "40"
    monkeypatch.setenv("WEIR_LAW_HISTORIES", "20000")
    assert check.environment()["WEIR_LAW_HISTORIES"] == "20000"

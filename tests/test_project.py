from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TOP_LEVEL = (
    *("bench", "orchestration", "assets", "expectations", "transforms", "tests"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile", "pyproject.toml"),
    *("requirements.lock", "workspace.yaml", "orchestration/dagster.yaml", ".gitignore", ".ci/run"),
)
TARGETS = (
    "help",
    "run",
    "test",
    "test-laws",
    "test-mutations",
    "test-cdc",
    "test-faults",
    "lint",
    "check",
    "bench",
    "ui",
    "lock",
    "clean",
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
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "orchestration/spark/java.py"):
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


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_top_level_is_complete(root: Path, name: str) -> None:
    assert (root / name).exists()


def test_the_lock_has_hashes_and_no_addresses(root: Path) -> None:
    text = (root / "requirements.lock").read_text()
    pins = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    header, pins = pins[0], pins[1:]
    assert "make lock" in header
    assert len(pins) > 50
    assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []
    assert [pin.split()[0] for pin in pins if "==" not in pin.split()[0]] == []
    assert re.findall(r"\S*(?:://|--find-links|--index-url|@ )\S*", text) == []


@pytest.mark.parametrize("arguments", [(), ("help",)])
def test_make_alone_lists_the_commands(root: Path, arguments: tuple[str, ...]) -> None:
    answer = make(root, *arguments, path=os.environ["PATH"])
    assert answer.returncode == 0
    listed = re.findall(r"^  make ([\w-]+) +\S", answer.stdout, flags=re.MULTILINE)
    assert tuple(listed) == TARGETS


@pytest.mark.parametrize("target", ["run", "test", "check", "ui"])
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


def test_dagster_finds_the_code_location(root: Path) -> None:
    workspace = yaml.safe_load((root / "workspace.yaml").read_text())
    assert workspace["load_from"] == [
        {
            "python_module": {
                "module_name": "orchestration.definitions",
                "working_directory": ".",
                "location_name": "weir",
            }
        }
    ]
    assert "[tool.dagster]" not in (root / "pyproject.toml").read_text()

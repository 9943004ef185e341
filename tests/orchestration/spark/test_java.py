"""A missing or unfit Java or Python is reported with what to install."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestration.spark import java

MakeJava = Callable[[str], Path]


@pytest.fixture
def fake_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeJava:
    """Puts a ``java`` on an otherwise empty PATH: a script of one line."""
    folder = tmp_path / "jdk" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder))

    def make(line: str) -> Path:
        program = folder / "java"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        return program

    return make


def says(version: str) -> str:
    return f"echo 'openjdk version \"{version}\" 2025-04-15' >&2"


@pytest.mark.parametrize("version", ["17.0.15", "21.0.7", "21-ea", "17"])
def test_a_fit_java_on_path_is_found(
    fake_java: MakeJava, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = fake_java(says(version))
    assert java.find_java() == java.Java(program, int(version[:2]))
    java.check_java()
    assert capsys.readouterr().err == ""


def test_a_newer_java_is_warned_of_and_used(
    fake_java: MakeJava, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_java(says("25.0.1"))
    java.check_java()
    assert "is Java 25; Weir is tried with 17 and 21 only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (says("1.8.0_392"), "is the java on PATH: it is Java 8, too old for Spark 4."),
        (says("11.0.2"), "is the java on PATH: it is Java 11, too old for Spark 4."),
        (None, "PATH has no java"),
        # The stand-in of macOS, and a file that is no program.
        ("echo 'Unable to locate a Java Runtime.' >&2; exit 1", "Unable to locate"),
        ("\x7fELF\x00", "does not"),
    ],
)
def test_no_fit_java_says_why_and_what_to_install(
    fake_java: MakeJava, line: str | None, said: str
) -> None:
    if line is not None:
        fake_java(line)
    with pytest.raises(java.JavaMissing, match=re.escape(said)) as caught:
        java.check_java()
    for system in ("Debian, Ubuntu:", "Fedora:", "macOS:"):
        assert system in str(caught.value)


def test_java_home_goes_before_path(
    fake_java: MakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(says("17.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(java.JavaMissing, match=r"JAVA_HOME is .*none, but there is no"):
        java.check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert java.find_java().release == 17


@pytest.mark.parametrize("version", [(3, 10), (3, 15)])
def test_another_python_is_refused(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    with pytest.raises(java.PythonUnfit, match=rf"is Python 3\.{version[1]}"):
        java.check_python()


def test_a_python_without_ensurepip_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "ensurepip" else object()
    )
    with pytest.raises(java.PythonUnfit, match="lacks the module ensurepip"):
        java.check_python()


def test_it_runs_alone_without_a_stack(fake_java: MakeJava, tmp_path: Path, root: Path) -> None:
    alone = shutil.copy(root / "orchestration" / "spark" / "java.py", tmp_path)
    answer = subprocess.run(
        [sys.executable, "-I", alone], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("error: Java was not found")
    assert "Traceback" not in answer.stderr
    fake_java(says("17.0.15"))
    assert subprocess.run([sys.executable, "-I", alone], check=False).returncode == 0

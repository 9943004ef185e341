"""Jars are fetched once, their digests are checked, and an error says what to do where they cannot be had."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from orchestration.spark import jars
from orchestration.spark.jars import IVY_SETTINGS, Jar, JarsMissing

CONTENT = b"not quite a jar"
JAR = Jar("org.example", "weir-sample", "1.0", hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that has no jars yet, and wants one."""
    monkeypatch.setattr("sys.prefix", str(tmp_path / "environment"))
    monkeypatch.setattr(jars, "DELTA", (JAR,))
    return jars.jar_folder()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Ivy is told to fetch from, so that no test needs a network."""
    place = tmp_path / "mirror"
    place.mkdir()
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="mirror"/><resolvers>'
        f'<filesystem name="mirror"><artifact pattern="{place}/[artifact]-[revision].[ext]"/>'
        "</filesystem></resolvers></ivysettings>"
    )
    monkeypatch.setenv(IVY_SETTINGS, str(settings))
    return place


def test_a_missing_jar_is_fetched_once(
    folder: Path, mirror: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (mirror / JAR.file).write_bytes(CONTENT)
    assert jars.ensure_jars() == [folder / JAR.file]
    assert (folder / JAR.file).read_bytes() == CONTENT
    assert [file.name for file in folder.iterdir()] == [JAR.file]
    said = capfd.readouterr()
    assert said.err == "fetching org.example:weir-sample:1.0 (1 of 1)\n"
    assert said.out == ""
    (mirror / JAR.file).unlink()
    assert jars.ensure_jars() == [folder / JAR.file]
    assert capfd.readouterr().err == ""


def test_a_jar_that_cannot_be_had_is_named(folder: Path, mirror: Path) -> None:
    with pytest.raises(JarsMissing) as caught:
        jars.ensure_jars()
    said = str(caught.value)
    assert f"org.example:weir-sample:1.0  sha256 {JAR.sha256}" in said
    assert f"put each jar into {folder}" in said
    assert "WEIR_IVY_SETTINGS" in said
    assert "not found" in said
    assert list(folder.iterdir()) == []


def test_another_jar_under_the_same_name_is_refused(folder: Path, mirror: Path) -> None:
    (mirror / JAR.file).write_bytes(b"something else")
    with pytest.raises(JarsMissing, match="what came has the sha256"):
        jars.ensure_jars()
    assert list(folder.iterdir()) == []


def test_a_damaged_jar_is_fetched_again(folder: Path, mirror: Path) -> None:
    (mirror / JAR.file).write_bytes(CONTENT)
    folder.mkdir(parents=True)
    (folder / JAR.file).write_bytes(CONTENT[:5])
    jars.ensure_jars()
    assert (folder / JAR.file).read_bytes() == CONTENT


def test_settings_that_are_not_there_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IVY_SETTINGS, "/none/ivysettings.xml")
    with pytest.raises(JarsMissing, match=r"WEIR_IVY_SETTINGS names /none/ivysettings\.xml"):
        jars.ensure_jars()


def test_the_pins_are_those_of_the_installed_spark(root: Path) -> None:
    declared = (root / "pyproject.toml").read_text()
    assert [jar.name for jar in jars.DELTA] == ["delta-spark_4.2_2.13", "delta-storage"]
    assert '"pyspark==4.2.' in declared
    assert {jar.version for jar in jars.DELTA} == {"4.4.0"}
    assert '"delta-spark==4.4.0"' in declared
    assert all(len(jar.sha256) == 64 and jar.organisation for jar in jars.S3A)
    assert not [jar for jar in jars.S3A if jar.name == "bundle"]

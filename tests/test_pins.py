"""All that comes from a network to make or to test Weir is pinned by version and digest, and fetched no other way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bench.others import environments
from orchestration import installation
from orchestration.spark import jars
from tests.services import debezium, kafka, mariadb

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    *("assets", "bench", "demo", "docs", "expectations"),
    *("feeds", "orchestration", "tests", "transforms", ".ci"),
)
EXACT = re.compile(r"[0-9]+(\.[0-9A-Za-z]+)+")
DIGEST = re.compile(r"[0-9a-f]{64}")


def files() -> Iterator[Path]:
    """Every file of the project; not what was made or installed beside it."""
    yield from (file for file in ROOT.iterdir() if file.is_file())
    for folder in FOLDERS:
        yield from (file for file in (ROOT / folder).rglob("*") if file.is_file())
    yield from (file for file in (ROOT / ".github").rglob("*") if file.is_file())


LOCKS = sorted(file for file in files() if file.suffix == ".lock")


def pins(lock: Path) -> list[str]:
    """The pins of a lock, each with its hashes."""
    lines = lock.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.lstrip().startswith("#"))
    return re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("lock", LOCKS, ids=[str(lock.relative_to(ROOT)) for lock in LOCKS])
def test_every_package_has_one_version_and_its_hashes(lock: Path) -> None:
    assert pins(lock)
    assert not re.search(r"://|--find-links|--index-url", "".join(pins(lock)))
    for pin in pins(lock):
        assert re.match(r"[a-z0-9][a-z0-9._-]*(\[[a-z0-9, _-]+\])?==[0-9][^\s;*]*\s", pin), pin
        hashes = re.findall(r"--hash=(\S+)", pin)
        assert hashes and all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes), pin


def test_what_is_asked_for_has_a_lock() -> None:
    asked = {file.with_suffix(".lock") for file in files() if file.suffix == ".in"}
    assert {ROOT / "requirements.lock", ROOT / ".ci" / "uv.lock"} <= {*LOCKS}
    assert asked | {ROOT / "requirements.lock"} == {*LOCKS}


def test_every_installation_asks_for_hashes_or_fetches_nothing() -> None:
    assert "--require-hashes" in installation.BY_PIP
    assert "--require-hashes" in installation.BY_UV
    # Weir itself is here, and needs nothing to be built.
    assert {"--no-deps", "--no-build-isolation", "-e"} <= {*installation.ITSELF}
    assert "--require-hashes" in Path(environments.__file__).read_text()
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    lines = [line for line in makefile.splitlines() if re.search(r"\bpip\b.* install\b", line)]
    assert len(lines) == 1
    assert "--require-hashes -r" in lines[0]
    assert "orchestration/installation.py .ci/uv.lock requirements.lock" in makefile


def test_every_jar_has_one_version_and_its_digest() -> None:
    found = [*jars.DELTA, *jars.S3A]
    assert len({jar.coordinates for jar in found}) == len(found) > 30
    for jar in found:
        assert EXACT.fullmatch(jar.version) and DIGEST.fullmatch(jar.sha256), jar
    # Those of the tests are fetched with what they need, under one digest for all.
    connectors = (debezium.POSTGRES, *debezium.MARIADB.values())
    programs = [(one.MODULES, one.SHA256) for one in (kafka, mariadb)]
    for modules, digest in (*programs, *((one.modules, one.sha256) for one in connectors)):
        assert DIGEST.fullmatch(digest)
        assert all(EXACT.fullmatch(module.version) for module in modules)


DOWNLOADS = re.compile(
    r"\burlretrieve\b|\b(?:curl|wget) +-?\S*http|\bnpm (?:i|install)\b|\bnpx \w|\bdocker (?:pull|run|build)\b"
    r"|\bgo install\b|\bplaywright install\b|[\"']pip[\"'],|\buvx? (?:run|tool|add)\b|\bconda install\b"
)
FETCHES = {"orchestration/installation.py", "bench/others/environments.py"}


def test_nothing_else_is_fetched() -> None:
    """Programs and scripts: what a page of the documentation tells people to install is theirs."""
    found = {
        str(file.relative_to(ROOT))
        for file in files()
        if file.suffix in (".py", ".sh", ".java") or file.name in ("Makefile", "run")
        if DOWNLOADS.search(file.read_text(encoding="utf-8"))
    }
    assert found == FETCHES


def test_actions_and_images_that_there_may_be_are_pinned() -> None:
    """There are none; whoever adds one pins it by digest."""
    for file in files():
        if file.name.startswith(("Dockerfile", "Containerfile")):
            images = re.findall(r"^FROM +(\S+)", file.read_text(), flags=re.MULTILINE)
            assert all("@sha256:" in image for image in images), file
        assert file.name != "package.json" or file.with_name("package-lock.json").exists(), file
        if ".github" in file.parts and file.suffix in (".yml", ".yaml"):
            text = file.read_text()
            yaml.safe_load(text)
            used = re.findall(r"^\s*-?\s*uses: *(\S+)", text, flags=re.MULTILINE)
            assert all(re.search("@[0-9a-f]{40}$", one) for one in used), file

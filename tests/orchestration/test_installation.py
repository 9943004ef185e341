from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from orchestration import installation
from orchestration.installation import carried_out, settings, too_little_room

CONFIGURED = """\
:env:.cert='/etc/ssl/ours.pem'
:env:.disable-pip-version-check='1'
:env:.no-index='true'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.index-url='https://everything.example/simple'
global.timeout='30'
install.index-url='https://installing.example/simple'
freeze.timeout='10'
"""
SAID = """\
Downloading numpy (15.9MiB)
 Downloaded numpy
   Building pyspark==4.2.0
      Built pyspark==4.2.0
Prepared 2 packages in 2.62s
Installed 2 packages in 1.59s
 + numpy==2.4.1
 ~ pyspark==4.2.0
"""


def test_pips_settings_are_uvs_under_other_names() -> None:
    assert settings(CONFIGURED, {}) == {
        "SSL_CERT_FILE": "/etc/ssl/ours.pem",
        "UV_NO_INDEX": "true",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_DEFAULT_INDEX": "https://installing.example/simple",
        "UV_HTTP_TIMEOUT": "30",
    }


def test_what_is_said_to_uv_itself_counts() -> None:
    found = settings(CONFIGURED, {"UV_DEFAULT_INDEX": "https://uv.example", "SSL_CERT_FILE": ""})
    assert {"UV_DEFAULT_INDEX", "SSL_CERT_FILE"}.isdisjoint(found)


def test_pip_prints_its_settings_as_they_are_read_here(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://ours.example/a'b/simple\n")
    environment = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "PIP_TIMEOUT": "7"}
    told = subprocess.run(
        [*installation.PIP, "config", "list"], env=environment, capture_output=True, text=True
    ).stdout
    assert settings(told, {})["UV_DEFAULT_INDEX"] == "https://ours.example/a'b/simple"
    assert settings(told, {})["UV_HTTP_TIMEOUT"] == "7"


def test_a_line_for_each_package_is_left_out() -> None:
    out = io.StringIO()
    said = [sys.executable, "-c", f"print({SAID!r}, end=''); raise SystemExit(3)"]
    assert carried_out(said, {}, out) == 3
    assert out.getvalue().splitlines() == [
        "Downloading numpy (15.9MiB)",
        "      Built pyspark==4.2.0",
        "Prepared 2 packages in 2.62s",
        "Installed 2 packages in 1.59s",
    ]


def test_what_cannot_be_found_is_named_by_uv_and_pip_and_what_to_set_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the uv that is there, and no way to any package."""
    (tmp_path / "none.lock").write_text("")
    pinned = f"weir-has-no-such-package==1.0 --hash=sha256:{'0' * 64}\n"
    (tmp_path / "all.lock").write_text(pinned)
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(tmp_path))
    assert installation.main([str(tmp_path / "none.lock"), str(tmp_path / "all.lock")])
    told = capfd.readouterr()
    assert "weir-has-no-such-package" in told.out
    assert "uv could not install the packages; pip tries" in told.out
    assert "name one that it has in pip's own settings (index-url, find-links" in told.err


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 8, 2**30))
    told = f"1.0 GB free in {tmp_path}, and 3 GB are needed: make room, or clone"
    assert told in str(too_little_room(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 0, 2**40))
    assert too_little_room(tmp_path) is None

"""Dagster's code location loads with whatever the environment names, and from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestration import definitions
from orchestration.resources import Deployment


@pytest.mark.parametrize("there", [True, False])
def test_without_feeds_there_is_a_code_location_with_nothing_in_it(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "feeds"
    if there:
        folder.mkdir()
    monkeypatch.setenv("WEIR_FEEDS", str(folder))
    loaded = definitions.defs()
    assert loaded.resolve_asset_graph().get_all_asset_keys() == set()


def test_the_deployment_is_what_the_environment_names(tmp_path: Path, root: Path) -> None:
    assert Deployment.from_environment({}) == Deployment(root / "feeds", str(root / "warehouse"))
    named = {"WEIR_FEEDS": str(tmp_path / "feeds"), "WEIR_WAREHOUSE": "s3://lake/weir"}
    assert Deployment.from_environment(named) == Deployment(tmp_path / "feeds", "s3a://lake/weir")


LOAD = """
import warnings
warnings.simplefilter("error")
from orchestration.definitions import defs
graph = defs().resolve_asset_graph()
print(*sorted(key.to_user_string() for key in graph.get_all_asset_keys()))
"""


def test_it_loads_with_no_environment_and_from_any_folder(tmp_path: Path, root: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert {"landing/shop/shop_landing", "gold/shop/customers", "gold/tpch/nation"} <= set(
        answer.stdout.split()
    )
    assert list(tmp_path.iterdir()) == []

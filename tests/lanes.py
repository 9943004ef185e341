"""Which process of pytest-xdist runs which test: those of one group (``xdist_group``) go to one process, in order.

It is what ``--dist loadgroup`` promises. pytest-xdist 3.8 writes the groups into the ids of the tests, which pytest 9.2
keeps where it does not reach them: each test was a group of its own. Here the workers tell the groups by a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

FILE: Final = "weir_lanes"
"""The name by which a worker is told the path."""

PATH: Final = pytest.StashKey[Path]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker where to write down the groups."""
    config: pytest.Config = node.config
    if PATH not in config.stash:
        factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
        config.stash[PATH] = factory.mktemp("lanes") / "groups.json"
    node.workerinput[FILE] = str(config.stash[PATH])


def tell(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Write down the group of each test that has one; every worker writes the same."""
    told = getattr(config, "workerinput", {}).get(FILE)
    if told is None:
        return
    groups = {
        item.nodeid: mark.args[0] for item in items for mark in item.iter_markers("xdist_group")
    }
    mine = Path(f"{told}.{os.getpid()}")
    mine.write_text(json.dumps(groups))
    mine.replace(told)


class Lanes(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole groups, one after the other; a test without a group is one of its own."""

    groups: Mapping[str, str] | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self.groups is None:
            self.groups = cast("dict[str, str]", json.loads(self.config.stash[PATH].read_text()))
        return self.groups.get(nodeid, nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes | None:
    """For ``--dist loadgroup``."""
    return Lanes(config, log) if config.getvalue("dist") == "loadgroup" else None

"""A full disk: the run stops and says where there is no room; once there is, the next run goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from orchestration.resources import lake_of
from tests.faults.damage import damage
from tests.faults.drawn import SEED, draw, feed_of
from tests.support.pet_feed import bring
from transforms.errors import WarehouseFull

pytestmark = pytest.mark.journey

FILLINGS = int(os.environ.get("WEIR_FAULT_FILLINGS", "2"))
BLOCK = 4096


def mount(folder: Path, options: str) -> str:
    """Mount a disk in memory, or change the one that is there; returns what was wrong."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[int], None]]:
    """A disk of one block; what is yielded makes it larger."""
    folder.mkdir()
    try:
        if fault := mount(folder, f"size={BLOCK}"):
            pytest.skip(f"a small disk cannot be mounted here, which takes root: {fault.strip()}")
    except FileNotFoundError:
        pytest.skip("there is no `mount` here, so no small disk")

    def resize(size: int) -> None:
        assert mount(folder, f"remount,size={size}") == ""

    try:
        yield resize
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def size_on_disk(folder: Path) -> int:
    """How many bytes the files take, in whole blocks."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(-(-size // BLOCK) * BLOCK for size in sizes)


def test_a_run_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    spark: SparkSession, tmp_path: Path, tell: Callable[..., None]
) -> None:
    drawn = draw(SEED + 2, windows=3, histories=20)
    landing, disk = tmp_path / "landing", tmp_path / "disk"
    drawn.lay(landing)
    feed = feed_of(str(landing))
    reference = lake_of(str(tmp_path / "undisturbed"))
    bring(reference, feed)
    whole = size_on_disk(tmp_path / "undisturbed")

    rng = Random(f"sizes {SEED}")
    with small_disk(disk) as resize:
        lake = lake_of(str(disk))
        for share in sorted(rng.uniform(0.05, 0.8) for _ in range(FILLINGS)):
            resize(int(share * whole))
            with pytest.raises(WarehouseFull, match="no space left on device") as raised:
                bring(lake, feed)
            assert f"0.0 MB free in {disk} (the warehouse)" in str(raised.value)
            print(f"{share:.0%} of the room: {raised.value}", flush=True)
        resize(64 * 2**20)
        bring(lake, feed)
        found = damage(lake, reference, drawn)
    tell("disk full", FILLINGS, *found.counts)
    assert found.counts == (0, 0), str(found)

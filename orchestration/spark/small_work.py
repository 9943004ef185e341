"""A Spark session for little work: most commands handle a few megabytes, and wait for Java to warm up.

Measured on two cores with the demo's tables: with Java's first compiler alone, opening the session and reading what is
in bronze costs 22 s of CPU, with both 40 s; a first run of one small table takes 43 s where Spark generates no code for
whole stages, 47 s where it does. On long work both pay for themselves, so they are left out only where all drops and
tables together are small.
Put here what is different for little work. Not here: the settings of every session (``settings``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from assets.lake import Lake
from assets.landing.landings import open_landing
from orchestration.spark.on_first_use import SparkOnFirstUse
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

SMALL_BYTES = 32 * 2**20
SMALL_FILES = 5_000

OPTIONS = "spark.driver.extraJavaOptions"
FIRST_COMPILER = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""Java's first compiler alone, with a larger cache: by default it would have 48 MB, which a run fills."""


def tuned(lake: Lake, feeds: Sequence[Feed] = ()) -> Lake:
    """The lake, with a session that starts quickly if these feeds' drops and the warehouse are small."""
    settings = dict(lake.pyspark.spark_config)
    on_this_machine = str(settings.get("spark.master", "")).startswith("local")
    if not (on_this_machine and "://" not in lake.warehouse and is_small(sizes(lake, feeds))):
        return lake
    settings["spark.sql.codegen.wholeStage"] = "false"
    # Adaptive execution makes each shuffle a job of its own, and finds nothing to improve in so little.
    settings["spark.sql.adaptive.enabled"] = "false"
    settings[OPTIONS] = f"{settings.get(OPTIONS, '')} {FIRST_COMPILER}".strip()
    return lake.with_warehouse(lake.warehouse, SparkOnFirstUse(settings))


def is_small(sizes: Iterator[int]) -> bool:
    """True for few files of few bytes; looks at no more of them than it takes to know."""
    total = 0
    for number, size in enumerate(sizes, start=1):
        total += size
        if total > SMALL_BYTES or number > SMALL_FILES:
            return False
    return True


def sizes(lake: Lake, feeds: Sequence[Feed]) -> Iterator[int]:
    """The size of every drop of these feeds, and of every file in the warehouse."""
    for feed in feeds:
        if feed.reads_topics:
            # How much there is, only the broker knows, and it may be slow to say: no small work, then.
            yield SMALL_BYTES + 1
            continue
        # A landing that cannot be read is reported where the feed is planned.
        with suppress(UnreadableLanding):
            for drop in open_landing(feed, FORMATS[feed.format].files).list():
                yield drop.size
    for folder, _, files in os.walk(lake.warehouse):
        for file in files:
            path = Path(folder, file)
            yield path.stat().st_size if path.is_file() else 0

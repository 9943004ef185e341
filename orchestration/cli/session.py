"""What commands begin with: the feeds that are meant, and the warehouse with a Spark session that suits them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from botocore.exceptions import BotoCoreError, ClientError

from assets.executors.choice import SPARK
from assets.storage.lake import Lake
from assets.storage.leases import is_on_store
from assets.storage.s3 import fault_and_remedy, s3_client
from orchestration.cli.options import Place
from orchestration.console import say, waiting
from orchestration.resources import lake_of
from orchestration.spark import on_first_use, settings
from orchestration.spark.java import check_java
from orchestration.spark.on_first_use import without_notices
from orchestration.spark.settings import warehouse_uri
from transforms.errors import UnreadableWarehouse
from transforms.feed.feed import Feed


def opened_feeds(place: Place, only: Sequence[str] = ()) -> tuple[list[Feed], Lake]:
    """The feeds of a place, or those named, and its warehouse; Spark starts only where it is to do all the work."""
    check_java()
    chosen = choose(place.feeds, only)
    lake = reached(place.warehouse, chosen, place.executor)
    if lake.executor == SPARK:
        start(lake)
    else:
        say(f"the tables are in {lake.warehouse}")
    return chosen, lake


def reached(warehouse: str, feeds: Sequence[Feed] = (), executor: str | None = None) -> Lake:
    """The warehouse with a session for these feeds that is not started yet: planning needs none.

    ``executor``: who does the work; None for what the environment says.
    """
    put_off_pandas()
    refuse_unreachable(warehouse_uri(warehouse))
    on_first_use.starting = announced
    lake = settings.tuned(lake_of(warehouse_uri(warehouse)), feeds)
    return lake if executor is None else lake.by(executor)


def reached_feed(place: Place, name: str) -> tuple[Feed, Lake]:
    """One feed of a place and its warehouse, for a question that hardly ever needs a session."""
    (feed,) = choose(place.feeds, [name])
    return feed, reached(place.warehouse, executor=place.executor)


def start(lake: Lake) -> None:
    """Start the session, and say in which warehouse the tables are."""
    say(f"the tables are in {lake.warehouse}")
    with waiting("starting Spark"):
        _ = lake.spark


@contextmanager
def announced() -> Iterator[None]:
    """Around the start of a Spark session: say that it starts, for it takes seconds, and drop Java's notices."""
    say("starting Spark")
    with without_notices():
        yield


def choose(feeds: Path, only: Sequence[str]) -> list[Feed]:
    """The feeds of a folder, or those named."""
    # Imported late: all that a feed file may declare, and a query knows no feeds.
    from orchestration.feeds.load import load_feeds, named_files

    folder = feeds.expanduser().resolve()
    names = named_files(folder, only)
    # A fault in any file stops the command, before it begins to work on others.
    known = {feed.name: feed for feed in load_feeds(folder)}
    return [known[name] for name in names]


def some(texts: Sequence[str]) -> str:
    """The first five texts in a line, and a sign that there are more."""
    return "; ".join(texts[:5]) + ("; …" if len(texts) > 5 else "")


# pyarrow looks for pandas when it makes its first array, and importing it takes longer than most answers. Where
# pyarrow finds none, it looks again as soon as a table is to become a frame, so that nothing is lost by it.


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Leave every other module to the finders behind this one."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def put_off_pandas() -> None:
    """Let pyarrow make its first array while there is no pandas, unless pandas is there already."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)


def refuse_unreachable(warehouse: str) -> None:
    """Refuse a warehouse in S3 whose bucket cannot be listed, and one in whose folder's place is a file.

    Hadoop's client would wait long for a store, and then show its stack.
    """
    if not is_on_store(warehouse):
        if Path(warehouse).is_file():
            remedy = "Name the folder in which the tables are, or are to be."
            raise UnreadableWarehouse(warehouse, "this is a file, and no folder", remedy)
        return
    bucket, _, prefix = warehouse.partition("://")[2].partition("/")
    try:
        s3_client().list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    except (BotoCoreError, ClientError, ValueError) as error:
        # The cause is left behind: its text may quote what the environment holds.
        raise UnreadableWarehouse(warehouse, *fault_and_remedy(error, "the warehouse")) from None

"""Data Docs of a warehouse in an object store: made in a folder of this machine, and put there.

Great Expectations makes pages of files only. Put here what is fetched for that and what is put back. Not here: making
the pages (``expectations/data_docs``).
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from assets.s3 import s3_client
from expectations.data_docs import LISTED

RESULTS: Final = "validations/"
PAGES: Final = "data_docs/validations/"
_AT_ONCE: Final = 8


@contextmanager
def fetched(bucket: str, prefix: str) -> Iterator[Path]:
    """A folder with what is needed of the prefix to make the pages that are missing; what is made is put back.

    Of pages that are there already only the names are needed, and of the results those without a page and those that
    the first page lists.
    """
    client = s3_client()
    results, pages = ([*_listed(bucket, f"{prefix}/{part}")] for part in (RESULTS, PAGES))
    shown = {name.removesuffix(".html") for name in pages}
    newest = sorted(results, key=lambda name: name.rsplit("/", 2)[-2])[-LISTED:]
    wanted = {*newest, *(one for one in results if one.removesuffix(".json") not in shown)}
    with TemporaryDirectory(prefix="weir-data-docs-") as name:
        folder = Path(name)
        for one in pages:
            _file(folder, f"{PAGES}{one}").touch()

        def fetch(one: str) -> None:
            client.download_file(
                bucket, f"{prefix}/{RESULTS}{one}", str(_file(folder, f"{RESULTS}{one}"))
            )

        _each(fetch, wanted)
        there = {one for one in folder.rglob("*") if one.is_file()}
        yield folder

        def put(one: Path) -> None:
            kind = mimetypes.guess_type(one.name)[0] or "application/octet-stream"
            key = f"{prefix}/{one.relative_to(folder).as_posix()}"
            client.upload_file(str(one), bucket, key, ExtraArgs={"ContentType": kind})

        _each(put, {one for one in folder.rglob("*") if one.is_file()} - there)


def _each(work: Callable[..., None], items: set[str] | set[Path]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(work, items):
            pass


def _file(folder: Path, path: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _listed(bucket: str, prefix: str) -> Iterator[str]:
    """The names below the prefix."""
    for page in s3_client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for one in page.get("Contents", ()):
            yield one["Key"].removeprefix(prefix)

"""The folder of a feed's results of checks, ``<warehouse>/_quality/<feed>``, and the pages made from it.

In an object store it is a prefix.
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from botocore.exceptions import ClientError

from assets.storage.s3 import s3_client
from assets.storage.store_faults import naming_store_faults
from expectations import data_docs
from expectations.data_docs import LISTED, PAGES, RESULTS, VALIDATIONS

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


FOLDER = "_quality"

DATA_DOCS = "/weir/data_docs"
"""Below this path Weir's web server shows the pages of each feed (``orchestration/web/documents``)."""


def link_to(feed: str, page: str = "index.html") -> str:
    """Where Weir's web server shows a page of a feed's Data Docs, the first one or that of a result."""
    return f"{DATA_DOCS}/{feed}/{quote(page)}"


@dataclass(frozen=True, slots=True)
class QualityFolder:
    """One feed's folder in this warehouse."""

    warehouse: str
    feed: str

    @property
    def root(self) -> str:
        """Where it is."""
        return f"{self.warehouse.rstrip('/')}/{FOLDER}/{self.feed}"

    @property
    def is_remote(self) -> bool:
        """Whether it is in an object store."""
        return "://" in self.root and not self.root.startswith("file://")

    @property
    def index(self) -> str:
        """The first page of Data Docs."""
        return self.address("index.html")

    def address(self, page: str) -> str:
        """Where a page of Data Docs is, or will be."""
        return f"{self.root.replace('s3a://', 's3://', 1)}/data_docs/{page}"

    def write(self, path: str, text: str) -> None:
        """Put a file there, in place of what there was."""
        with naming_store_faults(f"{FOLDER}/{self.feed} (results of checks)", self.warehouse):
            if self.is_remote:
                bucket, key = self.object(path)
                _client(_settings()).put_object(Bucket=bucket, Key=key, Body=text.encode())
                return
            file = self.file(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            # Beside it first: a run that dies while it writes leaves no half of a file.
            beside = file.with_name(f".{file.name}.{os.getpid()}")
            beside.write_text(text, encoding="utf-8")
            beside.replace(file)

    def read(self, path: str) -> str | None:
        """A file's text; None where there is none."""
        with naming_store_faults(f"{FOLDER}/{self.feed} (results of checks)", self.warehouse):
            if not self.is_remote:
                file = self.file(path)
                return file.read_text(encoding="utf-8") if file.exists() else None
            bucket, key = self.object(path)
            try:
                return (
                    _client(_settings()).get_object(Bucket=bucket, Key=key)["Body"].read().decode()
                )
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                    return None
                raise

    def file(self, path: str) -> Path:
        """A file of a folder that is on this machine."""
        return Path(self.root.removeprefix("file://"), path)

    def object(self, path: str) -> tuple[str, str]:
        """The bucket and the key of a file in an object store."""
        bucket, _, prefix = self.root.partition("://")[2].partition("/")
        return bucket, f"{prefix}/{path}"


@lru_cache(maxsize=1)
def _client(settings: Hashable) -> S3Client:
    """One client for all the results of a run: making one takes longer than writing a result."""
    return s3_client()


def _settings() -> Hashable:
    """What a client is made of, as far as the environment says it."""
    return tuple(sorted(one for one in os.environ.items() if one[0].startswith("AWS_")))


_AT_ONCE: Final = 8


def build_pages_of(warehouse: str, feed: str) -> tuple[int, str]:
    """Make the pages of results that have none yet: how many there were, and where the first page is ("": nowhere).

    It imports Great Expectations, which takes seconds: a run does it for feeds that declare expectations, for which it
    is imported anyway, and others have their pages when somebody opens one, or calls ``weir data-docs``.
    """
    folder = QualityFolder(warehouse, feed)
    with naming_store_faults(FOLDER, warehouse), _on_this_machine(folder) as here:
        if not (here / RESULTS).is_dir():
            return 0, ""
        return data_docs.build_pages(feed, here), folder.index


@contextmanager
def _on_this_machine(folder: QualityFolder) -> Iterator[Path]:
    """The folder; of one in an object store a copy of what the missing pages need, and what is made is put back.

    Great Expectations makes pages of files only. Of pages that are there already only the names are needed, of the
    results those without a page, and of what Great Expectations keeps that which the first page lists.
    """
    if not folder.is_remote:
        yield folder.file("")
        return
    client = s3_client()
    bucket, prefix = folder.object("")

    def listed(part: str, ending: str) -> list[str]:
        """The names below a part of the folder, without their ending, the oldest first."""
        place = f"{prefix}{part}/"
        found = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=place)
        keys = [one["Key"] for page in found for one in page.get("Contents", ())]
        names = [key.removeprefix(place).removesuffix(ending) for key in keys]
        return sorted(names, key=lambda name: name.rsplit("/", 2)[-2])

    shown = listed(PAGES, ".html")
    wanted = [f"{RESULTS}/{name}.json" for name in {*listed(RESULTS, ".json")} - {*shown}]
    wanted += [f"{VALIDATIONS}/{name}.json" for name in listed(VALIDATIONS, ".json")[-LISTED:]]
    with TemporaryDirectory(prefix="weir-data-docs-") as made:
        here = Path(made)
        for name in shown:
            _file(here, f"{PAGES}/{name}.html").touch()

        def fetch(name: str) -> None:
            client.download_file(bucket, f"{prefix}{name}", str(_file(here, name)))

        def put(name: str) -> None:
            kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
            extra = {"ContentType": kind}
            client.upload_file(str(here / name), bucket, f"{prefix}{name}", ExtraArgs=extra)

        _each(fetch, wanted)
        there = {*_files(here)}
        yield here
        _each(put, {*_files(here)} - there)


def _each(work: Callable[[str], None], names: Iterable[str]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(work, names):
            pass


def _file(folder: Path, name: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _files(folder: Path) -> Iterator[str]:
    return (one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())

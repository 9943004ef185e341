"""The folder of a feed's results of checks, ``<warehouse>/_quality/<feed>``: stored results, and Data Docs.

In an object store it is a prefix. Put here where these
files are, and how one is written or read. Not here: what is in them (``expectations/validation_results``).
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from botocore.exceptions import ClientError

from assets.delta.store_faults import naming_store_faults
from assets.s3 import s3_client

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

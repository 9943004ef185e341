"""The landing: where drops lie, as objects that can be listed and read.

An S3 bucket or a local folder. Credentials and endpoints are the usual AWS ones and are never taken from a feed, nor
shown. Put here another kind of place. Not here: what an object holds (``transforms/splitting``), and which objects were
read before (``bookkeeping/ledger``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError

from assets.landing import day_listing
from assets.landing.day_listing import Days
from assets.s3 import fault_and_remedy, s3_client
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.object_paths import matches
from transforms.feed.windows import window_of

_TEMPORARY = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")
_TEMPORARY_FOLDERS = {"_temporary"}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LandedObject:
    """One object of a landing. ``name`` is relative to the landing; a new ``generation`` is new content."""

    name: str
    generation: str
    size: int
    modified_at: datetime
    window: str


@dataclass(slots=True)
class LeftOut:
    """The objects that a listing passed over: how many, and the first of them with the reason."""

    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, reason: str) -> None:
        """Count one object."""
        self.count += 1
        if len(self.examples) < _SHOWN:
            self.examples.append((name, reason))

    def __iter__(self) -> Iterator[str]:
        """One sentence per example, and one on how many more there are."""
        for name, reason in self.examples:
            yield f"{name}: {reason}"
        if self.count > len(self.examples):
            yield f"and {self.count - len(self.examples)} more"


class Landing(Protocol):
    """A place where drops lie. ``left_out`` is complete once ``list`` has been read to its end."""

    @property
    def left_out(self) -> LeftOut:
        """What the last listing passed over."""
        ...

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """Every object that fits the feed's files, in the order of names.

        ``days``: the caller needs only objects of these days; others may come, too.
        """
        ...

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """The object's bytes, and the generation they are of: a newer one if it was replaced since.

        Of an object with more than ``most`` bytes only ``most`` + 1 are read, so that the caller sees it is too large.
        """
        ...


def open_landing(feed: Feed, default_files: Sequence[str] = ("**",)) -> Landing:
    """The feed's landing; ``default_files`` are the globs of its format, for a feed that names no files."""
    globs = (feed.files,) if feed.files is not None else tuple(default_files)
    scheme, separator, rest = feed.landing.partition("://")
    if separator and scheme in {"s3", "s3a"}:
        bucket, _, prefix = rest.partition("/")
        prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        return S3Landing(feed, globs, bucket, prefix)
    if separator and scheme != "file":
        remedy = "Give an s3://bucket/prefix/ address or a folder."
        raise UnreadableLanding(
            feed.name, feed.landing, f"{scheme}:// is no place of objects", remedy
        )
    return FolderLanding(feed, globs, Path(rest if separator else feed.landing))


def _reason_to_leave_out(name: str, globs: Sequence[str]) -> str | None:
    *folders, file = name.split("/")
    if any(folder.startswith(".") for folder in folders) or file.startswith("."):
        return "hidden"
    if file.startswith("_"):
        return "a marker: its name begins with an underscore"
    if file.endswith(_TEMPORARY) or _TEMPORARY_FOLDERS.intersection(folders):
        return "temporary"
    if not any(matches(name, glob) for glob in globs):
        return f"does not match {' or '.join(globs)}"
    return None


class S3Landing:
    """Objects under a prefix of a bucket; the generation is the ETag."""

    def __init__(self, feed: Feed, globs: Sequence[str], bucket: str, prefix: str) -> None:
        self._feed, self._globs = feed, globs
        self._bucket, self._prefix = bucket, prefix
        self.left_out = LeftOut()
        with self._faults_made_clear():
            self._client = s3_client()

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """See ``Landing``."""
        self.left_out = LeftOut()
        with self._faults_made_clear():
            for found in day_listing.keys(self._client, self._bucket, self._prefix, days):
                name = found["Key"].removeprefix(self._prefix)
                # Consoles make such keys to show an empty folder.
                if not name or (found["Size"] == 0 and name.endswith(("/", "_$folder$"))):
                    continue
                if reason := _reason_to_leave_out(name, self._globs):
                    self.left_out.add(name, reason)
                    continue
                modified_at = found["LastModified"].astimezone(UTC)
                window = window_of(name, modified_at, self._feed.window)
                yield LandedObject(
                    name, found["ETag"].strip('"'), found["Size"], modified_at, window
                )

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        with self._faults_made_clear(name):
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)
            with closing(found["Body"]) as body:
                data = body.read(most + 1)
                if len(data) <= most:
                    # Only reading to the end raises where the connection broke.
                    data += body.read()
            return data, found["ETag"].strip('"')

    @contextmanager
    def _faults_made_clear(self, name: str = "") -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError, ValueError) as error:
            place = f"s3://{self._bucket}/{self._prefix}{name}"
            fault, remedy = fault_and_remedy(error)
            # The cause is left behind: its text may quote what the environment holds.
            raise UnreadableLanding(self._feed.name, place, fault, remedy) from None


class FolderLanding:
    """Files under a local folder; the generation is size and modification time."""

    def __init__(self, feed: Feed, globs: Sequence[str], root: Path) -> None:
        self._feed, self._globs, self._root = feed, globs, root
        self.left_out = LeftOut()

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """See ``Landing``."""
        self.left_out = LeftOut()
        if not self._root.is_dir():
            fault = "it is no folder" if self._root.exists() else "there is no such folder"
            raise self._unreadable(self._root, fault, "Create it, or correct the feed's landing.")
        with self._faults_made_clear(self._root):
            files = sorted(
                (path.relative_to(self._root).as_posix(), path)
                for path in day_listing.files(self._root, days)
            )
        for name, path in files:
            if reason := self._reason_to_leave_out(name, path):
                self.left_out.add(name.encode("utf-8", "replace").decode(), reason)
                continue
            with self._faults_made_clear(path):
                status = path.stat()
            modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
            window = window_of(name, modified_at, self._feed.window)
            yield LandedObject(name, _generation(status), status.st_size, modified_at, window)

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        path = self._root / name
        with self._faults_made_clear(path), path.open("rb") as file:
            before = os.fstat(file.fileno())
            while True:
                data = file.read(min(most, before.st_size) + 1)
                after = os.fstat(file.fileno())
                if _generation(after) == _generation(before):
                    return data, _generation(after)
                # Written to while it was read: read again what it has become.
                before = after
                file.seek(0)

    def _reason_to_leave_out(self, name: str, path: Path) -> str | None:
        if name != name.encode("utf-8", "replace").decode():
            return "its name is not valid UTF-8"
        if reason := _reason_to_leave_out(name, self._globs):
            return reason
        return None if path.is_file() else "no regular file, or a link to nothing"

    @contextmanager
    def _faults_made_clear(self, path: Path) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise self._unreadable(path, "it is gone since it was listed", "Run again.") from None
        except OSError as error:
            remedy = "Make it readable for the user who runs Weir."
            raise self._unreadable(path, error.strerror or str(error), remedy) from error

    def _unreadable(self, path: Path, fault: str, remedy: str) -> UnreadableLanding:
        return UnreadableLanding(self._feed.name, str(path), fault, remedy)


def _generation(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"

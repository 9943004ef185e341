"""The landing of a feed: a local folder, or a prefix of an S3 bucket; its objects are listed, by days, and read.

No link leads outside.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from assets.storage.s3 import fault_and_remedy, is_passing, s3_client
from transforms.errors import LandingAway, UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.paths import matches
from transforms.feed.windows import day_of_folder, window_of, window_of_folder

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ListObjectsV2OutputTypeDef, ObjectTypeDef


_TEMPORARY = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")

_TEMPORARY_FOLDERS = {"_temporary"}

_BESIDE_VALUES = re.compile(r".*\+[0-9]+\+[0-9]+\.(keys|headers)\.[^/]*")
"""What Confluent's S3 sink writes beside each object of values: ``<topic>+<partition>+<offset>.keys.json``.

Vendor: ``store.kafka.keys`` and ``store.kafka.headers``,
https://docs.confluent.io/kafka-connectors/s3-sink/current/configuration_options.html, and in its code
``io.confluent.connect.s3.util.Utils.getAdjustedFilename``.
"""

_OF_PART = {
    part: f"{part} of Kafka records, which a sink wrote beside their values, and which are not read"
    for part in ("keys", "headers")
}

_SHOWN = 20
"""Maximum number of objects that are named."""


class LandedObject(NamedTuple):
    """One object of a landing. ``name`` is relative to the landing; a new ``generation`` is new content.

    A tuple, for a landing has hundreds of thousands of them, and each look makes them all.
    """

    name: str
    generation: str
    size: int
    modified_at: datetime
    window: str


@dataclass(slots=True)
class LeftOut:
    """What a listing passed over: how many objects, and the first of them with the reason.

    ``links``: a sentence for each of the first of them that are links out of the landing's folder. Somebody may believe
    that these are read, so they are named before all others. ``parts``: what a sink wrote beside the values of Kafka
    records, one for each drop: by the sentence on them, how many such objects there are, and the first of them.
    """

    count: int = 0
    examples: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    parts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, name: str, reason: str) -> None:
        """Count one object."""
        self.count += 1
        if reason in _OF_PART.values():
            count, first = self.parts.get(reason, (0, name))
            self.parts[reason] = (count + 1, first)
        elif len(self.examples) < _SHOWN:
            self.examples.append(f"{name}: {reason}")

    def add_link(self, name: str, leads_to: str) -> None:
        """Count one link out of the landing's folder."""
        self.count += 1
        if len(self.links) < _SHOWN:
            self.links.append(f"{name}: {LeadsOut(leads_to)}. {REMEDY}")

    def __iter__(self) -> Iterator[str]:
        """One sentence per example, one on all parts of Kafka records of a kind, and one on how many more there are."""
        named = [*self.links, *self.examples][:_SHOWN]
        of_parts = sum(count for count, _ in self.parts.values())
        yield from named
        for reason, (count, first) in self.parts.items():
            yield f"{first}{f' and {count - 1} more' if count > 1 else ''}: {reason}"
        if self.count > len(named) + of_parts:
            yield f"and {self.count - len(named) - of_parts} more"


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


def reason_to_leave_out(name: str, globs: Sequence[str]) -> str | None:
    """Why a listing passes over an object of this name; None where it is a drop."""
    *folders, file = name.split("/")
    if any(folder.startswith(".") for folder in folders) or file.startswith("."):
        return "hidden"
    if file.startswith("_"):
        return "a marker: its name begins with an underscore"
    if file.endswith(_TEMPORARY) or _TEMPORARY_FOLDERS.intersection(folders):
        return "temporary"
    beside = _BESIDE_VALUES.fullmatch(file)
    if beside and not any(f".{beside[1]}" in glob for glob in globs):
        return _OF_PART[beside[1]]
    if not any(matches(name, glob) for glob in globs):
        return f"does not match {' or '.join(globs)}"
    return None


@dataclass(slots=True)
class _Names:
    """What the names of a feed's objects say; what all names of one folder say is worked out once in a row of them."""

    feed: Feed
    globs: Sequence[str]
    folder: str | None = None
    is_plain: bool = False
    window: str | None = None

    def look(self, name: str) -> tuple[str | None, str | None]:
        """Why a listing passes over this object, and the window that its path says (see ``window_of_folder``)."""
        folder, slash, file = name.rpartition("/")
        if folder != self.folder:
            # Whether a file there is a drop if nothing is wrong with its own name.
            is_hidden = "/." in f"/{folder}"
            self.is_plain = not is_hidden and _TEMPORARY_FOLDERS.isdisjoint(folder.split("/"))
            self.folder = folder
            self.window = window_of_folder(folder + slash, self.feed.window, self.feed.window_path)
        is_usual = self.is_plain and file[:1] not in "._" and "+" not in file
        if not (is_usual and not file.endswith(_TEMPORARY) and matches(name, self.globs[0])):
            reason = reason_to_leave_out(name, self.globs)
        else:
            reason = None
        return reason, None if "=" in file else self.window

    def window_at(self, name: str, modified_at: datetime) -> str:
        """The window of an object of which ``look`` gives none."""
        return window_of(name, modified_at, self.feed.window, self.feed.window_path)


# Listing some days only. A folder whose path has a date holds objects of that day alone (``day_of_folder``). Folders
# without one are listed level by level: objects without a date in their path are of the day of their last change, and
# may lie anywhere. Where that takes too many requests, everything is listed.

Days = Container[str]
"""Days as windows write them, ``2026-11-20``."""

LOOKS = 1_000
"""With so many folders to list, a listing of everything is no slower."""

_AT_ONCE = 8


def keys_of_days(
    client: S3Client, bucket: str, prefix: str, days: Days | None, window_path: str | None
) -> Iterator[ObjectTypeDef]:
    """The objects below a prefix that may be of these days, or all, in the order of their keys."""
    if days is not None:
        some = _keys_within(client, bucket, prefix, days, window_path)
        if some is not None:
            yield from sorted(some, key=lambda one: one["Key"].encode())
            return
    for page in _pages(client, bucket, prefix):
        yield from page.get("Contents", [])


def _keys_within(
    client: S3Client, bucket: str, prefix: str, days: Days, window_path: str | None
) -> list[ObjectTypeDef] | None:
    """The objects that may be of these days; None where that takes too many requests."""
    found: list[ObjectTypeDef] = []
    level, looks = [(prefix, False)], 0

    def look(folder: tuple[str, bool]) -> list[ListObjectsV2OutputTypeDef]:
        name, is_whole = folder
        return [*_pages(client, bucket, name, delimiter="" if is_whole else "/")]

    with ThreadPoolExecutor(_AT_ONCE) as looking:
        while level:
            looks += len(level)
            if looks > LOOKS:
                return None
            below: list[tuple[str, bool]] = []
            for pages in looking.map(look, level):
                for page in pages:
                    found += page.get("Contents", [])
                    for one in page.get("CommonPrefixes", []):
                        day = day_of_folder(one["Prefix"].removeprefix(prefix), window_path)
                        if day is None or day in days:
                            below.append((one["Prefix"], day is not None))
            level = below
    return found


def _pages(
    client: S3Client, bucket: str, prefix: str, delimiter: str = ""
) -> Iterable[ListObjectsV2OutputTypeDef]:
    pages = client.get_paginator("list_objects_v2")
    return pages.paginate(Bucket=bucket, Prefix=prefix, Delimiter=delimiter)


class Entry(NamedTuple):
    """A file below a folder: its name there, and the file; of a link that leads out of the folder, where to."""

    name: str
    file: os.DirEntry[str]
    leads_to: str | None = None


def files_of_days(root: Path, days: Days | None, window_path: str | None) -> Iterator[Entry]:
    """The files below a folder that may be of these days, or all, and the links that lead out of it.

    No link to a folder is followed: what lies below the root is met there, and what does not is not of the landing.
    """
    real_root = os.path.realpath(root)
    folders = [("", str(root))]
    while folders:
        below, path = folders.pop()
        with os.scandir(path) as entries:
            # One call tells what each of them is; a path asked for itself is a call to the file system each time.
            listed = [*entries]
        for entry in listed:
            name = below + entry.name
            if entry.is_symlink():
                leads_to = leads_out(entry.path, real_root)
                if leads_to is not None or not Path(entry.path).is_dir():
                    yield Entry(name, entry, leads_to)
            elif not entry.is_dir():
                yield Entry(name, entry)
            elif (
                days is None
                or (day := day_of_folder(name + "/", window_path)) is None
                or day in days
            ):
                folders.append((name + "/", entry.path))


# Links. Whoever may put drops into a folder may put links there, too, and Weir may read more than they may. So a link
# is followed where it ends inside the landing's folder, and nowhere else.

REMEDY = "Put the file itself into the landing, or mount its folder there: a mount is no link."
"""What to do about it, where these drops are wanted."""

_NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class LeadsOut(OSError):
    """A path ends outside the landing's folder; ``to`` is where."""

    def __init__(self, to: str) -> None:
        self.to = to
        super().__init__(f"it is a link that leads out of the landing, to {to}")


def leads_out(path: str, real_root: str) -> str | None:
    """Where a path really ends, if that is not below ``real_root``, which has no links in it; None inside."""
    real = os.path.realpath(path)
    return None if Path(real).is_relative_to(real_root) else shown_path(real)


def shown_path(path: str) -> str:
    """A path as it can be printed: its bytes need not be UTF-8."""
    return path.encode("utf-8", "replace").decode()


def open_inside(root: Path, name: str) -> int:
    """A descriptor of the file of this name below the root.

    The way to it is walked once more without following any link, so that one that is put there between the look and
    the opening is not followed either.

    Raises:
        LeadsOut: the name leads out of the root, by a link or by ``..``.
        FileNotFoundError: there is no such file; or a link or another thing has just taken its place.
        OSError: it cannot be opened.
    """
    real_root, path = os.path.realpath(root), str(root / name)
    if (to := leads_out(path, real_root)) is not None:
        raise LeadsOut(to)
    *folders, file = Path(os.path.realpath(path)).relative_to(real_root).parts or (".",)
    folder = os.open(real_root, _NO_LINK | os.O_DIRECTORY)
    try:
        for part in folders:
            below = os.open(part, _NO_LINK | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = below
        # Without waiting for whoever writes to a pipe, if it has become one.
        opened = os.open(file, _NO_LINK | os.O_NONBLOCK, dir_fd=folder)
    except OSError as fault:
        if fault.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
        raise
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return opened


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
            feed.name, feed.landing, f"{scheme}:// addresses are not supported here", remedy
        )
    return FolderLanding(feed, globs, Path(rest if separator else feed.landing))


class FolderLanding:
    """Files under a local folder; the generation is size and modification time."""

    def __init__(self, feed: Feed, globs: Sequence[str], root: Path) -> None:
        self._feed, self._globs, self._root = feed, globs, root
        self.left_out = LeftOut()

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """See ``Landing``."""
        self.left_out, names = LeftOut(), _Names(self._feed, self._globs)
        if not self._root.is_dir():
            fault = "it is no folder" if self._root.exists() else "there is no such folder"
            raise self._unreadable(self._root, fault, "Create it, or correct the feed's landing.")
        with self._faults_made_clear(self._root):
            files = sorted(
                files_of_days(self._root, days, self._feed.window_path),
                key=attrgetter("name"),
            )
        for name, file, leads_to in files:
            shown = name if name.isascii() else shown_path(name)
            if leads_to is not None:
                self.left_out.add_link(shown, leads_to)
                continue
            reason, window = names.look(name)
            if name != shown:
                reason = "its name is not valid UTF-8"
            status = self._status_of_file(file) if reason is None else None
            if status is None:
                self.left_out.add(shown, reason or "no regular file, or a link to nothing")
                continue
            modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
            window = window or names.window_at(name, modified_at)
            yield LandedObject(name, _generation(status), status.st_size, modified_at, window)

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        path = self._root / name
        with (
            self._faults_made_clear(path),
            os.fdopen(open_inside(self._root, name), "rb") as file,
        ):
            before = os.fstat(file.fileno())
            while True:
                data = file.read(min(most, before.st_size) + 1)
                after = os.fstat(file.fileno())
                if _generation(after) == _generation(before):
                    return data, _generation(after)
                # Written to while it was read: read again what it has become.
                before = after
                file.seek(0)

    def _status_of_file(self, file: os.DirEntry[str]) -> os.stat_result | None:
        """What the file system says of a file; None where there is none by now."""
        try:
            status = file.stat()
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            with self._faults_made_clear(file.path):
                raise
        return status if stat.S_ISREG(status.st_mode) else None

    @contextmanager
    def _faults_made_clear(self, path: Path | str) -> Iterator[None]:
        try:
            yield
        except LeadsOut as link:
            raise self._unreadable(path, str(link), REMEDY) from None
        except FileNotFoundError:
            raise self._unreadable(path, "it is gone since it was listed", "Run again.") from None
        except OSError as error:
            remedy = "Make it readable for the user who runs Weir."
            raise self._unreadable(path, error.strerror or str(error), remedy) from error

    def _unreadable(self, path: Path | str, fault: str, remedy: str) -> UnreadableLanding:
        return UnreadableLanding(self._feed.name, str(path), fault, remedy)


def _generation(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"


class S3Landing:
    """Objects under a prefix of a bucket; the generation is the ETag.

    Credentials and endpoints are the usual AWS ones and are never taken from a feed, nor shown.
    """

    def __init__(self, feed: Feed, globs: Sequence[str], bucket: str, prefix: str) -> None:
        self._feed, self._globs = feed, globs
        self._bucket, self._prefix = bucket, prefix
        self.left_out = LeftOut()
        with self._faults_made_clear():
            self._client = s3_client()

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """See ``Landing``."""
        self.left_out, names = LeftOut(), _Names(self._feed, self._globs)
        with self._faults_made_clear():
            for found in keys_of_days(
                self._client, self._bucket, self._prefix, days, self._feed.window_path
            ):
                name = found["Key"].removeprefix(self._prefix)
                # Consoles make such keys to show an empty folder.
                if not name or (found["Size"] == 0 and name.endswith(("/", "_$folder$"))):
                    continue
                reason, window = names.look(name)
                if reason:
                    self.left_out.add(name, reason)
                    continue
                modified_at = found["LastModified"].astimezone(UTC)
                window = window or names.window_at(name, modified_at)
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
            fault, remedy = fault_and_remedy(error, "the feed's landing")
            # The cause is left behind: its text may quote what the environment holds.
            kind = LandingAway if is_passing(error) else UnreadableLanding
            raise kind(self._feed.name, place, fault, remedy) from None

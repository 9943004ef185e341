"""The landing of a feed, by the address in its feed file: a local folder, or a prefix of an S3 bucket."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from assets.landing import objects
from assets.landing.objects import Days, LandedObject, Landing, LeftOut, reason_to_leave_out
from assets.storage.s3 import fault_and_remedy, is_passing, s3_client
from transforms.errors import LandingAway, UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.windows import window_of


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
        self.left_out = LeftOut()
        if not self._root.is_dir():
            fault = "it is no folder" if self._root.exists() else "there is no such folder"
            raise self._unreadable(self._root, fault, "Create it, or correct the feed's landing.")
        with self._faults_made_clear(self._root):
            files = sorted(
                objects.files_of_days(self._root, days, self._feed.window_path),
                key=attrgetter("name"),
            )
        for name, file, leads_to in files:
            shown = objects.shown_path(name)
            if leads_to is not None:
                self.left_out.add_link(shown, leads_to)
                continue
            reason = reason_to_leave_out(name, self._globs)
            if name != shown:
                reason = "its name is not valid UTF-8"
            status = None
            if reason is None:
                with self._faults_made_clear(file.path):
                    status = _status_of_file(file)
            if status is None:
                self.left_out.add(shown, reason or "no regular file, or a link to nothing")
                continue
            modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
            window = window_of(name, modified_at, self._feed.window, self._feed.window_path)
            yield LandedObject(name, _generation(status), status.st_size, modified_at, window)

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        path = self._root / name
        with (
            self._faults_made_clear(path),
            os.fdopen(objects.open_inside(self._root, name), "rb") as file,
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

    @contextmanager
    def _faults_made_clear(self, path: Path | str) -> Iterator[None]:
        try:
            yield
        except objects.LeadsOut as link:
            raise self._unreadable(path, str(link), objects.REMEDY) from None
        except FileNotFoundError:
            raise self._unreadable(path, "it is gone since it was listed", "Run again.") from None
        except OSError as error:
            remedy = "Make it readable for the user who runs Weir."
            raise self._unreadable(path, error.strerror or str(error), remedy) from error

    def _unreadable(self, path: Path | str, fault: str, remedy: str) -> UnreadableLanding:
        return UnreadableLanding(self._feed.name, str(path), fault, remedy)


def _status_of_file(file: os.DirEntry[str]) -> os.stat_result | None:
    """What the file system says of a file; None where there is none by now."""
    try:
        status = file.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    return status if stat.S_ISREG(status.st_mode) else None


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
        self.left_out = LeftOut()
        with self._faults_made_clear():
            for found in objects.keys_of_days(
                self._client, self._bucket, self._prefix, days, self._feed.window_path
            ):
                name = found["Key"].removeprefix(self._prefix)
                # Consoles make such keys to show an empty folder.
                if not name or (found["Size"] == 0 and name.endswith(("/", "_$folder$"))):
                    continue
                if reason := reason_to_leave_out(name, self._globs):
                    self.left_out.add(name, reason)
                    continue
                modified_at = found["LastModified"].astimezone(UTC)
                window = window_of(name, modified_at, self._feed.window, self._feed.window_path)
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

"""A landing that is a local folder.

Put here what a file system does its own way. Not here: listing only some days (``day_listing``).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from assets.landing import day_listing, inside
from assets.landing.day_listing import Days
from assets.landing.objects import LandedObject, LeftOut, reason_to_leave_out
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.windows import window_of


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
                day_listing.files(self._root, days, self._feed.window_path), key=attrgetter("name")
            )
        for name, file, leads_to in files:
            status = None
            if leads_to is not None:
                self.left_out.add_link(inside.shown(name), leads_to)
                continue
            if not (reason := self._reason_to_leave_out(name)):
                with self._faults_made_clear(file.path):
                    status = _status_of_file(file)
            if status is None:
                reason = reason or "no regular file, or a link to nothing"
                self.left_out.add(inside.shown(name), reason)
                continue
            modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
            window = window_of(name, modified_at, self._feed.window, self._feed.window_path)
            yield LandedObject(name, _generation(status), status.st_size, modified_at, window)

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        path = self._root / name
        with (
            self._faults_made_clear(path),
            os.fdopen(inside.open_inside(self._root, name), "rb") as file,
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

    def _reason_to_leave_out(self, name: str) -> str | None:
        if name != inside.shown(name):
            return "its name is not valid UTF-8"
        return reason_to_leave_out(name, self._globs)

    @contextmanager
    def _faults_made_clear(self, path: Path | str) -> Iterator[None]:
        try:
            yield
        except inside.LeadsOut as link:
            raise self._unreadable(path, str(link), inside.REMEDY) from None
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

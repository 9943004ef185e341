"""Staying inside a landing's folder: where a link leads, and opening a file that no link takes out of the folder.

Whoever may put drops into a folder may put links there, too, and Weir may read more than they may. So a link is
followed where it ends inside the folder, and nowhere else. Put here what tells inside from outside. Not here: what is
done about a link that leads out (``day_listing``, ``folder_landing``).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
    return None if Path(real).is_relative_to(real_root) else shown(real)


def shown(path: str) -> str:
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

"""The landing of a feed, by the address in its feed file.

Put here which kind of landing an address means. Not here: the kinds (``s3_landing``, ``folder_landing``), and topics,
which hold no objects (``kafka``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assets.landing.folder_landing import FolderLanding
from assets.landing.objects import Landing
from assets.landing.s3_landing import S3Landing
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed


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

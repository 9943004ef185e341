"""Listing a landing for some days only: folders of other days are not listed, and no object of these days is missed.

A folder whose path has a date holds objects of that day alone, whatever lies below it (``day_of_folder``). Folders
without a date are listed level by level: objects without a date in their path are of the day of their last change, and
may lie anywhere. Where that takes too many requests, everything is listed. Put here what saves a listing. Not here:
what an object of a landing is (``objects``).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assets.landing import inside
from transforms.feed.windows import day_of_folder

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ListObjectsV2OutputTypeDef, ObjectTypeDef

Days = Collection[str]
"""Days as windows write them, ``2026-11-20``."""

LOOKS = 1_000
"""With so many folders to list, a listing of everything is no slower."""

_AT_ONCE = 8


def keys(
    client: S3Client, bucket: str, prefix: str, days: Days | None, window_path: str | None
) -> Iterator[ObjectTypeDef]:
    """The objects below a prefix that may be of these days, or all, in the order of their keys."""
    if days is not None:
        some = _keys_of_days(client, bucket, prefix, days, window_path)
        if some is not None:
            yield from sorted(some, key=lambda one: one["Key"].encode())
            return
    for page in _pages(client, bucket, prefix):
        yield from page.get("Contents", [])


def _keys_of_days(
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


def files(root: Path, days: Days | None, window_path: str | None) -> Iterator[Entry]:
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
                leads_to = inside.leads_out(entry.path, real_root)
                if leads_to is not None or not Path(entry.path).is_dir():
                    yield Entry(name, entry, leads_to)
            elif not entry.is_dir():
                yield Entry(name, entry)
            elif days is None or day_of_folder(name + "/", window_path) in (None, *days):
                folders.append((name + "/", entry.path))

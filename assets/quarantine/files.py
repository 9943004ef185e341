"""Records of quarantine as files that a person can repair in an editor, and such files read again.

Each is a file of its own: its bytes, below the header line of its object where that has one. A file beside them,
``source_locations.json``, says which record each is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from assets.quarantine.records import QuarantinedRecord
from assets.quarantine.words import ID
from transforms.errors import DecisionRefused
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed

SIDECAR: Final = "source_locations.json"

_ENDINGS: Final = (".json", ".jsonl", ".csv", ".rdf")


@dataclass(frozen=True, slots=True)
class Written:
    """One record as it is written out: ``payload`` below ``header``, if there is one."""

    record: QuarantinedRecord
    payload: bytes | None
    header: str | None

    @property
    def name(self) -> str:
        """The file's name: the record's id, with the ending that an editor knows its object by."""
        suffixes = PurePosixPath(self.record.source_location[0]).suffixes
        ending = next((one.lower() for one in reversed(suffixes) if one.lower() in _ENDINGS), "")
        if not ending:
            ending = ".json" if (self.payload or b"").lstrip()[:1] == b"{" else ".txt"
        return f"{self.record.id[:ID]}{ending}"

    @property
    def content(self) -> bytes:
        """The file's bytes."""
        head = b"" if self.header is None else self.header.encode() + b"\n"
        return head + (b"" if self.payload is None else self.payload + b"\n")


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A file read again: the id of its record, the payload in it, and whether it is what was written out."""

    id: str
    payload: bytes | None
    is_changed: bool


def write_out(feed: Feed, records: Sequence[Written], folder: Path) -> list[Path]:
    """Write records out, and the source locations of all files in the folder; files that are there are kept.

    Raises:
        DecisionRefused: the folder has records of another feed, or a file of these records that was changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = _sidecar(feed, folder) if (folder / SIDECAR).exists() else {}
    paths = []
    for one in records:
        path = folder / one.name
        if path.exists() and _digest(path.read_bytes()) != _digest(one.content):
            raise DecisionRefused(
                feed.name,
                f"{path} is there already and was changed: replay it, remove it, or export to another folder (--to)",
            )
        path.write_bytes(one.content)
        known[one.name] = {**_facts(one), "sha256": _digest(one.content)}
        paths.append(path)
    text = json.dumps({"feed": feed.name, "records": known}, indent=2, ensure_ascii=False)
    (folder / SIDECAR).write_text(text + "\n", encoding="utf-8")
    return paths


def read_back(feed: Feed, path: Path) -> list[ReadBack]:
    """One file, or all files of a folder that have been changed since they were written out.

    Raises:
        DecisionRefused: a file was not written by ``weir quarantine export`` of this feed, or its header was changed.
    """
    folder = path if path.is_dir() else path.parent
    if not (folder / SIDECAR).exists():
        raise DecisionRefused(
            feed.name,
            f"{folder} has no {SIDECAR}, which says which record a file is: write records out with"
            f" `weir quarantine export {feed.name}`, and repair those files",
        )
    known = _sidecar(feed, folder)
    if not path.is_dir():
        if path.name not in known:
            raise DecisionRefused(feed.name, f"{folder / SIDECAR} does not know {path.name}")
        return [_read_back(feed, path, known[path.name])]
    found = [
        _read_back(feed, folder / name, facts)
        for name, facts in known.items()
        if (folder / name).exists()
    ]
    return [one for one in found if one.is_changed]


def _read_back(feed: Feed, path: Path, facts: Mapping[str, Any]) -> ReadBack:
    content = path.read_bytes()
    is_changed = _digest(content) != facts["sha256"]
    header: str | None = facts["header"]
    if header is not None:
        head = header.encode() + b"\n"
        if not content.startswith(head):
            raise DecisionRefused(
                feed.name,
                f"{path}: its first line is not the header of its object any more; a header stands for all records of"
                f" its object and cannot be repaired here. Expected: {header}",
            )
        content = content[len(head) :]
    if not content:
        return ReadBack(facts["id"], None, is_changed)
    end = b"\r\n" if content.endswith(b"\r\n") else b"\n"
    return ReadBack(facts["id"], content.removesuffix(end), is_changed)


def _sidecar(feed: Feed, folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / SIDECAR
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        name, known = found["feed"], dict(found["records"])
        if any(PurePosixPath(one).name != one for one in known):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise DecisionRefused(feed.name, f"{path} is not as it was written out") from None
    if name != feed.name:
        raise DecisionRefused(feed.name, f"{path} has records of feed {name}")
    return known


def _facts(one: Written) -> dict[str, object]:
    record = one.record
    source_location: SourceLocation = record.source_location
    names = ("object", "generation", "line", "byte_offset")
    return {
        "id": record.id,
        "window": record.window,
        **dict(zip(names, source_location, strict=True)),
        "table": record.table,
        "reason": record.reason,
        "detail": record.detail,
        "header": one.header,
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

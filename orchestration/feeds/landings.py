"""Where drops land, as a feed file writes it: a folder, a prefix in S3, or topics of Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestration.feeds.faults import InvalidKey
from orchestration.feeds.keys import DeclaredFeed
from transforms.addresses import has_credentials, neither
from transforms.feed.feed import Schemas
from transforms.feed.paths import compiled, matches
from transforms.formats import FORMATS
from transforms.near_names import did_you_mean
from transforms.records.encoding import KNOWN, canonical

_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_S3: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/.*)?", re.DOTALL)
_KAFKA: Final = re.compile(r"kafka://[^/,\s]+(,[^/,\s]+)*/[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*")

_REGISTRY: Final = re.compile(r"https?://[^/?#\s@]+(/[^?#\s]*)?")
_REGISTRY_CREDENTIALS: Final = (
    "set WEIR_SCHEMA_REGISTRY_USERNAME and WEIR_SCHEMA_REGISTRY_PASSWORD,"
    " or WEIR_SCHEMA_REGISTRY_TOKEN"
)

_NEVER: Final = "and secrets never stand in a feed file"
_CREDENTIALS: Final = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_KAFKA_CREDENTIALS: Final = "set WEIR_KAFKA_SASL_USERNAME and WEIR_KAFKA_SASL_PASSWORD"


def landing_from(declared: DeclaredFeed, folder: Path) -> str:
    """The landing as an address: a folder's absolute path, ``s3://bucket/prefix/`` or ``kafka://…``.

    A relative path begins at ``folder``, where the feed file is.
    """
    landing = declared.landing
    address = _ADDRESS.match(landing)
    if address is None:
        return str((folder / Path(landing).expanduser()).resolve())
    if has_credentials(landing):
        # Not quoted, nor any part of it.
        remedy = _KAFKA_CREDENTIALS if address.group(1) == "kafka" else _CREDENTIALS
        raise InvalidKey("landing", f"has credentials in it, {_NEVER}: {remedy}")
    if address.group(1) == "kafka":
        return _topics(declared)
    if not _S3.fullmatch(landing):
        raise InvalidKey("landing", neither(landing, "s3://bucket/prefix/"))
    # A prefix means a folder: without the slash, tpch would take in tpch_old as well.
    return landing if landing.endswith("/") else f"{landing}/"


def _topics(declared: DeclaredFeed) -> str:
    landing, known = declared.landing, FORMATS.get(declared.format)
    if known is None or not known.reads_kafka:
        fault = f"{landing} is a Kafka topic, but {declared.format} reads files"
        raise InvalidKey("landing", f"{fault}: give an s3:// address or a folder")
    if not _KAFKA.fullmatch(landing):
        # No broker or topic has an @, and what is before it may be a password.
        shown = "what it has, with an @ in it," if "@" in landing else repr(landing)
        fault = f"{shown} is not kafka://broker:port/topic[,topic]"
        raise InvalidKey("landing", fault)
    if declared.files is not None:
        raise InvalidKey("files", "is for landings of files, and a topic has none")
    return landing


def schemas_from(declared: DeclaredFeed, folder: Path) -> Schemas | None:
    """Where messages' schemas are: a registry's URL, or a folder's absolute path."""
    given = declared.schemas
    if given is None:
        return None
    if FORMATS[declared.format].schema_ids is None:
        known = [name for name, one in FORMATS.items() if one.schema_ids is not None]
        raise InvalidKey("schemas", f"is for feeds of format {' or '.join(known)}")
    if (given.registry is None) == (given.folder is None):
        raise InvalidKey("schemas", "must have either registry or folder")
    if given.folder is not None:
        return Schemas(str((folder / Path(given.folder).expanduser()).resolve()))
    registry = given.registry or ""
    if has_credentials(registry):
        raise InvalidKey(
            "schemas.registry", f"has credentials in it, {_NEVER}: {_REGISTRY_CREDENTIALS}"
        )
    if not _REGISTRY.fullmatch(registry):
        raise InvalidKey(
            "schemas.registry", f"{registry!r} is not http://host:port or https://host"
        )
    return Schemas(registry)


def check_window_path(declared: DeclaredFeed) -> None:
    """Refuse a ``window_path`` that does not say where the date stands in an object's path."""
    if declared.window_path is None:
        return
    if declared.landing.startswith("kafka:"):
        fault = (
            "is for landings of files: records of a topic are in the windows of their timestamps"
        )
        raise InvalidKey("window_path", fault)
    try:
        compiled(declared.window_path)
    except ValueError as fault:
        raise InvalidKey("window_path", str(fault)) from None


def check_encoding(declared: DeclaredFeed) -> None:
    """Refuse an ``encoding`` that is none, or of a topic."""
    if (name := declared.encoding) is None:
        return
    if declared.landing.startswith("kafka:"):
        raise InvalidKey("encoding", "is for landings of files: records of a topic are UTF-8")
    if canonical(name) is None:
        fault = f"{name!r} is no encoding of text that Python knows{did_you_mean(name, KNOWN)}"
        raise InvalidKey("encoding", fault, KNOWN)


def accepted_losses_from(declared: DeclaredFeed) -> Iterator[tuple[str, int]]:
    """The partitions of topics, each with the offset up to which records may be lost without an error."""
    for name, offset in declared.accept_loss.items():
        key = f"accept_loss.{name}"
        if not declared.landing.startswith("kafka://"):
            raise InvalidKey("accept_loss", "is for topics, and this landing is none")
        topics = declared.landing.rpartition("/")[2].split(",")
        if name.rpartition("/")[0] not in topics or not name.rpartition("/")[2].isdecimal():
            raise InvalidKey(key, "is no partition: write <topic>/<number>", topics)
        if not offset.isdecimal():
            raise InvalidKey(key, f"{offset!r} is no offset")
        yield name, int(offset)


def check_glob(key: str, glob: str | None) -> None:
    """Refuse a text that is no glob over object names."""
    try:
        matches("", glob or "")
    except re.error as fault:
        raise InvalidKey(key, f"{glob!r} is no glob: {fault}") from None

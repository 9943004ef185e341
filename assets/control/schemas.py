"""The schemas that records name by id: kept in ``schemas.<feed>``, each asked for once in its registry or folder.

Nothing but a driver asks: tasks, and whoever decodes, get them as values of the feed.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from assets.storage.lake import Lake, Layer
from transforms.errors import LandingAway, UnreadableLanding
from transforms.families.connect.protobuf import ProtobufSchema, descriptor_set
from transforms.families.connect.scalars import Unusable
from transforms.families.connect.wire import PROTOBUF
from transforms.feed.feed import Feed, RegisteredSchema

USERNAME: Final = "WEIR_SCHEMA_REGISTRY_USERNAME"
PASSWORD: Final = "WEIR_SCHEMA_REGISTRY_PASSWORD"
TOKEN: Final = "WEIR_SCHEMA_REGISTRY_TOKEN"
AUTHORITY: Final = "WEIR_SCHEMA_REGISTRY_CA_LOCATION"

PATIENCE: Final = 15.0
"""Seconds in which a registry has to answer."""

MOST_ASKED: Final = 10_000
"""Maximum number of schemas that are asked for at once: records with others are as those whose schema is nowhere."""

_MOST_BYTES: Final = 16 << 20
_DEEPEST: Final = 50
_ACCEPTED: Final = "application/vnd.schemaregistry.v1+json, application/json, */*"
_SERIALIZED: Final = "?format=serialized"
"""Asks for Protobuf's descriptors in place of the text of a .proto file."""
_REFUSED: Final = (401, 403)
_NOT_FOUND: Final = 404


def with_kept(lake: Lake, feed: Feed) -> Feed:
    """The feed with the schemas that are kept of it; it may have these already."""
    if feed.schemas is None:
        return feed
    rows = lake.in_process_table(Layer.SCHEMAS, feed.name).rows()
    kept = {
        row["id"]: RegisteredSchema(row["kind"], row["text"], tuple(row["references"]))
        for row in rows
    }
    return replace(feed, schemas=replace(feed.schemas, known={**feed.schemas.known, **kept}))


def with_named(lake: Lake, feed: Feed, ids: Iterable[str]) -> Feed:
    """The feed with these schemas, too: those that nobody has asked for are, and kept. Without those that are nowhere.

    Raises:
        LandingAway: The registry does not answer.
        UnreadableLanding: It refuses to, or there is no such folder.
    """
    assert feed.schemas is not None  # only feeds with schemas have records that name some
    # Bytes that are no Avro name what they like: real ids are small, and first.
    missing = sorted({*ids} - feed.schemas.known.keys(), key=lambda name: (len(name), name))
    found = asked_for(feed, missing[:MOST_ASKED])
    if not found:
        return feed
    now = datetime.now(UTC)
    place = feed.schemas.place
    rows = [
        {
            **{"id": name, "kind": one.kind, "text": one.text},
            **{"references": list(one.references), "place": place, "kept_at": now},
        }
        for name, one in found.items()
    ]
    lake.in_process_table(Layer.SCHEMAS, feed.name).append(rows)
    return replace(feed, schemas=replace(feed.schemas, known={**feed.schemas.known, **found}))


def asked_for(feed: Feed, ids: Iterable[str]) -> dict[str, RegisteredSchema]:
    """Those of the schemas that the feed's registry or folder has.

    Raises:
        LandingAway: The registry does not answer.
        UnreadableLanding: It refuses to, or there is no such folder.
    """
    asked = {name: _asked(feed, name) for name in ids}
    return {name: one for name, one in asked.items() if one is not None}


def _asked(feed: Feed, name: str) -> RegisteredSchema | None:
    assert feed.schemas is not None
    if not feed.schemas.is_registry:
        return _in_folder(feed, Path(feed.schemas.place), name)
    registry = _Registry(feed, feed.schemas.place.rstrip("/"))
    return registry.apicurio(name) if registry.is_apicurio else registry.confluent(name)


# A folder: <id>.avsc is the schema of an id (<id>.json one in JSON Schema, <id>.desc a set of Protobuf's descriptors),
# and all other files *.avsc are such as these may name the types of.


def _in_folder(feed: Feed, folder: Path, name: str) -> RegisteredSchema | None:
    number = name.rpartition("/")[2]
    try:
        if not folder.is_dir():
            remedy = "Make it, or correct `schemas` in the feed file; then run again."
            raise UnreadableLanding(feed.name, str(folder), "there is no such folder", remedy)
        described = folder / f"{number}.desc"
        if described.is_file():
            return _described(feed, described)
        for ending, kind in ((".avsc", "AVRO"), (".json", "JSON")):
            file = folder / f"{number}{ending}"
            if file.is_file():
                others = sorted(one for one in folder.glob("*.avsc") if not one.stem.isdecimal())
                texts = (one.read_text("utf-8") for one in others if one != file)
                references = tuple(texts) if kind == "AVRO" else ()
                return RegisteredSchema(kind, file.read_text("utf-8"), references)
    except (OSError, UnicodeDecodeError) as fault:
        remedy = "Give whoever runs Weir the right to read it; then run again."
        raise UnreadableLanding(feed.name, str(folder), str(fault), remedy) from fault
    return None


def _described(feed: Feed, file: Path) -> RegisteredSchema:
    text = base64.b64encode(file.read_bytes()).decode()
    try:
        ProtobufSchema(text)
    except Unusable as why:
        remedy = (
            "Make it again with `protoc --include_imports --descriptor_set_out=<id>.desc`, from the .proto file of the"
            " messages; then run again."
        )
        raise UnreadableLanding(feed.name, str(file), str(why), remedy) from None
    return RegisteredSchema(PROTOBUF, text)


# A registry, by the interface of Confluent's, which Karapace and Apicurio (/apis/ccompat/v7) have, too; or by
# Apicurio's own (/apis/registry/v2, /apis/registry/v3).
# Vendors: Confluent, "Schema Registry API Reference"; Apicurio Registry, "REST API", ids and references.


_References: TypeAlias = dict[tuple[str, str], tuple[str, str]]
"""By subject and version: the name that a schema has for another, and its text."""


@dataclass(slots=True)
class _Registry:
    feed: Feed
    url: str

    @property
    def is_apicurio(self) -> bool:
        return "/apis/registry/" in f"{self.url}/"

    def confluent(self, name: str) -> RegisteredSchema | None:
        kind, _, own = name.rpartition("/")
        path = f"/schemas/guids/{own}" if kind == "guid" else f"/schemas/ids/{own}"
        answer = self._get(path)
        if answer is None:
            return None
        found = self._object(path, answer.body)
        kind = str(found.get("schemaType") or "AVRO")
        query = _SERIALIZED if kind == PROTOBUF else ""
        if query:
            found = self._object(path + query, self._needed(path + query))
        references: _References = {}
        self._follow(found.get("references"), references, query)
        return self._schema(path + query, kind, str(found["schema"]), references)

    def _schema(self, path: str, kind: str, text: str, references: _References) -> RegisteredSchema:
        """A schema and what it refers to; Protobuf's files become one set, for each is imported by its name."""
        if kind != PROTOBUF:
            return RegisteredSchema(kind, text, tuple(one for _, one in references.values()))
        try:
            return RegisteredSchema(kind, descriptor_set(text, dict(references.values())))
        except Unusable as why:
            fault = f"it answers with {why}; Weir reads serialized descriptors alone"
            raise self._unreadable(path, fault, _AS_FILES) from None

    def _follow(self, listed: Any, found: _References, query: str, depth: int = 0) -> None:
        """Collect what a schema refers to, each behind what it refers to itself."""
        for one in listed or ():
            where = (str(one["subject"]), str(one["version"]))
            if where in found or depth > _DEEPEST:
                continue
            path = f"/subjects/{quote(where[0], safe='')}/versions/{where[1]}{query}"
            schema = self._object(path, self._needed(path))
            self._follow(schema.get("references"), found, query, depth + 1)
            found[where] = str(one.get("name")), str(schema["schema"])

    def apicurio(self, name: str) -> RegisteredSchema | None:
        kind, _, own = name.rpartition("/")
        # The ids that converters write unless they are told otherwise: global ones at first, contents' since version 3.
        usual = "globalIds" if "/registry/v2" in self.url else "contentIds"
        kinds = {"globalId": "globalIds", "contentId": "contentIds"}.get(kind, usual)
        path = f"/ids/{kinds}/{own}"
        answer = self._get(path)
        if answer is None:
            return None
        references: _References = {}
        self._follow_apicurio(f"{path}/references", references, 0)
        return self._schema(path, answer.artifact_type or "AVRO", answer.body, references)

    def _follow_apicurio(self, path: str, found: _References, depth: int) -> None:
        listed = self._json(path, self._get(path))
        for one in listed if type(listed) is list else ():
            group, artifact, version = (
                quote(str(one.get(part) or "default"), safe="")
                for part in ("groupId", "artifactId", "version")
            )
            where = (f"{group}/{artifact}", version)
            if where in found or depth > _DEEPEST:
                continue
            of = f"/groups/{group}/artifacts/{artifact}/versions/{version}"
            is_second = "/registry/v2" in self.url
            text = self._needed(of if is_second else f"{of}/content")
            self._follow_apicurio(f"{of}/references", found, depth + 1)
            found[where] = str(one.get("name")), text

    def _needed(self, path: str) -> str:
        answer = self._get(path)
        if answer is None:
            raise self._unreadable(path, "it has no such schema, which another refers to", _LOOK)
        return answer.body

    def _object(self, path: str, body: str) -> dict[str, Any]:
        found = self._json(path, _Answer(body))
        if type(found) is not dict or type(found.get("schema")) is not str:
            raise self._unreadable(path, "it answers with no schema", _LOOK)
        return found

    def _json(self, path: str, answer: _Answer | None) -> Any:
        try:
            return None if answer is None else json.loads(answer.body)
        except ValueError:
            raise self._unreadable(path, "it answers with no JSON", _LOOK) from None

    def _get(self, path: str) -> _Answer | None:
        """What the registry answers; None where it says that it has none."""
        request = urllib.request.Request(
            self.url + path, headers={"Accept": _ACCEPTED, **_authorization()}
        )
        try:
            context = ssl.create_default_context(cafile=os.environ.get(AUTHORITY))
            secure = urllib.request.HTTPSHandler(context=context)
            opener = urllib.request.build_opener(secure, _NoRedirects)
            with opener.open(request, timeout=PATIENCE) as answer:
                body = answer.read(_MOST_BYTES).decode("utf-8")
                return _Answer(body, answer.headers.get("X-Registry-ArtifactType"))
        except urllib.error.HTTPError as fault:
            fault.close()
            if fault.code == _NOT_FOUND:
                return None
            if fault.code in _REFUSED:
                remedy = f"Set {USERNAME} and {PASSWORD}, or {TOKEN}, to what it knows."
                raise self._unreadable(path, f"it refuses access ({fault.code})", remedy) from None
            raise self._away(path, f"it answers {fault.code} {fault.reason}") from fault
        except UnicodeDecodeError as fault:
            raise self._unreadable(path, "it answers with no text", _LOOK) from fault
        except (OSError, HTTPException) as fault:
            why = fault.reason if isinstance(fault, urllib.error.URLError) else fault
            raise self._away(path, f"it does not answer: {why}") from fault

    def _away(self, path: str, fault: str) -> LandingAway:
        remedy = (
            "Nothing is quarantined for it, and the windows stay due: run again when the registry is there, or correct"
            f" `schemas` in the feed file ({AUTHORITY} names the file of an authority of your own)."
        )
        return LandingAway(self.feed.name, self._place, f"asked for {path}, {fault}", remedy)

    def _unreadable(self, path: str, fault: str, remedy: str) -> UnreadableLanding:
        return UnreadableLanding(self.feed.name, self._place, f"asked for {path}, {fault}", remedy)

    @property
    def _place(self) -> str:
        return f"the schema registry {self.url}"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What a registry is asked with is for it alone: another address has to stand in the feed file."""

    def redirect_request(self, *_: Any) -> None:
        return None


_LOOK: Final = "Look at it there, and at the address in `schemas` of the feed file; then run again."
_AS_FILES: Final = (
    "Put the schemas into a folder as <id>.desc, by `protoc --include_imports --descriptor_set_out=<id>.desc`, and name"
    " it in the feed file: `schemas: {folder: ./schemas}`; then run again."
)


@dataclass(frozen=True, slots=True)
class _Answer:
    body: str
    artifact_type: str | None = None


def _authorization() -> dict[str, str]:
    """The header that says who asks, where the environment has it."""
    token, user = os.environ.get(TOKEN), os.environ.get(USERNAME)
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user:
        pair = f"{user}:{os.environ.get(PASSWORD, '')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}

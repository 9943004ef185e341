"""A schema registry on this machine: what Confluent's and Apicurio's answer to those who ask for a schema."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Reference = tuple[str, str, int]
"""The name that a schema uses, the subject and its version."""


@dataclass
class Registry:
    """The server: its address, what is registered, what was asked for, and how it answers.

    ``broken``: the status that it answers everything with. ``authorization``: the header that it wants.
    ``serializes``: whether it has Protobuf's descriptors; some have the text of a .proto file alone.
    """

    url: str = ""
    schemas: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    broken: int | None = None
    authorization: str | None = None
    serializes: bool = True

    def register(
        self,
        subject: str,
        schema: object,
        kind: str = "AVRO",
        references: Sequence[Reference] = (),
    ) -> int:
        """Register a schema, one in Protobuf as its serialized file; returns its id."""
        named = [dict(zip(("name", "subject", "version"), one, strict=True)) for one in references]
        version = 1 + sum(one["subject"] == subject for one in self.schemas)
        text = schema if kind == "PROTOBUF" else json.dumps(schema)
        content = {"schema": text, "schemaType": kind, "references": named}
        number = len(self.schemas) + 1
        self.schemas.append({"subject": subject, "version": version, "id": number, **content})
        return number

    def answer(self, path: str) -> tuple[Any, dict[str, str]] | None:
        """What stands at a path, with headers of its own; None where nothing does."""
        path, _, query = path.partition("?")
        found = self._at(path)
        if found is None or "schema" not in found[0] or found[0].get("schemaType") != "PROTOBUF":
            return found
        # The text says nothing here but that it is one.
        is_text = query != "format=serialized" or not self.serializes
        return ({**found[0], "schema": 'syntax = "proto3";'} if is_text else found[0]), found[1]

    def _at(self, path: str) -> tuple[Any, dict[str, str]] | None:
        parts = [unquote(one) for one in path.split("/")[1:]]
        match parts:
            case ["schemas", "ids", number]:
                return _shown(self._of("id", int(number)), ("subject", "version", "id"))
            case ["subjects", subject, "versions", version]:
                return _shown(self._version(subject, version), ())
            case ["apis", "registry", "v2" | "v3", "ids", "globalIds" | "contentIds", number]:
                return _raw(self._of("id", int(number)))
            case ["apis", "registry", _, "ids", _, number, "references"]:
                return _references(self._of("id", int(number)))
            case ["apis", "registry", _, "groups", "default", "artifacts", name, "versions", at]:
                return _raw(self._version(name, at)) if parts[2] == "v2" else None
            case [_, _, "v3", _, "default", _, name, "versions", at, "content"]:
                return _raw(self._version(name, at))
            case [_, _, _, _, "default", _, name, "versions", at, "references"]:
                return _references(self._version(name, at))
        return None

    def _of(self, name: str, value: object) -> dict[str, Any] | None:
        return next((one for one in self.schemas if one[name] == value), None)

    def _version(self, subject: str, version: str) -> dict[str, Any] | None:
        wanted = (subject, int(version))
        return next(
            (one for one in self.schemas if (one["subject"], one["version"]) == wanted), None
        )


def _shown(
    found: dict[str, Any] | None, hidden: Sequence[str]
) -> tuple[Any, dict[str, str]] | None:
    if found is None:
        return None
    # Confluent's says the type of all but Avro.
    of_avro = ("schemaType",) if found["schemaType"] == "AVRO" else ()
    return {name: one for name, one in found.items() if name not in (*hidden, *of_avro)}, {}


def _raw(found: dict[str, Any] | None) -> tuple[Any, dict[str, str]] | None:
    if found is None:
        return None
    if found["schemaType"] == "PROTOBUF":
        return 'syntax = "proto3";', {"X-Registry-ArtifactType": found["schemaType"]}
    return json.loads(found["schema"]), {"X-Registry-ArtifactType": found["schemaType"]}


def _references(found: dict[str, Any] | None) -> tuple[Any, dict[str, str]] | None:
    if found is None:
        return None
    return [
        {"groupId": None, "artifactId": one["subject"], "version": str(one["version"])}
        for one in found["references"]
    ], {}


@contextmanager
def running_registry(port: int = 0) -> Iterator[Registry]:
    """A registry at any port, or at this one."""
    kept = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kept.asked.append(self.path)
            allowed = kept.authorization in (None, self.headers["Authorization"])
            found = kept.answer(self.path) if allowed else None
            status = kept.broken or (200 if found else 404 if allowed else 401)
            body, headers = found or ({"error_code": 40403, "message": "Schema not found"}, {})
            data = json.dumps(body).encode()
            self.send_response(status)
            if kept.broken == 302:
                headers = {"Location": "/elsewhere"}
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

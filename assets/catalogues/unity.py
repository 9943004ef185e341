"""Unity Catalog, by its REST interface: the open server, and what speaks it.

https://github.com/unitycatalog/unitycatalog/blob/main/api/all.yaml
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote, urlencode

from assets.catalogues.client import SECONDS
from transforms.catalogue import Catalogue, Entry, Stored, unity_table
from transforms.errors import CatalogueAway, TableRefused

TOKEN: Final = "WEIR_CATALOGUE_TOKEN"
_PAGE: Final = "50"
_NOT_FOUND: Final = 404
_OF_ONE: Final = (400, 404, 409)
"""The answers that are about one table; any other is about whoever asks, or about the server itself."""


@contextmanager
def unity_client(catalogue: Catalogue) -> Iterator[UnityCatalog]:
    """A client of it: nothing is asked before something is to be known."""
    yield UnityCatalog(catalogue)


@dataclass(frozen=True, slots=True)
class UnityCatalog:
    """One catalog of one server."""

    catalogue: Catalogue

    def tables(self, schema: str) -> Mapping[str, Stored]:
        """All tables of a schema, by name; none where there is no such schema."""
        found: dict[str, Stored] = {}
        asked = {"catalog_name": self.catalogue.inner, "schema_name": schema, "max_results": _PAGE}
        while True:
            code, page = self._ask("GET", f"/tables?{urlencode(asked)}")
            if code == _NOT_FOUND:
                return {}
            self._refuse_other(code, page)
            for one in page.get("tables") or ():
                properties = one.get("properties") or {}
                found[one["name"]] = Stored(one.get("storage_location") or "", properties)
            token = page.get("next_page_token")
            if not token:
                return found
            asked["page_token"] = token

    def add(self, entry: Entry) -> None:
        """Create the table, and its schema where that is missing."""
        catalog = self.catalogue.inner
        code, _ = self._ask("GET", f"/schemas/{quote(f'{catalog}.{entry.schema}')}")
        if code == _NOT_FOUND:
            made = {"name": entry.schema, "catalog_name": catalog, "comment": "Gold of Weir."}
            self._need("POST", "/schemas", made)
        self._need("POST", "/tables", unity_table(catalog, entry, {}))

    def change(self, entry: Entry, stored: Stored) -> None:
        """Create the table again: the server can change no columns. The files of an external table stay."""
        catalog = self.catalogue.inner
        self._need("DELETE", f"/tables/{quote(f'{catalog}.{entry.full_name}')}")
        self._need("POST", "/tables", unity_table(catalog, entry, stored.properties))

    def _need(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        code, answer = self._ask(method, path, body)
        if code in _OF_ONE:
            raise TableRefused(f"{method} {path.partition('?')[0]}: {code} {_message(answer)}")
        self._refuse_other(code, answer)

    def _refuse_other(self, code: int, answer: Mapping[str, Any]) -> None:
        if code in (401, 403):
            fault = f"it refuses access ({code}): set {TOKEN} to a token that may do this"
            raise CatalogueAway(str(self.catalogue), fault)
        if code >= 300:
            raise CatalogueAway(str(self.catalogue), f"it answers {code} {_message(answer)}")

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """The code of an answer, and the answer."""
        token = os.environ.get(TOKEN, "").strip()
        request = urllib.request.Request(
            f"{self.catalogue.place}/api/2.1/unity-catalog{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/json",
                **({} if body is None else {"Content-Type": "application/json"}),
                **({"Authorization": f"Bearer {token}"} if token else {}),
            },
        )
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
                return answer.status, _object(answer.read())
        except urllib.error.HTTPError as fault:
            with fault:
                return fault.code, _object(fault.read())
        except (OSError, HTTPException) as fault:
            why = fault.reason if isinstance(fault, urllib.error.URLError) else fault
            raise CatalogueAway(str(self.catalogue), f"it does not answer: {why}") from fault


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for the server that the setting names, and for no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _message(answer: Mapping[str, Any]) -> str:
    return str(answer.get("message") or "without a reason")

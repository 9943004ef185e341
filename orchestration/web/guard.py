"""Which requests reach Dagster's web server.

Dagster asks for no password, and its GraphQL carries out mutations that come by GET, or by a form, from the page of
any website. So an image on a foreign page, or in a description, could start a run. The guard lets through what
Dagster's own pages send, and programs that speak JSON.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = "WEIR_UI_HOSTS"
"""The variable that names hosts beside loopback, by comma: each as the address bar of a browser has it."""


def hosts_in(value: str) -> frozenset[str]:
    """The hosts that a value of ``WEIR_UI_HOSTS`` names, in small letters, each with its port where it has one."""
    return frozenset(host.strip().lower() for host in value.split(",") if host.strip())


class Guard:
    """An ASGI application that refuses, or hands on to another one."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] = (), path_prefix: str = "") -> None:
        """Guard an application.

        Args:
            app: what answers the requests that are let through.
            hosts: names beside loopback under which the pages are reached, as ``hosts_in`` gives them.
            path_prefix: what stands before every path of the application.
        """
        self._app = app
        self._hosts = hosts
        self._graphql = f"{path_prefix}/graphql"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one connection of a websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        reason = self.refusal_of(scope)
        if reason is None:
            await self._app(scope, receive, _unframed(send))
        else:
            await PlainTextResponse(f"Refused: {reason}.\n", 403)(scope, receive, send)

    def refusal_of(self, scope: Scope) -> str | None:
        """Why the request is refused, in a sentence for who sent it; None where it is let through."""
        host = self._host_of(scope)
        if host is None:
            return (
                "these pages are reached by a loopback address, such as 127.0.0.1; to reach them by another name, "
                f"set {HOSTS} to it, as the browser's address bar has it (name, and port where there is one)"
            )
        if any(not self._is_own(origin, host) for origin in Headers(scope=scope).getlist("origin")):
            return f"it was sent by a page of another website; if that is a name of this one, add it to {HOSTS}"
        if scope["type"] == "http" and scope["path"] == self._graphql:
            return _refusal_of_graphql(scope)
        return None

    def _host_of(self, scope: Scope) -> str | None:
        """The host that was asked for, where these pages are reached by that name.

        A website may let its own name point to 127.0.0.1 (DNS rebinding): then its pages have the same origin as these,
        and only the name tells them apart.
        """
        named = Headers(scope=scope).getlist("host")
        if len(named) != 1:
            return None
        host = named[0].lower()
        return host if host in self._hosts or _is_loopback(host) else None

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a page is one of these: of the host that was asked for, or of a name that stands in front of it."""
        scheme, _, page_host = origin.lower().partition("://")
        return scheme in ("http", "https") and (page_host == host or page_host in self._hosts)


def _refusal_of_graphql(scope: Scope) -> str | None:
    """Why a question is refused: what a website can make a browser send without asking first is no POST of JSON."""
    if scope["method"] == "GET" and not scope.get("query_string"):
        # The page in which a person types GraphQL; it sends what is typed by POST.
        return None
    if scope["method"] != "POST":
        return "GraphQL is asked by POST with a body of JSON, for a GET can be sent by any image of any page"
    # Dagster looks for these words anywhere in the header, where `text/plain; application/json` has them, too.
    kinds = Headers(scope=scope).getlist("content-type")
    media_types = [kind.split(";")[0].strip().lower() for kind in kinds]
    if media_types != ["application/json"]:
        return "GraphQL is asked with the header Content-Type: application/json, which no form of a page can send"
    return None


def _is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine by a name that no DNS server answers for."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _unframed(send: Send) -> Send:
    """As ``send``, with a header by which no foreign page may show these in a frame, to have its buttons clicked."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), (b"x-frame-options", b"SAMEORIGIN")]
            message = {**message, "headers": headers}
        await send(message)

    return sent

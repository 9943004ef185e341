"""A proxy before a real S3 server that answers some requests itself, with an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

OWN = {"connection", "transfer-encoding", "keep-alive"}
"""Headers that are about a connection and not about what it carries."""
CODES = {
    409: "ConditionalRequestConflict",
    412: "PreconditionFailed",
    500: "InternalError",
    503: "SlowDown",
}


@dataclass
class Unreliable:
    """The proxy: ``strikes`` says which requests fail, by method and path; ``failed`` counts them.

    ``late``: the store does what they ask, and only its answer is lost.
    """

    endpoint: str
    strikes: Callable[[str, str], bool]
    status: int = 503
    failed: int = 0
    late: bool = False


@contextmanager
def unreliable(store: str) -> Iterator[Unreliable]:
    """Put a proxy before the store at this address; at first it passes everything on."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_struck = proxy.strikes(self.command, self.path)
            if is_struck and not proxy.late:
                self.fail()
                return
            # The store judges signatures by the host that the client named.
            headers = {name: value for name, value in self.headers.items()}
            connection = HTTPConnection(urlsplit(store).netloc, timeout=60)
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            kept = {name: value for name, value in response.getheaders() if name.lower() not in OWN}
            body = response.read()
            connection.close()
            if is_struck:
                self.fail()
            else:
                self.answer(response.status, kept, body)

        def fail(self) -> None:
            proxy.failed += 1
            self.answer(proxy.status, {}, error(proxy.status))

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if not any(name.lower() == "content-length" for name in headers):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = Unreliable(f"http://127.0.0.1:{server.server_port}", lambda method, path: False)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def error(status: int) -> bytes:
    """What S3 says with this status."""
    code = CODES[status]
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()

"""The guard of the pages, on a web server that was really started: what is refused, and that usual use is not."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from orchestration.web import dev
from orchestration.web.guard import Guard, hosts_in
from tests.orchestration.web.pages_server import GUARDED, pages_of
from tests.support.listening import are_loopback, of_session, session_at

pytestmark = pytest.mark.services

JSON = "application/json"
MUTATION = 'mutation { setConcurrencyLimit(concurrencyKey: "KEY", limit: 3) }'
LIMITS = "{ instance { concurrencyLimits { concurrencyKey } } }"
NAMED = "weir.example.com"
HIDDEN = "nobody's"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a guarded web server of no code at all, which stands behind one more name."""
    home = tmp_path_factory.mktemp("home")
    lay_documents(home)
    with pages_of(GUARDED, home, "--empty-workspace", hosts=f" {NAMED.upper()} , ") as port:
        yield port


def lay_documents(home: Path) -> None:
    """A feed, the report and a page of Data Docs of it, and beside them what nobody should be shown."""
    feed = "format: arcion_s3_json\nlanding: ../drops\n"
    for name, text in {
        "feeds/zoo.yaml": feed,
        "feeds/farm.yaml": feed,
        "warehouse/_reports/zoo.html": "<h1>zoo</h1>",
        "warehouse/_quality/zoo/data_docs/validations/a..b/gold.zoo.pets.html": "<h1>pets</h1>",
        "warehouse/_quality/zoo/secret.html": HIDDEN,
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def asked(
    port: int, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[int, str]:
    """The status and the text of an answer; ``Content_Type`` is the header Content-Type."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    text = "" if answer.status == 101 else answer.read().decode()
    answer.close()
    connection.close()
    return answer.status, text


def mutated(port: int, key: str, **headers: str) -> tuple[int, str]:
    """What a mutation is answered that comes as Dagster's own pages send it, but for these headers."""
    body = json.dumps({"query": MUTATION.replace("KEY", key)})
    return asked(port, "POST", "/graphql", body, **{"Content_Type": JSON, **headers})


def limited(port: int) -> set[str]:
    """What mutations have set."""
    _, text = asked(port, "POST", "/graphql", json.dumps({"query": LIMITS}), Content_Type=JSON)
    return {
        limit["concurrencyKey"]
        for limit in json.loads(text)["data"]["instance"]["concurrencyLimits"]
    }


def test_the_pages_listen_on_loopback_unless_told_otherwise(
    port: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert are_loopback(of_session(session_at(port))[port])
    home = tmp_path_factory.mktemp("open")
    with pages_of(GUARDED, home, "--empty-workspace", "-h", "0.0.0.0") as opened:
        assert of_session(session_at(opened))[opened] == {"0.0.0.0"}


def test_what_the_pages_and_programs_send_is_answered(port: int) -> None:
    names = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "localhost:4000", NAMED]
    for number, host in enumerate(names):
        for kind, origin in (("program", {}), ("page", {"Origin": f"http://{host}"})):
            status, text = mutated(port, f"{kind}{number}", Host=host, **origin)
            assert status == 200, (host, text)
    # A proxy that asks by the address of this machine, for a page that has the proxy's name.
    assert mutated(port, "proxied", Host=f"127.0.0.1:{port}", Origin=f"https://{NAMED}")[0] == 200
    assert mutated(port, "charset", Content_Type="application/json; charset=utf-8")[0] == 200
    kinds = {f"{kind}{number}" for kind in ("program", "page") for number in range(len(names))}
    assert {*kinds, "proxied", "charset"} <= limited(port)


def test_pages_are_shown_and_in_no_frame_of_another_website(port: int) -> None:
    for path in ("/", "/runs?q=graphql", "/graphql", "/assets/graphql?view=checks"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers={"Accept": "text/html"})
        answer = connection.getresponse()
        assert (answer.status, "<html" in answer.read().decode().lower()) == (200, True), path
        assert answer.getheader("X-Frame-Options") == "SAMEORIGIN"
        connection.close()


REPORT = "/weir/reports/zoo.html"
DOCS = "/weir/data_docs/zoo/validations/a..b/gold.zoo.pets.html"


@pytest.mark.parametrize(("path", "text"), [(REPORT, "<h1>zoo</h1>"), (DOCS, "<h1>pets</h1>")])
def test_reports_and_data_docs_are_shown_and_can_do_nothing_here(
    port: int, path: str, text: str
) -> None:
    assert asked(port, "GET", path) == (200, text)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    # For a browser they are of no website at all: what a script in them sent would have the origin null.
    allowed = (answer.getheader("Content-Security-Policy") or "").split()
    assert allowed[0] == "sandbox" and "allow-same-origin" not in allowed
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    connection.close()
    assert asked(port, "GET", path, Host="evil.example")[0] == 403
    assert asked(port, "GET", path, Origin="null")[0] == 403
    assert asked(port, "POST", path, "{}", Content_Type=JSON)[0] == 405


def test_a_report_that_no_run_has_made_is_made_now(port: int) -> None:
    status, text = asked(port, "GET", "/weir/reports/farm.html")
    assert status == 200 and "farm" in text


@pytest.mark.parametrize(
    "path",
    [
        "/weir/reports/barn.html",
        "/weir/reports/..%2f_quality%2fzoo%2fsecret.html",
        "/weir/data_docs/zoo/../secret.html",
        "/weir/data_docs/zoo/%2e%2e/secret.html",
        "/weir/data_docs/zoo//%2e%2e/secret.html",
        "/weir/data_docs/..%2f_quality%2fzoo/x.html",
        "/weir/data_docs/zoo/index.json",
    ],
)
def test_nothing_else_of_the_warehouse_is_shown(port: int, path: str) -> None:
    status, text = asked(port, "GET", path)
    assert HIDDEN not in text
    # What is no path of Weir's is the page of Dagster's own script, which draws every path.
    assert status == 404 or "<html" in text.lower()


def test_a_mutation_by_get_is_refused(port: int) -> None:
    for number, accept in enumerate(("image/png", "text/html", "*/*")):
        query = quote(MUTATION.replace("KEY", f"get{number}"))
        status, text = asked(port, "GET", f"/graphql?query={query}", Accept=accept)
        assert (status, "asked by POST" in text) == (403, True)
    assert not any(key.startswith("get") for key in limited(port))


@pytest.mark.parametrize(
    "host",
    ["evil.example:3000", "evil.example", "localhost.evil.example", "0.0.0.0", "::1.evil", ""],
)
def test_another_name_of_this_machine_is_refused(port: int, host: str) -> None:
    status, text = mutated(port, "rebound", Host=host, Origin=f"http://{host}")
    assert (status, "WEIR_UI_HOSTS" in text) == (403, True)
    assert asked(port, "GET", "/", Host=host)[0] == 403
    assert "rebound" not in limited(port)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", f"ftp://{NAMED}", ""],
)
def test_a_page_of_another_website_is_refused(port: int, origin: str) -> None:
    status, text = mutated(port, "foreign", Origin=origin)
    assert (status, "another website" in text) == (403, True)
    reported = "/report_asset_materialization/gold/zoo/pets"
    assert asked(port, "POST", reported, "{}", Content_Type=JSON, Origin=origin)[0] == 403
    assert "foreign" not in limited(port)


@pytest.mark.parametrize(
    "kind",
    [
        "application/x-www-form-urlencoded",
        "text/plain",
        # Dagster takes this one for JSON, and a browser sends it without asking first.
        "text/plain; application/json",
        "application/graphql",
        "",
    ],
)
def test_what_a_form_can_send_is_refused(port: int, kind: str) -> None:
    for path in ("/graphql", f"/graphql?query={quote(MUTATION.replace('KEY', 'form'))}"):
        body = json.dumps({"query": MUTATION.replace("KEY", "form")})
        status, text = asked(port, "POST", path, body, Content_Type=kind)
        assert (status, "application/json" in text) == (403, True)
    assert "form" not in limited(port)


def opened(port: int, **headers: str) -> tuple[int, str]:
    """How the opening of a websocket is answered."""
    handshake = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "d2VpciB3ZWlyIHdlaXIgLg==",
        "Sec_WebSocket_Protocol": "graphql-ws",
    }
    return asked(port, "GET", "/graphql", **handshake, **headers)


def test_a_websocket_is_opened_by_the_pages_alone(port: int) -> None:
    assert opened(port)[0] == 101
    assert opened(port, Origin=f"http://127.0.0.1:{port}")[0] == 101
    status, text = opened(port, Origin="http://evil.example")
    assert (status, "another website" in text) == (403, True)
    status, text = opened(port, Host="evil.example", Origin="http://evil.example")
    assert (status, "WEIR_UI_HOSTS" in text) == (403, True)


def test_below_a_prefix_the_guard_is_the_same(port: int) -> None:
    async def none(*_: object) -> None:
        raise AssertionError

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/weir/graphql",
        "query_string": b"query=x",
        "headers": [(b"host", b"localhost")],
    }
    assert Guard(none, hosts_in(""), "/weir").refusal_of(scope)
    assert Guard(none, hosts_in(""), "").refusal_of(scope) is None
    twice = {**scope, "headers": [(b"host", b"localhost"), (b"host", b"evil.example")]}
    assert Guard(none, hosts_in(""), "").refusal_of(twice)


def test_what_dagster_may_start_one_day_is_not_started_without_a_guard() -> None:
    with pytest.raises(RuntimeError, match="no place behind the guard"):
        dev.opened_guarded(["python", "-m", "dagster_pages", "--port", "1"])

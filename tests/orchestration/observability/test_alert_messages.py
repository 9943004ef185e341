"""Messages, as a real web server and a real mail server get them; and what one says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from orchestration.observability.alert_messages import CheckFinding, Message, hooks_of, inert
from tests.services.mail import free_port, running_mail_server
from tests.services.receiver import running_receiver
from tests.support.commands_here import weir
from tests.support.hostile_names import names
from transforms.errors import SettingMisdeclared

# The mail server's own.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:Requiring AUTH while not requiring TLS:UserWarning"
)

MESSAGE = Message(
    key="run-1",
    feed="shop",
    windows="2025-11-20T03 .. 2025-11-20T05",
    failed=["gold.shop.orders: another run is writing"],
    checks=[CheckFinding("silver.shop", "no_null_key", "failed", "2 violations\nReport it.")],
    link="https://ui/runs/run-1",
)
SUBJECT = "Weir: shop (2025-11-20T03 .. 2025-11-20T05): the run failed"
LINES = """\
error: gold.shop.orders: another run is writing
failed: silver.shop: no_null_key
  2 violations
  Report it."""
LINK = "The run: https://ui/runs/run-1"
SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("message", "subject", "gravity"),
    [
        (MESSAGE, SUBJECT, "failure"),
        (
            Message("1", "shop", checks=MESSAGE.checks),
            "Weir: shop: check failed: no_null_key",
            "failure",
        ),
        (
            Message("1", "shop", "W", checks=[CheckFinding("a", "b", "warning", "")]),
            "Weir: shop (W): warning: b",
            "warning",
        ),
        (
            Message("1", "shop", drift=["new"]),
            "Weir: shop: the stream has something new",
            "warning",
        ),
        (Message("1", "no feed"), "Weir: no feed: a test of Weir's messages", "info"),
    ],
)
def test_the_subject_is_the_gravest(message: Message, subject: str, gravity: str) -> None:
    assert (message.subject, message.gravity) == (subject, gravity)


def test_each_address_gets_the_message_and_each_fault_is_said_in_words() -> None:
    with running_receiver() as receiver, running_mail_server() as server:
        mail = f"mailto://127.0.0.1:{server.port}?to=a@x.org,b@x.org&from=weir@x.org"
        addresses = f"{receiver.url}, {mail}\n{receiver.url.replace('http', 'json')} {receiver.url}"
        hooks = hooks_of({"WEIR_ALERTS": addresses})
        assert [*hooks] == ["webhook", "mailto", "json", "webhook-2"]
        assert [send(MESSAGE) for send in hooks.values()] == [None] * 4
        first, by_apprise, again = receiver.posted
        assert first == again
        assert first["text"] == f"{SUBJECT}\n```\n{LINES}\n```\n{LINK}"
        assert first["weir"]["feed"] == "shop"
        assert first["weir"]["checks"][0]["check"] == "no_null_key"
        assert receiver.headers[0]["Idempotency-Key"] == "run-1"
        assert (by_apprise["title"], by_apprise["type"]) == (SUBJECT, "failure")
        assert by_apprise["message"] == f"{LINES}\n{LINK}"
        assert [mail["To"] for mail in server.mails] == ["a@x.org", "b@x.org"]
        for sent in server.mails:
            assert (sent["Subject"], sent["From"]) == (SUBJECT, "weir@x.org")
            assert sent.get_content().strip().replace("\r\n", "\n") == f"{LINES}\n{LINK}"
        receiver.answers, server.refuses_with = 503, "451 later"
        faults = [str(send(MESSAGE)) for send in hooks.values()]
        assert faults[0] == "the webhook at 127.0.0.1 answers 503"
        assert faults[1].startswith('Sending email to "a@x.org" failed')
        assert "503" in faults[2]
        assert (len(receiver.posted), len(server.mails)) == (3, 2)


HOSTILE = (
    "a\r\nBcc: all@x.org\n<!channel> <@U1> <http://evil|x> [x](http://evil) ``` @here\x1b[2J\u202e"
)


def test_names_of_sources_do_nothing_where_they_are_read() -> None:
    """What a hook gets is what Slack, Teams or a mail program would read."""
    message = Message(
        *("run-1", HOSTILE, HOSTILE),
        failed=[HOSTILE],
        checks=[CheckFinding(HOSTILE, HOSTILE, "failed", HOSTILE)],
        drift=[HOSTILE],
        link="https://ui/runs/run-1",
    )
    with running_receiver() as receiver, running_mail_server() as server:
        mail = f"mailto://127.0.0.1:{server.port}?to=a@x.org&from=weir@x.org"
        for send in hooks_of({"WEIR_ALERTS": f"{receiver.url} {mail}"}).values():
            assert send(message) is None
        ((posted,), (sent,)) = receiver.posted, server.mails
    assert (sent["Bcc"], sent["To"]) == (None, "a@x.org")
    assert "\\r\\nBcc: all@x.org\\n‹!channel›" in sent["Subject"]
    for text in (sent.get_content().replace("\r\n", "\n"), posted["text"]):
        assert all(one.isprintable() or one == "\n" for one in text)
        assert not [line for line in text.splitlines() if line.startswith(("Bcc", "‹!"))]
        assert not re.search(r"<|@here|\]\(", text)
        assert re.findall(r"\w+://\S+", text) == ["https://ui/runs/run-1"]
    assert posted["text"].count("```") == 2
    # Programs read the parts as they are.
    assert posted["weir"]["failed"] == [HOSTILE]


@given(names)
def test_a_line_has_no_markup_of_a_source(name: str) -> None:
    told = inert(name)
    assert told.isprintable() or not told
    assert not re.search(
        r"[<>]|```|\]\(|@(channel|here|all|everyone)|(https?|javascript):", told, re.I
    )


def test_a_secret_is_used_and_never_said() -> None:
    port = free_port()
    with running_mail_server("weir", SECRET) as server:
        to = f"127.0.0.1:{server.port}?to=a@x.org&from=weir@x.org"
        right, wrong = hooks_of(
            {"WEIR_ALERTS": f"mailto://weir:{SECRET}@{to} mailto://weir:other@{to}"}
        ).values()
        assert right(MESSAGE) is None
        fault = wrong(MESSAGE)
        assert fault == 'Connection error while submitting email to "127.0.0.1": it answers 535'
        assert len(server.mails) == 1
    away = (
        f"http://127.0.0.1:{port}/{SECRET} json://weir:{SECRET}@127.0.0.1:{port}/{SECRET} "
        f"mailto://weir:{SECRET}@127.0.0.1:{port}?to=a@x.org&from=weir@x.org"
    )
    for name, send in hooks_of({"WEIR_ALERTS": away}).items():
        fault = str(send(MESSAGE))
        assert "127.0.0.1" in fault, name
        assert "Connection refused" in fault
        assert SECRET not in fault


@pytest.mark.parametrize(
    "address",
    [
        SECRET,
        f"ftp://host/{SECRET}",
        f"http://host:{SECRET}/",
        f"mailto://weir:{SECRET}@host",
        f"http://host/fine slack://{SECRET}",
    ],
)
def test_an_address_that_is_none_is_refused_without_its_secret(address: str) -> None:
    with pytest.raises(SettingMisdeclared) as refused:
        hooks_of({"WEIR_ALERTS": address})
    assert str(refused.value).startswith("WEIR_ALERTS=…: address ")
    assert SECRET not in str(refused.value)


def test_the_command_tries_every_hook(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WEIR_ALERTS", raising=False)
    assert weir("notify", "--test") == 2
    assert "WEIR_ALERTS is not set" in capfd.readouterr().err
    with running_receiver() as receiver:
        monkeypatch.setenv("WEIR_ALERTS", f"{receiver.url} {receiver.url.replace('http', 'json')}")
        assert weir("notify", "--test") == 0
        assert capfd.readouterr().out == "webhook: sent\njson: sent\n"
        assert "a test of Weir's messages" in receiver.posted[0]["text"]
        receiver.answers = 404
        assert weir("notify", "--test") == 1
        said = capfd.readouterr()
        assert said.out.startswith("webhook: the webhook at 127.0.0.1 answers 404\njson: Failed")
        # Apprise's own log would have it once more.
        assert said.err == ""

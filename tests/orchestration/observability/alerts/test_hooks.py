"""The hooks, against a real web server and a real mail server; and what a message says."""

from __future__ import annotations

import re
import socket
import threading

import pytest
from hypothesis import given

from orchestration.cli.notify import notify
from orchestration.observability.alerts import CheckFinding, Message, hooks_of, link_of_run
from tests.services.mail import free_port, running_mail_server
from tests.services.receiver import running_receiver
from tests.support.hostile_names import names
from transforms.display import chat_text
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
TEXT = """\
Weir: shop (2025-11-20T03 .. 2025-11-20T05): the run failed
error: gold.shop.orders: another run is writing
failed: silver.shop: no_null_key
  2 violations
  Report it.
The run: https://ui/runs/run-1"""
CHAT_TEXT = """\
Weir: shop (2025-11-20T03 .. 2025-11-20T05): the run failed
```
error: gold.shop.orders: another run is writing
failed: silver.shop: no_null_key
  2 violations
  Report it.
```
The run: https://ui/runs/run-1"""
SECRET = "s3cr3t"


def test_a_message_says_what_failed_where_and_what_to_do() -> None:
    assert MESSAGE.text == TEXT


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        (Message("1", "shop", checks=MESSAGE.checks), "Weir: shop: check failed: no_null_key"),
        (
            Message("1", "shop", "W", checks=[CheckFinding("a", "b", "warning", "")]),
            "Weir: shop (W): warning: b",
        ),
        (Message("1", "shop", drift=["new"]), "Weir: shop: the stream has something new"),
        (Message("1", "no feed"), "Weir: no feed: a test of Weir's messages"),
    ],
)
def test_the_subject_is_the_gravest(message: Message, subject: str) -> None:
    assert message.subject == subject


def test_a_port_that_speaks_something_else_is_a_fault_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(65_536)
                client.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        send = hooks_of({"WEIR_WEBHOOK_URL": f"http://127.0.0.1:{port}/"})["webhook"]
        assert str(send(MESSAGE)).startswith("the webhook at 127.0.0.1 cannot be reached: ")
        thread.join()


def test_the_webhook_gets_text_and_parts() -> None:
    with running_receiver() as receiver:
        send = hooks_of({"WEIR_WEBHOOK_URL": receiver.url})["webhook"]
        assert send(MESSAGE) is None
        (posted,) = receiver.posted
        assert posted["text"] == CHAT_TEXT
        assert posted["weir"]["feed"] == "shop"
        assert posted["weir"]["checks"][0]["check"] == "no_null_key"
        assert receiver.headers[0]["Idempotency-Key"] == "run-1"
        receiver.answers = 503
        assert send(MESSAGE) == "the webhook at 127.0.0.1 answers 503"
        assert len(receiver.posted) == 1


def test_mail_is_sent_to_all_and_says_the_same() -> None:
    with running_mail_server() as server:
        url = f"smtp://127.0.0.1:{server.port}"
        settings = {"WEIR_SMTP_URL": url, "WEIR_MAIL_TO": "a@x.org, b@x.org"}
        send = hooks_of(settings)["mail"]
        assert send(MESSAGE) is None
        (mail,) = server.mails
        assert mail["Subject"] == MESSAGE.subject
        assert mail["To"] == "a@x.org, b@x.org"
        assert mail["From"] == "weir@127.0.0.1"
        assert mail["Message-ID"] == "<weir-run-1@127.0.0.1>"
        assert mail.get_content().strip().replace("\r\n", "\n") == TEXT
        server.refuses_with = "451 later"
        assert send(MESSAGE) == "the mail server 127.0.0.1 answers 451"


HOSTILE = (
    "a\r\nBcc: all@x.org\n<!channel> <@U1> <http://evil|x> [x](http://evil) ``` @here\x1b[2J\u202e"
)


def test_names_of_sources_do_nothing_in_a_chat_and_in_a_mail() -> None:
    """What a hook gets is what Slack, Teams or a mail program would read."""
    message = Message(
        *("run-1", HOSTILE, HOSTILE),
        failed=[HOSTILE],
        checks=[CheckFinding(HOSTILE, HOSTILE, "failed", HOSTILE)],
        drift=[HOSTILE],
        link="https://ui/runs/run-1",
    )
    with running_receiver() as receiver, running_mail_server() as server:
        settings = {
            "WEIR_WEBHOOK_URL": receiver.url,
            "WEIR_SMTP_URL": f"smtp://127.0.0.1:{server.port}",
            "WEIR_MAIL_TO": "a@x.org",
        }
        for send in hooks_of(settings).values():
            assert send(message) is None
        ((posted,), (mail,)) = receiver.posted, server.mails
    assert mail["Bcc"] is None
    assert "\\r\\nBcc: all@x.org\\n<!channel>" in mail["Subject"]
    assert mail["To"] == "a@x.org"
    body = mail.get_content().replace("\r\n", "\n")
    for text in (body, posted["text"]):
        assert all(one.isprintable() or one == "\n" for one in text)
        assert not [line for line in text.splitlines() if line.startswith(("Bcc", "<!", "&lt;!"))]
    text = posted["text"]
    assert "<" not in text
    assert "@here" not in text
    assert "](" not in text
    assert re.findall(r"\w+://\S+", text) == ["https://ui/runs/run-1"]
    assert text.count("```") == 2
    # Programs read the parts as they are.
    assert posted["weir"]["failed"] == [HOSTILE]


@given(names)
def test_a_line_of_a_chat_has_no_markup_of_a_source(name: str) -> None:
    told = chat_text(name)
    assert told.isprintable() or not told
    assert not re.search(
        r"[<>]|```|\]\(|@(channel|here|all|everyone)|(https?|javascript):", told, re.I
    )
    # Slack shows the signs behind its escapes.
    assert re.fullmatch(r"(&(amp|lt|gt);|[^&])*", told)


def test_a_password_is_used_and_never_said() -> None:
    with running_mail_server("weir", SECRET) as server:
        for password, answer in ((SECRET, None), ("other", "answers 535")):
            url = f"smtp://weir:{password}@127.0.0.1:{server.port}"
            fault = hooks_of({"WEIR_SMTP_URL": url, "WEIR_MAIL_TO": "a@x.org"})["mail"](MESSAGE)
            assert fault == (answer and f"the mail server 127.0.0.1 {answer}")
        assert len(server.mails) == 1


def test_where_nobody_answers_the_fault_has_no_secret() -> None:
    port = free_port()
    settings = {
        "WEIR_WEBHOOK_URL": f"http://127.0.0.1:{port}/{SECRET}",
        "WEIR_SMTP_URL": f"smtp://weir:{SECRET}@127.0.0.1:{port}",
        "WEIR_MAIL_TO": "a@x.org",
    }
    for name, send in hooks_of(settings).items():
        fault = send(MESSAGE)
        assert fault is not None, name
        assert "127.0.0.1" in fault
        assert "Connection refused" in fault
        assert SECRET not in fault


@pytest.mark.parametrize(
    "settings",
    [
        {"WEIR_WEBHOOK_URL": SECRET},
        {"WEIR_WEBHOOK_URL": f"ftp://host/{SECRET}"},
        {"WEIR_WEBHOOK_URL": f"http://host:{SECRET}/"},
        {"WEIR_SMTP_URL": f"http://{SECRET}", "WEIR_MAIL_TO": "a@x.org"},
        {"WEIR_SMTP_URL": f"smtp://weir:{SECRET}@host"},
    ],
)
def test_a_setting_that_is_none_is_refused_without_its_secret(settings: dict[str, str]) -> None:
    with pytest.raises(SettingMisdeclared) as refused:
        hooks_of(settings)
    assert SECRET not in str(refused.value)
    assert str(refused.value).startswith(("WEIR_WEBHOOK_URL=", "WEIR_SMTP_URL=", "WEIR_MAIL_TO="))


def test_a_run_has_a_link_where_the_ui_has_an_address() -> None:
    assert link_of_run({}, "7") == ""
    assert link_of_run({"WEIR_UI_URL": "https://dagster.example/"}, "7") == (
        "https://dagster.example/runs/7"
    )


def test_the_command_tries_every_hook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("WEIR_WEBHOOK_URL", "WEIR_SMTP_URL"):
        monkeypatch.delenv(name, raising=False)
    assert notify() == 2
    assert "no hook is set" in capsys.readouterr().err
    with running_receiver() as receiver, running_mail_server() as server:
        monkeypatch.setenv("WEIR_WEBHOOK_URL", receiver.url)
        monkeypatch.setenv("WEIR_SMTP_URL", f"smtp://127.0.0.1:{server.port}")
        monkeypatch.setenv("WEIR_MAIL_TO", "a@x.org")
        assert notify() == 0
        assert capsys.readouterr().out == "webhook: sent\nmail: sent\n"
        assert "a test of Weir's messages" in receiver.posted[0]["text"]
        assert len(server.mails) == 1
        receiver.answers = 404
        assert notify() == 1
        said = capsys.readouterr().out
        assert said == "webhook: the webhook at 127.0.0.1 answers 404\nmail: sent\n"

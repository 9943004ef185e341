"""A mail server on this machine that keeps what it is sent; it may ask who is there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


@dataclass
class MailServer:
    """The server: its port, the mails that it took, and with which answer it refuses them, if it does."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    refuses_with: str | None = None

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802, it is the library's name
        """Keep a mail."""
        if self.refuses_with:
            return self.refuses_with
        found = message_from_bytes(envelope.content, policy=default)
        assert isinstance(found, EmailMessage)
        self.mails.append(found)
        return "250 OK"


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_mail_server(user: str = "", password: str = "") -> Iterator[MailServer]:
    """A server; with a user it takes mail from nobody else."""
    kept = MailServer(free_port())

    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        known = LoginPassword(user.encode(), password.encode())
        return AuthResult(success=data == known, handled=False)

    options: dict[str, Any] = (
        {"authenticator": check, "auth_required": True, "auth_require_tls": False} if user else {}
    )
    controller = Controller(kept, hostname="127.0.0.1", port=kept.port, **options)
    controller.start()
    try:
        yield kept
    finally:
        controller.stop()

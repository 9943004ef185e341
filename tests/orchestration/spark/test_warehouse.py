"""A warehouse that cannot be reached is reported before Spark starts."""

from __future__ import annotations

import socket

import pytest

from orchestration.cli.session import refuse_unreachable
from transforms.errors import UnreadableWarehouse


def test_a_store_that_does_not_answer_is_named_with_what_to_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with pytest.raises(UnreadableWarehouse) as caught:
        refuse_unreachable("s3a://lake/tables")
    assert str(caught.value).startswith(
        "cannot read the warehouse s3a://lake/tables: nothing answers at the store's address."
        " Check AWS_ENDPOINT_URL"
    )
    assert "something" not in str(caught.value)

"""What the tests of assets share: one S3 server."""

from __future__ import annotations

from tests.services.seaweed import store

__all__ = ["store"]

"""How long an object store is waited for, and how often a request is sent, by whichever client.

Steps that fail nevertheless are tried again by ``assets/retries.py``.
"""

from __future__ import annotations

from typing import Final

CONNECT_SECONDS: Final = 5
"""A store that does not answer is told of within seconds."""

ANSWER_SECONDS: Final = 60
"""So long an answer to a request may take."""

ATTEMPTS: Final = 4
"""How often a request is sent at most."""

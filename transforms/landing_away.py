"""The error of a landing that does not answer just now, which a step tries again (``assets/retries``).

Put here what sets such a landing apart from one that has to be repaired. Not here: which faults of S3 and Kafka mean it
(``assets/s3``, ``assets/landing/kafka/clients``).
"""

from __future__ import annotations

from transforms.errors import UnreadableLanding


class LandingAway(UnreadableLanding):
    """A landing that could not be read, and may be readable a little later though nobody does anything."""

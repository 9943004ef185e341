"""A landing that is a prefix of an S3 bucket.

Credentials and endpoints are the usual AWS ones and are never taken from a feed, nor shown. Put here what S3 does its
own way. Not here: the client and what its errors mean (``s3``), and listing only some days (``day_listing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC

from botocore.exceptions import BotoCoreError, ClientError

from assets.landing import day_listing
from assets.landing.day_listing import Days
from assets.landing.objects import LandedObject, LeftOut, reason_to_leave_out
from assets.s3 import fault_and_remedy, is_passing, s3_client
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.windows import window_of
from transforms.landing_away import LandingAway


class S3Landing:
    """Objects under a prefix of a bucket; the generation is the ETag."""

    def __init__(self, feed: Feed, globs: Sequence[str], bucket: str, prefix: str) -> None:
        self._feed, self._globs = feed, globs
        self._bucket, self._prefix = bucket, prefix
        self.left_out = LeftOut()
        with self._faults_made_clear():
            self._client = s3_client()

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """See ``Landing``."""
        self.left_out = LeftOut()
        with self._faults_made_clear():
            for found in day_listing.keys(
                self._client, self._bucket, self._prefix, days, self._feed.window_path
            ):
                name = found["Key"].removeprefix(self._prefix)
                # Consoles make such keys to show an empty folder.
                if not name or (found["Size"] == 0 and name.endswith(("/", "_$folder$"))):
                    continue
                if reason := reason_to_leave_out(name, self._globs):
                    self.left_out.add(name, reason)
                    continue
                modified_at = found["LastModified"].astimezone(UTC)
                window = window_of(name, modified_at, self._feed.window, self._feed.window_path)
                yield LandedObject(
                    name, found["ETag"].strip('"'), found["Size"], modified_at, window
                )

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """See ``Landing``."""
        with self._faults_made_clear(name):
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)
            with closing(found["Body"]) as body:
                data = body.read(most + 1)
                if len(data) <= most:
                    # Only reading to the end raises where the connection broke.
                    data += body.read()
            return data, found["ETag"].strip('"')

    @contextmanager
    def _faults_made_clear(self, name: str = "") -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError, ValueError) as error:
            place = f"s3://{self._bucket}/{self._prefix}{name}"
            fault, remedy = fault_and_remedy(error)
            # The cause is left behind: its text may quote what the environment holds.
            kind = LandingAway if is_passing(error) else UnreadableLanding
            raise kind(self._feed.name, place, fault, remedy) from None

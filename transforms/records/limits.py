"""How large an object and a record may be, so that no drop takes more memory or time than was foreseen.

Put here what bounds the cutting of objects. Not here: where the settings come from (``orchestration/resources.py``),
and how each kind of text keeps within them (``gzip_stream``, ``json_documents``, ``csv_records``, ``text_lines``).
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_PAYLOAD_OF_A_DEFECT = 1 << 20
"""Of a record that is too long, so many bytes are kept: enough to see what it is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many bytes an object may have, landed and inflated, and how many a single record of it.

    What is larger becomes a record with a defect: it is quarantined, and the run goes on.
    """

    largest_object: int = 1 << 30
    largest_record: int = 64 << 20

    @property
    def kept(self) -> int:
        """How many of its bytes a record keeps that is too long."""
        return min(self.largest_record, LONGEST_PAYLOAD_OF_A_DEFECT)

    @property
    def too_long(self) -> str:
        """The defect of a record that is too long."""
        return f"the record is longer than {self.largest_record:,} bytes"


DEFAULTS = Limits()

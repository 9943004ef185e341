"""From the images of an envelope to those of an event: values, the key where no image has it, and the described table.

Put here how the images and the key of one message come together. Not here: reading messages (``envelopes``), and how a
column is read (``rows``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from transforms.event import StreamSchema, Value
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.keys import ROUTER_FIELD, Key
from transforms.families.connect.row_tables import Tables
from transforms.families.connect.rows import Rows
from transforms.families.connect.vocabulary import Vocabulary
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import as_text
from transforms.value_types.decimals import TooLong


@dataclass(slots=True)
class Images:
    """The images of an event, and the table as its schema describes it.

    ``has_after``: there is a new image, or what stands in its place. ``is_partial``: a value of it was not sent.
    ``has_texts_for_bytes``: a column of bytes came as a text of which nothing says how it is written.
    ``read_by_schema``: see ``Event``. ``fault``: an image is no object, or holds a number that no source has.
    """

    before: dict[str, Value] = field(default_factory=dict)
    after: dict[str, Value] = field(default_factory=dict)
    has_after: bool = False
    is_partial: bool = False
    has_texts_for_bytes: bool = False
    stream_schema: StreamSchema | None = None
    read_by_schema: frozenset[str] = frozenset()
    fault: Fault | None = None


class ImageReader:
    """How the images of a feed's messages are read; it keeps what it learns of tables from message to message.

    ``has_placeholders``: whether there are Debezium's for values that were not sent. ``decimals_may_be_plain``: whether
    a decimal's text that reads as a number is one, and not bytes.
    """

    __slots__ = ("_has_placeholders", "_tables", "_vocabulary")

    def __init__(
        self,
        feed: Feed,
        vocabulary: Vocabulary,
        *,
        has_placeholders: bool,
        decimals_may_be_plain: bool,
    ) -> None:
        self._vocabulary = vocabulary
        self._has_placeholders = has_placeholders
        self._tables = Tables(
            feed, has_placeholders=has_placeholders, decimals_may_be_plain=decimals_may_be_plain
        )

    def read(self, envelope: Envelope) -> Images:
        """The envelope's images.

        A key's column that neither mentions is taken from the message's key: a delete's into the old image, that of
        all else into the new one.
        """
        table = self._tables.table(*envelope.source[1:4])
        rows = table.rows(envelope.row_fields)
        found = Images(read_by_schema=rows.read_by_schema)
        try:
            found.before = self._image("before", envelope, rows, found)
            found.after = self._image("after", envelope, rows, found)
            if envelope.operation is not None and envelope.key.values:
                unsaid = _unsaid(envelope.key.values, found, rows)
                if unsaid:
                    image = found.before if envelope.operation == "delete" else found.after
                    of_key = table.key_rows(envelope.key.fields, rows)
                    image.update(of_key.values(unsaid))
                    found.read_by_schema |= of_key.read_by_schema & unsaid.keys()
        except TooLong as why:
            found.fault = found.fault or Fault("value_does_not_fit", str(why))
        found.stream_schema = _stream_schema(envelope, rows)
        return found

    def _image(self, side: str, envelope: Envelope, rows: Rows, found: Images) -> dict[str, Value]:
        given = envelope.body.get(side)
        if given is None or self._vocabulary.means_nothing(given):
            return {}
        is_new = side == "after"
        found.has_after |= is_new
        if type(given) is not dict:
            detail = f"{side} is no object of columns: {shown(as_text(given))}"
            found.fault = found.fault or Fault("malformed_image", detail)
            return {}
        values = rows.values(given, with_placeholders=self._has_placeholders)
        found.is_partial |= is_new and len(values) < len(given)
        found.has_texts_for_bytes |= bool(rows.texts_for_bytes)
        return values


def _unsaid(key: Mapping[str, Any], found: Images, rows: Rows) -> dict[str, Any]:
    """The key's columns that neither image mentions; such as the schema does not have are none of the table's."""
    return {
        name: value
        for name, value in key.items()
        if name not in found.after
        and name not in found.before
        and name != ROUTER_FIELD
        and (rows.names is None or name in rows.names)
    }


def _stream_schema(envelope: Envelope, rows: Rows) -> StreamSchema | None:
    """The table as the schema describes it; None without a schema, and where the key is unknown or no column of it."""
    if rows.names is None:
        return None
    if envelope.operation == "truncate":
        # It has no key to tell, whether its table has one or not.
        return rows.stream_schema(None)
    if envelope.operation not in ("read", "insert", "update", "delete"):
        return None
    key = key_names(envelope.key)
    return rows.stream_schema(key) if key is not None and rows.names.issuperset(key) else None


def key_names(key: Key) -> tuple[str, ...] | None:
    """The columns of a message's key; empty where it is known to have none, None where nothing is known."""
    if key.is_none:
        return ()
    if key.fields is not None:
        named = [field.get("field") if type(field) is dict else None for field in key.fields]
        return tuple([str(name) for name in named if name != ROUTER_FIELD])
    return (
        None if key.values is None else tuple([name for name in key.values if name != ROUTER_FIELD])
    )

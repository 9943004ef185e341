"""Debezium's relational connectors: one record is one change event, in Kafka or in a file.

An event is an envelope: ``op``, ``before`` and ``after`` (the two images of the row), ``source`` (which table, and
where in the database's log) and ``ts_ms``. It stands alone, or as the ``payload`` beside the ``schema`` that Kafka
Connect's JSON converter adds. ``op`` is r (a row that a snapshot read), c, u, d, t (truncate) or m (a message that
somebody wrote into the log; it changes no row). Rows that the transform ExtractNewRecordState took out of their
envelopes are put back into some (``unwrapped``).

``transaction`` says which transaction an event is part of. The transaction topic has a record where a transaction
begins (``status`` BEGIN) and one where it ends (END, with ``event_count``); ``waits_for_transactions`` is for feeds
that do not read that topic. The text ``__debezium_unavailable_value`` stands for a value that the database did not log
because it did not change.

Vendor: Debezium documentation, connectors for MySQL and PostgreSQL.
"""

from __future__ import annotations

from transforms.families.connect import envelopes, wire
from transforms.feed.topics import has_transactions
from transforms.formats.debezium.cells import EXPIRES
from transforms.formats.debezium.decode import (
    BLOCKING_WITHOUT_KEY,
    COUNTED_BY_OFFSET,
    DELETES_UNKNOWN,
    NO_LOG_POSITION,
    NOT_AWAITED,
    TEXTS_FOR_BYTES,
    UNAVAILABLE,
    decoder,
    log_of,
    propose,
    recognise,
    shapes,
)
from transforms.formats.debezium.keys_beside import keys_beside
from transforms.source_format import AVRO_FILES, JSON_FILES, ExtraAsset, SourceFormat

FORMAT = SourceFormat(
    name="debezium",
    files=(*JSON_FILES, *AVRO_FILES),
    split=envelopes.split_files,
    decoder=decoder,
    shapes=shapes,
    transactional=True,
    warnings=(
        *(UNAVAILABLE, NOT_AWAITED, NO_LOG_POSITION, TEXTS_FOR_BYTES),
        *(BLOCKING_WITHOUT_KEY, COUNTED_BY_OFFSET, DELETES_UNKNOWN, EXPIRES),
    ),
    describes_tables=True,
    schema_ids=wire.schema_ids,
    keys_beside=keys_beside,
    marks_of_headers="__debezium.",
    has_placeholders=True,
    may_be_unwrapped=True,
    has_documents=True,
    reads_kafka=True,
    log_of=log_of,
    extra_assets=(
        ExtraAsset(
            "cuts",
            "cuts.asset",
            is_needed=lambda feed: feed.reads_topics and has_transactions(feed.landing),
            follows_progress=True,
        ),
    ),
    fields=("op", "source", "before", "after", "ts_ms"),
    recognise=recognise,
    propose=propose,
    unknowable=(
        "whether a transaction is whole, where the connector does not send transaction metadata.",
        "values that Postgres did not log, of a row whose key changed: the check `new_rows_are_sent_whole` counts such"
        " rows.",
        "columns that an update of YugabyteDB did not change, where a transform has made nulls of them or left them out"
        " (PGCompatible or YBExtractNewRecordState, with the replica identity CHANGE); its deletes, with NOTHING.",
        "deletes, where ExtractNewRecordState is set to drop them (`delete.tombstone.handling.mode: drop`).",
        "whether a zero or an empty text was null, in Protobuf whose converter writes no optional fields or wrappers.",
    ),
)

"""What change data means: plain values in, plain values out.

landing -> ``records`` (the bytes of one object into records) -> bronze (``record``)
        -> ``formats`` (records into events: what the source did; a module for each source format)
        -> ``silver`` (events into changes, by what the feed declares; duplicates, quarantine, accounting)
        -> ``gold`` (all changes of a key folded into its row or its tombstone)

Beside the flow: ``feed`` is what a feed declares, ``families`` is what several formats share, ``column_types``
is the table of types that columns can have.

Put here what a record, an event or a change means. Not here: Spark, Dagster, S3, Kafka, the clock and the environment;
reading and writing tables is ``assets``, and when that happens is ``orchestration``.
"""

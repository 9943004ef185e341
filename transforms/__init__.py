"""What change data means: plain values in, plain values out.

landing -> ``records`` (the bytes of one object into records) -> bronze (``record``)
        -> ``formats`` (records into events: what the source did; a module for each source format)
        -> ``silver`` (events into changes, by what the feed declares; duplicates, quarantine, accounting)
        -> ``gold`` (all changes of a key folded into its row or its tombstone)

Nothing here knows Spark, Dagster, S3, Kafka, the clock or the environment.
"""

"""What change data means: DataFrame in, DataFrame out.

landing -> ``splitting`` (bytes of one object into records) -> bronze (``record``)
        -> ``formats`` (one file per source format: bronze into events)
        -> ``silver`` (events into changes, repeats and quarantine)
        -> ``gold`` (changes folded into current rows and tombstones)

Nothing here knows Dagster, S3, the clock or the environment.
"""

"""The two executors of Weir's stages, which alone know where a stage runs: in this process, or in Spark's tasks.

An executor has few verbs: read, map, bring together by key in order, join on key, write. What the rows mean is in the
stages (``transforms``). The Spark executor is the one for size; the other exists because a job of the JVM's costs more
than the work of a small window. Frames of the one are Arrow tables, frames of the other Spark's.
"""

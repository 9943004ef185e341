"""The two executors of Weir's stages, which alone know where a stage runs: in this process, or in Spark's tasks.

The Spark executor is the one for size; the other exists because a job of the JVM's costs more than the work of a small
window. What the rows mean is in the stages (``transforms``).
"""

"""Plain functions over Arrow batches, as Spark's tasks and small runs in this process both call them.

Put a function here when it takes batches and gives batches, and calls ``transforms`` for what the rows mean. Nothing
else in Weir turns batches into values and back. What is imported here is imported by every Python worker, so keep it
little. Not here: which rows come together (``silver``, ``gold``), and what is written.
"""

"""Plain functions over Arrow batches, as Spark's tasks and small runs in this process both call them.

Put a function here when it takes batches and gives batches, and calls ``transforms`` for what the rows mean; ``silver``
has those between bronze and silver, ``gold`` those between silver and gold, and beside them is what both use. Nothing
else in Weir turns batches into values and back. What is imported here is imported by every Python worker, so keep it
little. Not here: which rows come together (``assets/silver``, ``assets/gold``), and what is written.
"""

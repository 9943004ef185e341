"""What Weir is compared with in Spark: the textbook's MERGE, and the least that any way has to do.

Put here what runs in Spark beside Weir. Not here: other tools, which have environments of their own (``bench/others``).
"""

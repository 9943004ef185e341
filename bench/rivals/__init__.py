"""What Weir is compared with in Spark: the textbook's MERGE, and the least that any way has to do."""

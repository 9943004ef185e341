"""What ``weir query`` does with a statement of Spark SQL: how it is read, answered and printed."""

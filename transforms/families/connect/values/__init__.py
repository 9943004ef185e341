"""Single values as Kafka Connect's JSON converter writes them, as the texts that the types of columns read.

Not here: which schema a column has (``schemas``), and images (``images``).
"""

"""Single values as Kafka Connect's JSON converter writes them, as the texts that the types of columns read.

Put here what one value means. Not here: which schema a column has (``families/connect/schemas``), and images
(``families/connect/images``).
"""

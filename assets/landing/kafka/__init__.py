"""Kafka's topics as a landing: clients, what topics hold, and reading ranges of offsets in Spark's tasks.

Not here: writing bronze (``bronze/from_topics``), and what a Kafka record says
(``transforms/families/kafka_records.py``).
"""

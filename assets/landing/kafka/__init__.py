"""Kafka's topics as a landing: clients, what topics hold, and reading ranges of offsets in Spark's tasks.

``topics`` decides which offsets are missing or lost; ``clients`` puts a broker's refusal into words.

Not here: writing bronze (``bronze/from_topics``), and what a Kafka record says
(``transforms/families/kafka_records.py``).
"""

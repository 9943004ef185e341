"""What the formats of the Debezium family share: messages of Kafka Connect's JSON converter that carry envelopes.

A message is an envelope (before, after, source, op), bare or as the ``payload`` beside its ``schema``; its key is an
object of the key's columns, bare or in the same way. Connect's schema says each column's type; where it is missing, the
feed's declaration does.
"""

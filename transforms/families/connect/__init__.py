"""What the formats of the Debezium family share: messages of Kafka Connect's JSON converter that carry envelopes.

A message is an envelope (before, after, source, op), bare or as the ``payload`` beside its ``schema``; its key is an
object of the key's columns, bare or in the same way. Connect's schema says each column's type; where it is missing, the
feed's declaration does. The way of a message: ``envelopes`` and ``keys`` read it; ``images`` makes the values of it,
with what ``schemas`` says of the columns and ``values`` of each one's JSON (``times``, ``decimals``); ``log_entries``
says where it stands, and ``events`` puts it together. ``files`` cuts files into messages.

Put here what is true of every format whose messages are such envelopes. Not here: which operations there are, what they
do, and which order counts, which each format has of its own.
"""

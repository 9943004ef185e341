"""What Arcion's file formats share: exists flags, cursors, operations, and the way from them to an event.

Not here: how objects are cut into rows, which differs between CSV and JSON (``formats``), and Arcion on Kafka, whose
messages are those of Kafka Connect (``families/connect``).

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3".
"""

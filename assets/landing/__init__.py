"""Where drops lie and how they are read: folders, object stores and Kafka's topics. It writes nothing.

Put here what lists a source or reads it. Not here: what of it is new (``bookkeeping/ledger``), and writing bronze
(``bronze``).
"""

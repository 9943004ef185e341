"""From a format's events to silver: the same for every source, in plain Python.

``conforming`` applies the feed's declarations to an event, ``duplicates`` says which of several deliveries counts,
``accounting`` what became of every event; ``stages`` do it for batches of records.
"""

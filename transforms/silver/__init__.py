"""From a format's events to silver: the same for every source, in plain Python.

``conform`` applies the feed's declarations to an event, ``duplicates`` says which of several deliveries counts,
``accounting`` what became of every event. Put here what is the same for every source. Not here: what a record means
(``formats``), and how rows are moved and written (``assets``).
"""

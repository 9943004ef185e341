"""What several source formats share, a room for each family. A family knows no format.

Put code here when two formats need it and nothing else does. Not here: what all formats need (``source_format``,
``splitting``, ``event``), and anything that a single format needs (``formats``).
"""

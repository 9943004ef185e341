"""From landing to bronze: every record verbatim, appended once, with the place where it stood.

Put here what appends to bronze. Not here: how drops and topics are listed and read (``landing``), and what was read
already (``bookkeeping``).
"""

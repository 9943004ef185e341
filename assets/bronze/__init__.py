"""From landing to bronze: every record verbatim, appended once, with its source location.

Put here what appends to bronze. Not here: how drops and topics are listed and read (``landing``), and what was read
already (``bookkeeping``).
"""

"""What commands answer, for people line by line or for programs as one JSON document (``--json``).

Put here how an answer is gathered and what its document says. Not here: how it reads for people (the commands).
"""

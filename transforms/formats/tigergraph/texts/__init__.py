"""Values as TigerGraph writes them in JSON, as the texts that the declared types read.

Put here how a value is spelled. Not here: which attributes a message mentions
(``transforms/formats/tigergraph/contents.py``), and whether a text fits its type (``transforms/silver``).
"""

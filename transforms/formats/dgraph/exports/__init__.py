"""Exports of Dgraph, which are the baseline of a stream that starts late: RDF or JSON, one triple a record.

Put here what is read from an export. Not here: the events of the stream (``transforms/formats/dgraph/events.py``), and
what a triple becomes in gold (``transforms/formats/dgraph/triples.py``).
"""

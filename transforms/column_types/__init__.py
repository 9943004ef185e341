"""The types that a column can have: ``registry`` is their table, each other module a chapter on some of them."""

"""A cut: the source's position up to which all tables of a feed are whole, and what keeps it from being newer."""

"""Texts and the types of Spark SQL, a module for each family of types: does a text fit, and how is it written once?

Put here how the texts of one family of types are judged. Not here: which module a declared type asks
(``transforms/types.py``), and how sources write values (``families``, ``formats``).
"""

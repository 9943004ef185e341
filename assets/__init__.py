"""Where each table is made: read, transform, write, report.

Meaning lives in ``transforms``; when and with what lives in ``orchestration``. Two doors lead outside: ``landing`` (raw
objects) and ``lake`` (Delta tables).
"""

"""Where each table is made: read, transform, write, report.

Meaning lives in ``transforms``; when and with what lives in ``orchestration``. What is outside is read and written by
``landing`` (raw objects and topics), and by ``lake`` with ``delta`` (Delta tables).
"""

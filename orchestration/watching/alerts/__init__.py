"""Messages about what needs somebody: by webhook and by mail.

Put here what a message says, and how it is sent. Not here: when one is sent
(``orchestration/automation/alert_sensor``).
"""

"""What Arcion's file formats share: exists flags, cursors, operations, and the way from them to an event.

Put here what rows of Arcion say in whichever kind of file. Not here: how a file writes rows (``formats``).

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3".
"""

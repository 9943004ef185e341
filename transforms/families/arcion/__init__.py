"""What Arcion's file formats share: exists flags, cursors, operations, and the way from them to an event.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3".
"""

"""What a day of any size would cost: computed from the unit costs that the bench has measured, and never measured here.

Put here what is computed of measured costs. Not here: taking the time (``bench/lines``, ``bench/growth``).
"""

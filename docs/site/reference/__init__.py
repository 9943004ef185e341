"""The pages of ``docs/reference``, which are made from the code, so that they say what this version does.

``pages`` lists what is made.
"""

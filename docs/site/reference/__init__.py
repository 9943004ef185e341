"""The pages of ``docs/reference``, which are made from the code, so that they say what this version does.

Put here what reads a part of the code and says it as Markdown. ``pages`` lists what is made. Not here: pages that a
person writes (``docs``), and the site (``docs/site/conf.py``).
"""

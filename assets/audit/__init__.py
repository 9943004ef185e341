"""Questions that change nothing: why a row is as it is, how a feed stands, and whether gold can be made again.

Put code here when it reads tables to answer a person. Not here: how the answer is printed (``orchestration/cli``), and
anything that writes to the warehouse (a proof writes to a scratch place of its own).
"""

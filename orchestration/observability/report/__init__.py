"""The report of a feed: one page of HTML with plots, which needs no network and no program to be read."""

"""The metrics of each run, for programs that watch: JSON, and OpenMetrics text for Prometheus.

Put here what is counted of a run, and how it is written. Not here: what a person reads of a run (``runs/summary``,
``report``).
"""

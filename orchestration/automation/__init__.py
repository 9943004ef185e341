"""What starts runs by itself: jobs, schedules, and sensors for objects and for topics.

Put here what asks for a run. Not here: which windows it has (``runs/planning``), and what its steps do (``assets``).
"""

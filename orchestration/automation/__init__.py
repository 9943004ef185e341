"""What starts runs by itself: jobs, schedules, and sensors for objects and for topics."""

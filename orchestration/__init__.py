"""When and with what: definitions, schedules, sensors, resources and the command line.

Only this package reads Weir's settings from the environment, those of the Kafka and S3 clients apart.
"""

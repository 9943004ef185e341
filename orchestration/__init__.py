"""When and with what: definitions, schedules, sensors, resources and the command line.

Put here what decides when something is done, and with which Spark, feeds and warehouse. Not here: how a table is made
(``assets``). Only this package reads Weir's settings from the environment, those of the Kafka and S3 clients apart.
"""

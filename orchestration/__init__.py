"""When and with what: definitions, schedules, sensors, resources and the command line.

The only package that reads the environment.
"""

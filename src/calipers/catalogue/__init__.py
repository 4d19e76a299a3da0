"""The catalogue of metrics as data: names, options, ranges, sources, and the functions.

Nothing here measures, and nothing heavy is loaded: functions are named ``module:function`` and
resolved when they are first called.
"""

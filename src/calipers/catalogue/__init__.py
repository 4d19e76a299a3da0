"""What can be measured, as data: names, options, ranges, sources, and where the functions are.

Nothing here measures, and nothing heavy is loaded: functions are named ``module:function`` and
resolved when they are first called.
"""

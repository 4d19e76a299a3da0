"""Calipers within other tools: trainers, loggers, test runners, torchmetrics.

A module a tool. Each imports its tool, and is imported by its name alone, so that the rest of the
package needs none of them.
"""

"""Calipers inside the tools that people work with: trainers, loggers, test runners, metrics.

A module a tool. Each imports its tool, and is imported by its name alone, so that the rest of the
package needs none of them.
"""

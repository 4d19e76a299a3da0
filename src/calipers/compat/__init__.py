"""The functions of other packages under their own names: equal arguments, equal numbers.

A module a package, so that a program changes by one import.
"""

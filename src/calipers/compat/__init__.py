"""Functions of other packages under their own names: same arguments, same numbers.

A module a package, so that a program changes by one import.
"""

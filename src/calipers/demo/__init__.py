"""The demo: human prose bundled with Python, and three example systems.

The human texts are paragraphs of Python's own documentation. The systems have known virtues and
faults, so that a person can see what each score reacts to before judging systems of their own.
"""

"""
F8 against F1/8
===============

Two numbers of a precision-recall curve: one counts recall eight times as much, the other precision.
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
comparison = calipers.compare(human, generated, metrics=["prd_f8", "prd_f1_8"], floor=False)

comparison.plot("f-scores", view="form").get_figure()

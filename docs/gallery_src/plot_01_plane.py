"""
Precision against recall
========================

Quality upwards, diversity to the right. An ellipse holds both scores together at the level of the
run.
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
comparison = calipers.compare(human, generated, metrics=["precision", "recall"])

comparison.plot("plane", view="form").get_figure()

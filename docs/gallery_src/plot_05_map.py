"""
A map of all samples
====================

All texts in two dimensions, a panel for each system. Crosses lie outside the support of the
reference.
"""

import calipers
from calipers.demo.systems import systems
from calipers.report.plots import map_plot

human, generated = systems(seed=0)
comparison = calipers.compare(human, generated, metrics=["precision", "recall"], floor=False)

map_plot(comparison.explained()).figure()

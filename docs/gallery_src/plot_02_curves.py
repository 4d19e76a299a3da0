"""
Precision-recall curves
=======================

How much precision a system has at each recall, after Sajjadi et al. (NeurIPS 2018), with bands.
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
comparison = calipers.compare(human, generated, metrics=["prd_f8", "prd_f1_8"], floor=False)

comparison.plot("curves", view="form").get_figure()

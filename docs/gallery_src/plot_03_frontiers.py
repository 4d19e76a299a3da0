"""
Divergence frontiers
====================

The curve under which MAUVE is the area (Pillutla et al., JMLR 2023): the nearer to the upper right
corner, the closer the two distributions.
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
comparison = calipers.compare(human, generated, metrics=["mauve_star"], floor=False)

comparison.plot("frontiers", view="form").get_figure()

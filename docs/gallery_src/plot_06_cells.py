"""
Topics that cause the gap
=========================

Topics by their keywords, with their shares in both sets: which ones are missing, and which are
overdone?
"""

import calipers
from calipers.demo.systems import systems

human, generated = systems(seed=0)
chosen = {"near_copies": generated["near_copies"]}
comparison = calipers.compare(human, chosen, metrics=["mauve_star", "realism"], floor=False)

comparison.plot("cells", limit=8).get_figure()

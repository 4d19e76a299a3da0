"""
How metrics correlate with each other
=====================================

Over systems: the four metrics of eight settings of GPT-2 that Pillutla et al. (JMLR 2023) publish.
"""

from pathlib import Path

import calipers

scores = Path("../../examples/rankings/webtext_scores.csv")
ranking = calipers.rank(scores, reference="human")

ranking.plot()

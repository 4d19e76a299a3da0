"""Read samples from files, folders, lists, arrays and datasets into sample sets."""

from calipers.samples.reading import System, as_sample_set, read_samples, read_systems
from calipers.samples.sample_set import SampleSet

__all__ = ["SampleSet", "System", "as_sample_set", "read_samples", "read_systems"]

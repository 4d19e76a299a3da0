"""Read samples from files, folders, lists, arrays and datasets into one form."""

from calipers.samples.reading import as_sample_set, read_samples
from calipers.samples.sample_set import Chunk, SampleSet
from calipers.samples.systems import System, read_systems

__all__ = ["Chunk", "SampleSet", "System", "as_sample_set", "read_samples", "read_systems"]

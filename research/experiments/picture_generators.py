"""Small generators of pictures: a VAE and a GAN, trained on half of CIFAR-10's here.

    python research/experiments/picture_generators.py vae --seed 0
    python research/experiments/picture_generators.py gan --seed 0

Trained on 1,500 photographs of 32 × 32 (the first 150 of each class) on one thread, a few minutes
of processor time each. At each of :data:`STEPS` a checkpoint draws 1,500 pictures and writes them
to the folder that CALIPERS_GENERATORS names (default: a folder in the system's for caches), with
the processor time until then. Needs torch.

The VAE (Kingma and Welling, ICLR 2014) has Gaussian pixels of one learnt variance; pictures are the
decoder's means, as papers show them. The GAN (Goodfellow et al., NeurIPS 2014) has the hinge loss,
spectral normalisation, and pictures moved and brightened alike on both sides before the
discriminator sees them (Zhao et al., NeurIPS 2020), since 1,500 are few.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.parametrizations import spectral_norm

from cifar import TRAINING, pictures
from picture_samples import file_of, folder

STEPS = (100, 200, 400, 800, 1_600)
"""Steps after which a checkpoint is drawn from."""
DRAWN = 1_500
BATCH, LATENT, WIDTH = 32, 64, 32
RATE = 4e-4


def decoder(last: nn.Module) -> nn.Sequential:
    """From a latent vector to 3 × 32 × 32, in three doublings of the side."""

    def doubled(inside: int, outside: int) -> list[nn.Module]:
        up = nn.ConvTranspose2d(inside, outside, 4, 2, 1, bias=False)
        return [up, nn.BatchNorm2d(outside), nn.ReLU()]

    return nn.Sequential(
        nn.Linear(LATENT, 4 * WIDTH * 16),
        nn.Unflatten(1, (4 * WIDTH, 4, 4)),
        nn.BatchNorm2d(4 * WIDTH),
        nn.ReLU(),
        *doubled(4 * WIDTH, 2 * WIDTH),
        *doubled(2 * WIDTH, WIDTH),
        nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1),
        last,
    )


def encoder(outside: int, *, spectral: bool) -> nn.Sequential:
    """From a picture to numbers, in three halvings of the side."""
    norm = spectral_norm if spectral else (lambda layer: layer)
    layers: list[nn.Module] = []
    inside = 3
    for width in (WIDTH, 2 * WIDTH, 4 * WIDTH):
        layers += [norm(nn.Conv2d(inside, width, 4, 2, 1)), nn.LeakyReLU(0.2)]
        inside = width
    return nn.Sequential(*layers, nn.Flatten(), norm(nn.Linear(inside * 16, outside)))


class Vae:
    """A variational autoencoder.

    Parameters
    ----------
    rng
        Draws the noise.
    """

    def __init__(self, rng: torch.Generator) -> None:
        self.rng = rng
        self.encode = encoder(2 * LATENT, spectral=False)
        self.decode = decoder(nn.Identity())
        self.log_sigma = nn.Parameter(torch.zeros(()))
        parameters = [*self.encode.parameters(), *self.decode.parameters(), self.log_sigma]
        self.optimiser = torch.optim.Adam(parameters, lr=2 * RATE)

    def step(self, real: Tensor) -> None:
        """Take one step up the evidence lower bound of a batch in [-1, 1]."""
        mean, log_variance = self.encode(real).chunk(2, dim=1)
        noise = torch.randn(mean.shape, generator=self.rng)
        error = functional.mse_loss(self.decode(mean + noise * (log_variance / 2).exp()), real)
        pixels = real[0].numel()
        fit = pixels * (error / (2 * (2 * self.log_sigma).exp()) + self.log_sigma)
        divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1).mean() / 2
        self.optimiser.zero_grad()
        ((fit + divergence) / pixels).backward()
        self.optimiser.step()

    def draw(self, latent: Tensor) -> Tensor:
        """Give the decoder's means at latent vectors."""
        self.decode.eval()
        drawn: Tensor = self.decode(latent)
        self.decode.train()
        return drawn


class Gan:
    """A generative adversarial network with the hinge loss.

    Parameters
    ----------
    rng
        Draws the noise and the changes of the pictures.
    """

    def __init__(self, rng: torch.Generator) -> None:
        self.rng = rng
        self.generate = decoder(nn.Tanh())
        self.judge = encoder(1, spectral=True)
        self.optimisers = [
            torch.optim.Adam(network.parameters(), lr=RATE, betas=(0.5, 0.9))
            for network in (self.generate, self.judge)
        ]

    def step(self, real: Tensor) -> None:
        """Take one step of the discriminator, then one of the generator."""
        generator, discriminator = self.optimisers
        fake = self.generate(torch.randn(len(real), LATENT, generator=self.rng))
        loss = (
            functional.relu(1 - self.judge(self.changed(real))).mean()
            + functional.relu(1 + self.judge(self.changed(fake.detach()))).mean()
        )
        discriminator.zero_grad()
        loss.backward()
        discriminator.step()
        generator.zero_grad()
        (-self.judge(self.changed(fake)).mean()).backward()
        generator.step()

    def changed(self, batch: Tensor) -> Tensor:
        """Move each picture by up to four pixels, and brighten or darken it."""
        light = torch.rand(len(batch), 1, 1, 1, generator=self.rng) - 0.5
        padded = functional.pad(batch + light, (4, 4, 4, 4))
        places = torch.randint(0, 9, (len(batch), 2), generator=self.rng).tolist()
        rows = [
            picture[:, top : top + 32, left : left + 32]
            for picture, (top, left) in zip(padded, places, strict=True)
        ]
        return torch.stack(rows)

    def draw(self, latent: Tensor) -> Tensor:
        """Give the generator's pictures at latent vectors."""
        self.generate.eval()
        drawn: Tensor = self.generate(latent)
        self.generate.train()
        return drawn


KINDS = {"vae": Vae, "gan": Gan}


def batches(rows: np.ndarray, seed: int) -> Iterator[Tensor]:
    """Give batches in [-1, 1] for ever, every other picture mirrored."""
    rng = np.random.default_rng(seed)
    scaled = torch.from_numpy(rows).permute(0, 3, 1, 2).float() / 127.5 - 1
    while True:
        order = rng.permutation(len(rows))
        for first in range(0, len(order) - BATCH + 1, BATCH):
            batch = scaled[order[first : first + BATCH]]
            mirrored = torch.from_numpy(rng.random(BATCH) < 0.5)[:, None, None, None]
            yield torch.where(mirrored, batch.flip(3), batch)


def train(kind: str, seed: int, steps: tuple[int, ...] = STEPS) -> Iterator[tuple[int, float]]:
    """Train one generator; give each checkpoint's step and processor seconds when it is written."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    folder().mkdir(parents=True, exist_ok=True)
    model = KINDS[kind](torch.Generator().manual_seed(seed))
    latent = torch.randn(DRAWN, LATENT, generator=torch.Generator().manual_seed(1_000 + seed))
    spent, begun = 0.0, time.process_time()
    for step, batch in enumerate(batches(pictures(TRAINING)[0], seed), start=1):
        model.step(batch)
        if step not in steps:
            continue
        spent += time.process_time() - begun
        with torch.no_grad():
            drawn = torch.cat([model.draw(part) for part in latent.split(250)])
        images = ((drawn.clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
        np.savez(file_of(kind, seed, step), images=images, seconds=spent)
        yield step, spent
        if step == max(steps):
            return
        begun = time.process_time()


def main() -> None:
    """Train one generator, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for step, seconds in train(options.kind, options.seed):
        print(f"{options.kind} {options.seed}: step {step}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

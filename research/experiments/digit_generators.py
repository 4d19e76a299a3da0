"""Thirty-two small GANs and VAEs trained on half of scikit-learn's digits, at random settings.

    python research/experiments/digit_generators.py

The settings of each model are drawn at random, as Lucic et al. (NeurIPS 2018) drew those of the
models in figure 7 of the paper on PRD: rate, width, latent dimensions, steps; of a GAN also its
loss (Goodfellow et al., 2014, as they train it; the hinge with spectral normalisation; least
squares) and the steps of the discriminator for one of the generator; of a VAE the weight of the
divergence. Networks are fully connected with two hidden layers. A model draws 900 images of 8 × 8,
which are written to the folder that CALIPERS_GENERATORS names, with its settings and the processor
time that it took: seconds each on one thread. Needs torch.

Every second of the 1,797 digits is learned from; the others are left for the reference.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.parametrizations import spectral_norm

from picture_samples import folder

MODELS = 16
"""Of each kind."""
DRAWN, BATCH = 900, 64
LOSSES = ("non-saturating", "hinge", "least squares")


@dataclass(frozen=True)
class Settings:
    """What is drawn at random for a model; its loss is empty for a VAE."""

    kind: str
    seed: int
    rate: float
    width: int
    latent: int
    steps: int
    loss: str = ""
    judged: int = 1
    weight: float = 1.0


def settings(kind: str, seed: int) -> Settings:
    """Draw the settings of one model."""
    rng = np.random.default_rng([11, ("gan", "vae").index(kind), seed])
    drawn = Settings(
        kind,
        seed,
        rate=float(10 ** rng.uniform(-3.7, -2.7)),
        width=int(rng.choice([64, 128, 256])),
        latent=int(rng.choice([2, 4, 8, 16, 32])),
        steps=int(rng.choice([2_000, 4_000, 8_000])),
    )
    more = (
        {"loss": LOSSES[seed % len(LOSSES)], "judged": int(rng.choice([1, 2]))}
        if kind == "gan"
        else {"weight": float(10 ** rng.uniform(-1, 0.5))}
    )
    return Settings(**{**asdict(drawn), **more})


def network(inside: int, width: int, outside: int, *, spectral: bool = False) -> nn.Sequential:
    """Two hidden layers."""
    norm = spectral_norm if spectral else (lambda layer: layer)
    return nn.Sequential(
        norm(nn.Linear(inside, width)),
        nn.LeakyReLU(0.2),
        norm(nn.Linear(width, width)),
        nn.LeakyReLU(0.2),
        norm(nn.Linear(width, outside)),
    )


def vae(made: Settings, real: Tensor) -> nn.Module:
    """Train a VAE with Gaussian pixels of one learnt variance; gives the decoder of the means."""
    encode = network(64, made.width, 2 * made.latent)
    decode = nn.Sequential(network(made.latent, made.width, 64), nn.Sigmoid())
    log_sigma = nn.Parameter(torch.zeros(()))
    parameters = [*encode.parameters(), *decode.parameters(), log_sigma]
    optimiser = torch.optim.Adam(parameters, lr=made.rate, fused=True)
    for _ in range(made.steps):
        batch = real[torch.randint(len(real), (BATCH,))]
        mean, log_variance = encode(batch).chunk(2, dim=1)
        noise = torch.randn_like(mean)
        error = functional.mse_loss(decode(mean + noise * (log_variance / 2).exp()), batch)
        fit = 64 * (error / (2 * (2 * log_sigma).exp()) + log_sigma)
        divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1).mean() / 2
        optimiser.zero_grad()
        (fit + made.weight * divergence).backward()
        optimiser.step()
    return decode


def gan(made: Settings, real: Tensor) -> nn.Module:
    """Train a GAN; gives its generator."""
    generate = nn.Sequential(network(made.latent, made.width, 64), nn.Sigmoid())
    judge = network(64, made.width, 1, spectral=made.loss == "hinge")
    generator, discriminator = (
        torch.optim.Adam(each.parameters(), lr=made.rate, betas=(0.5, 0.999), fused=True)
        for each in (generate, judge)
    )
    for _ in range(made.steps):
        for _ in range(made.judged):
            batch = real[torch.randint(len(real), (BATCH,))]
            fake = generate(torch.randn(BATCH, made.latent)).detach()
            discriminator.zero_grad()
            judged(made.loss, judge(batch), judge(fake)).backward()
            discriminator.step()
        generator.zero_grad()
        fooled(made.loss, judge(generate(torch.randn(BATCH, made.latent)))).backward()
        generator.step()
    return generate


def judged(loss: str, real: Tensor, fake: Tensor) -> Tensor:
    """The loss of the discriminator."""
    if loss == "hinge":
        return functional.relu(1 - real).mean() + functional.relu(1 + fake).mean()
    if loss == "least squares":
        return ((real - 1) ** 2).mean() + (fake**2).mean()
    return functional.softplus(-real).mean() + functional.softplus(fake).mean()


def fooled(loss: str, fake: Tensor) -> Tensor:
    """The loss of the generator."""
    if loss == "hinge":
        return -fake.mean()
    if loss == "least squares":
        return ((fake - 1) ** 2).mean()
    return functional.softplus(-fake).mean()


KINDS = {"gan": gan, "vae": vae}


def train(kind: str, seed: int) -> float:
    """Train one model, write what it draws, and give the processor seconds of the training."""
    from sklearn.datasets import load_digits

    torch.set_num_threads(1)
    torch.manual_seed(1_000 + seed)
    made = settings(kind, seed)
    real = torch.from_numpy(load_digits().data[1::2] / 16).float()
    begun = time.process_time()
    model = KINDS[kind](made, real)
    spent = time.process_time() - begun
    with torch.no_grad():
        images = (model(torch.randn(DRAWN, made.latent)) * 16).numpy()
    folder().mkdir(parents=True, exist_ok=True)
    about = json.dumps({**asdict(made), "seconds": round(spent, 1)})
    np.savez(folder() / f"digits-{kind}-{seed:02}.npz", images=images, about=about)
    return spent


def main() -> None:
    """Train all models."""
    for seed in range(MODELS):
        for kind in KINDS:
            print(f"{settings(kind, seed)}: {train(kind, seed):.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""The formula of every metric and an example that can be checked by hand, for its page.

An example is a doctest on a handful of points, cells, texts or probabilities, with a sentence that
says how its number comes about. ``tests/test_metric_pages.py`` runs all of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Worked:
    """How a metric is computed.

    Attributes
    ----------
    formula
        In LaTeX; symbols as on the page of the maths.
    code
        What is typed, with prompts: the metric on data that fit on a line.
    printed
        What the last line of it prints.
    by_hand
        How that number comes about.
    """

    formula: str
    code: str
    printed: str
    by_hand: str

    @property
    def doctest(self) -> str:
        """The code with what it prints."""
        return f"{self.code}{self.printed}\n"


POINTS = """\
>>> reference = [[0.0], [1.0], [2.0], [3.0]]
>>> generated = [[0.5], [1.5], [9.0], [10.0]]
"""


def _points(function: str, expression: str) -> str:
    """Measure the four and four points of the line above."""
    return f">>> from calipers.metrics import {function}\n{POINTS}>>> {expression}\n"


def _cells(p: str, q: str, expression: str, *functions: str) -> str:
    """Measure counts of both sets over a few cells."""
    names = ", ".join(["Histograms", *functions])
    return f">>> from calipers import {names}\n>>> cells = Histograms({p}, {q})\n>>> {expression}\n"


def _logs(function: str, *lines: str) -> str:
    """Evaluate a formula on the probabilities of a few tokens."""
    head = f">>> import numpy as np\n>>> from calipers.metrics.likelihood import {function}\n"
    return head + "".join(f">>> {line}\n" for line in lines)


def _texts(function: str, *lines: str) -> str:
    """Measure a few short texts."""
    head = f">>> from calipers.text import {function}\n"
    return head + "".join(f"{'' if line[0] == '.' else '>>> '}{line}\n" for line in lines)


BALLS = "With k = 1 every reference ball has radius 1, and 0.5 and 1.5 lie in one."
OWN_BALLS = "With k = 1 the balls of the generated samples all have radius 1."
TWO_CELLS = "The shares are p = (3/4, 1/4) and q = (1/4, 3/4)."
SMOOTHED = "With ½ added to every count the shares are p = (0.7, 0.3) and q = (0.3, 0.7)."
THREE_CELLS = "The shares are p = (1/2, 1/2, 0) and q = (3/4, 0, 1/4)."
STAR = 'cells.smoothed("krichevsky-trofimov")'
AREA = (
    r"\mathrm{MAUVE} = \mathrm{area\ under} \left( e^{-c\, D_f(Q \Vert R_\lambda)},\; "
    r"e^{-c\, D_f(P \Vert R_\lambda)} \right), \quad R_\lambda = \lambda P + (1 - \lambda) Q"
)
INTEGRAL = (
    r"\mathrm{FI}_f = 2 \int_0^1 \left( \lambda D_f(P \Vert R_\lambda) + "
    r"(1 - \lambda) D_f(Q \Vert R_\lambda) \right) d\lambda"
)
MIDPOINT = r"\mathrm{Mid}_f = \tfrac{1}{2} D_f(P \Vert R_{1/2}) + \tfrac{1}{2} D_f(Q \Vert R_{1/2})"
SMOOTHING = r", \qquad \hat p_l = \frac{n_l + 1/2}{n + k/2}"
F_BETA = (
    r"F_b = \max_\lambda\; (1 + b^2) \frac{\alpha(\lambda)\, \beta(\lambda)}"
    r"{b^2 \alpha(\lambda) + \beta(\lambda)}"
)
CURVE = (
    r"\alpha(\lambda) = \sum_l \min(\lambda p_l, q_l), \quad \beta(\lambda) = \alpha(\lambda) / "
    r"\lambda"
)
FRONTIER_F = (
    r"\alpha = e^{-c\, D_f(Q \Vert R_\lambda)}, \quad \beta = e^{-c\, D_f(P \Vert R_\lambda)}, "
    r"\qquad "
) + F_BETA
RENYI = (
    r"\alpha = e^{-D_a(R \Vert Q)}, \quad \beta = e^{-D_a(R \Vert P)}, \quad R \propto "
    r"\min(\lambda p, q)"
)
MODELS = (
    r"\mathrm{KL}(Q \Vert R_\lambda) \approx \frac{1}{m} \sum_j \log \frac{Q(y_j)}"
    r"{\lambda P'(y_j) + (1 - \lambda) Q(y_j)}, \qquad "
)
MODEL_RATIOS = """\
>>> import numpy as np
>>> from calipers import divergence_frontier
>>> from calipers.estimate import probability_ratios
>>> reference = np.log([0.4, 0.4]), np.log([0.1, 0.4])
>>> generated = np.log([0.1, 0.4]), np.log([0.4, 0.4])
>>> ratios = probability_ratios(reference, generated)
"""
CLASSES = """\
>>> import calipers
>>> import numpy as np
>>> reference = np.arange(10.0)[:, None]
>>> result = calipers.compare(
...     reference, {{"model": reference + 100}}, metrics=["{0}"], level=None, floor=False
... )
>>> result["model"]["{0}"].value
"""
SEPARATED = (
    "One threshold separates 0 to 9 from 100 to 109, so every held-out sample is recognised."
)
ACCURACY = r"\frac{1}{2} \left( \frac{\#\{x_i \to P\}}{n} + \frac{\#\{y_j \to Q\}}{m} \right)"
PAIRED = r"\frac{1}{N} \sum_{i=1}^{N} s(y_i, \mathrm{refs}_i)"

EMBEDDINGS = {
    "precision": Worked(
        r"\frac{1}{m} \sum_{j=1}^{m} \mathbf{1}\left[ \exists i : \lVert y_j - x_i \rVert \le "
        r"r_k(x_i) \right]",
        _points("support", "support(reference, generated, k=1).precision.value"),
        "0.5",
        f"{BALLS} 9 and 10 lie in none: 2 of 4.",
    ),
    "recall": Worked(
        r"\frac{1}{n} \sum_{i=1}^{n} \mathbf{1}\left[ \exists j : \lVert x_i - y_j \rVert \le "
        r"r_k(y_j) \right]",
        _points("support", "support(reference, generated, k=1).recall.value"),
        "0.75",
        f"{OWN_BALLS} They reach 0, 1 and 2, but not 3: 3 of 4.",
    ),
    "core_recall": Worked(
        r"\frac{1}{|C|} \sum_{x \in C} \mathbf{1}\left[ \exists j : \lVert x - y_j \rVert \le "
        r"r_k(y_j) \right], \qquad C = \mathrm{the\ fifth\ with\ the\ smallest\ } r_k(x)",
        """\
>>> from calipers.metrics import recall_by_density
>>> reference = [[0.0], [0.1], [0.2], [0.3], [10.0], [12.0], [14.0], [16.0]]
>>> generated = [[0.0], [0.1], [0.2], [0.3]]
>>> recall_by_density(reference, generated, bands=2, k=1)[0].value
""",
        "1.0",
        "In two bands, the denser half of the reference is 0 to 0.3, and all of it is covered.",
    ),
    "peripheral_recall": Worked(
        r"\frac{1}{|S|} \sum_{x \in S} \mathbf{1}\left[ \exists j : \lVert x - y_j \rVert \le "
        r"r_k(y_j) \right], \qquad S = \mathrm{the\ fifth\ with\ the\ largest\ } r_k(x)",
        """\
>>> from calipers.metrics import recall_by_density
>>> reference = [[0.0], [0.1], [0.2], [0.3], [10.0], [12.0], [14.0], [16.0]]
>>> generated = [[0.0], [0.1], [0.2], [0.3]]
>>> recall_by_density(reference, generated, bands=2, k=1)[-1].value
""",
        "0.0",
        "In two bands, the sparser half of the reference is 10 to 16, and none of it is covered.",
    ),
    "density": Worked(
        r"\frac{1}{k m} \sum_{j=1}^{m} \sum_{i=1}^{n} \mathbf{1}\left[ \lVert y_j - x_i \rVert \le "
        r"r_k(x_i) \right]",
        _points("support", "support(reference, generated, k=1).density.value"),
        "1.0",
        "With k = 1 every reference ball has radius 1: 0.5 and 1.5 lie in two balls each, 9 and 10 "
        "in none, so 4 over 1 · 4.",
    ),
    "coverage": Worked(
        r"\frac{1}{n} \sum_{i=1}^{n} \mathbf{1}\left[ \exists j : \lVert y_j - x_i \rVert \le "
        r"r_k(x_i) \right]",
        _points("support", "support(reference, generated, k=1).coverage.value"),
        "0.75",
        "With k = 1 every reference ball has radius 1; those of 0, 1 and 2 hold a generated "
        "sample, that of 3 does not: 3 of 4.",
    ),
    "realism": Worked(
        r"\mathrm{median}_j\; \max_i \frac{r_k(x_i)}{\lVert y_j - x_i \rVert}, \qquad r_k(x_i) \le "
        r"\mathrm{median\ radius}",
        _points("realism", "realism(reference, generated, k=1).per_sample.round(3).tolist()"),
        "[2.0, 2.0, 0.167, 0.143]",
        "Every radius is 1, and the nearest reference sample is 0.5, 0.5, 6 and 7 away. The score "
        "is their median, 1.083.",
    ),
    "precise_recall": Worked(
        r"\frac{1}{n} \sum_{i=1}^{n} \mathbf{1}\left[ \exists\, \mathrm{precise}\; y_j : \lVert "
        r"x_i - y_j \rVert \le r_k(y_j) \right]",
        _points("precise_recall", "precise_recall(reference, generated, k=1).value"),
        "0.75",
        "0.5 and 1.5 are precise. Their balls of radius 1 reach 0, 1 and 2: 3 of 4.",
    ),
    "precise_diversity": Worked(
        r"\frac{\mathrm{tr}\, \mathrm{cov}(\mathrm{precise}\; y)}{\mathrm{tr}\, \mathrm{cov}(x)}",
        _points("precise_diversity", "precise_diversity(reference, generated, k=1).value"),
        "0.3",
        "0.5 and 1.5 are precise, with variance 0.5; that of the reference is 5/3.",
    ),
    "clipped_density": Worked(
        r"\min\left( 1, \frac{\mathrm{mean}_j \min(b(y_j), k) / k}{\mathrm{mean}_i \min(b(x_i), "
        r"k) / k} \right), \qquad b(u) = \#\{ i : \lVert u - x_i \rVert \le \min(r_k(x_i), "
        r"\mathrm{median\ radius}) \}",
        _points(
            "clipped_density_coverage",
            "clipped_density_coverage(reference, generated, k=1).density.value",
        ),
        "0.5",
        "With k = 1 every radius is 1. 0.5 and 1.5 count 1, 9 and 10 count 0, so 1/2; each "
        "reference sample counts 1.",
    ),
    "clipped_coverage": Worked(
        r"f^{-1}\left( \frac{1}{n} \sum_i \frac{\min(\#\{ j : \lVert y_j - x_i \rVert \le r_k(x_i) "
        r"\}, k)}{k} \right), \qquad f(s) = \mathrm{the\ mean\ expected\ of\ a\ share\ } s "
        r"\mathrm{\ of\ good\ samples}",
        _points(
            "clipped_density_coverage",
            "clipped_density_coverage(reference, generated, k=1).coverage.value",
        ),
        "1.0",
        "3 of 4 reference balls hold a generated sample. Four good samples would be expected to "
        "fill 4/7, so the calibrated share is at its cap.",
    ),
    "probabilistic_precision": Worked(
        r"\frac{1}{m} \sum_j \left( 1 - \prod_{i : \lVert y_j - x_i \rVert \le R} \frac{\lVert y_j "
        r"- x_i \rVert}{R} \right), \qquad R = 1.2 \cdot \mathrm{mean}_i\, r_4(x_i)",
        _points(
            "probabilistic_precision_recall",
            "probabilistic_precision_recall(\n...     reference, generated, k=1, factor=1.0\n... "
            ").precision.value",
        ),
        "0.375",
        "With k = 1 and factor 1, R = 1. 0.5 and 1.5 are 0.5 from two samples: 1 − ½ · ½ = 3/4 "
        "each. 9 and 10 are out of reach: (3/4 + 3/4) / 4.",
    ),
    "probabilistic_recall": Worked(
        r"\frac{1}{n} \sum_i \left( 1 - \prod_{j : \lVert x_i - y_j \rVert \le R} \frac{\lVert x_i "
        r"- y_j \rVert}{R} \right), \qquad R = 1.2 \cdot \mathrm{mean}_j\, r_4(y_j)",
        _points(
            "probabilistic_precision_recall",
            "probabilistic_precision_recall(\n...     reference, generated, k=1, factor=1.0\n... "
            ").recall.value",
        ),
        "0.4375",
        "With k = 1 and factor 1, R = 1. 0 and 2 are 0.5 from one generated sample (1/2 each), 1 "
        "is from two (3/4), 3 is out of reach: (1/2 + 3/4 + 1/2) / 4.",
    ),
    "cover_precision": Worked(
        r"\frac{1}{m} \sum_j \mathbf{1}\left[ \#\{ i : \lVert x_i - y_j \rVert \le r_{9}(y_j) \} "
        r"\ge 3 \right]",
        _points(
            "precision_recall_cover",
            "precision_recall_cover(reference, generated, k=1, factor=1).precision.value",
        ),
        "0.5",
        f"With 1 and 1 in place of 3 and 9: {OWN_BALLS[11:]} Those of 0.5 and 1.5 hold a reference "
        "sample: 2 of 4.",
    ),
    "cover_recall": Worked(
        r"\frac{1}{n} \sum_i \mathbf{1}\left[ \#\{ j : \lVert y_j - x_i \rVert \le r_{9}(x_i) \} "
        r"\ge 3 \right]",
        _points(
            "precision_recall_cover",
            "precision_recall_cover(reference, generated, k=1, factor=1).recall.value",
        ),
        "0.75",
        "With 1 and 1 in place of 3 and 9: the reference balls of 0, 1 and 2 hold a generated "
        "sample: 3 of 4.",
    ),
    "sphere_precision": Worked(
        r"1 - \frac{\sum_\alpha |P_\alpha - \alpha|}{\sum_\alpha \alpha}, \qquad P_\alpha = "
        r"\mathrm{share\ of\ } y \mathrm{\ in\ the\ sphere\ that\ holds\ } \alpha \mathrm{\ of\ } "
        r"x",
        _points(
            "sphere_precision_recall",
            "sphere_precision_recall(reference, generated).precision.value",
        ),
        "0.5",
        "Around the mean 1.5 the spheres of radius 0.5 and 1.5 hold 1/2 and all of the reference, "
        "1/4 and 1/2 of the generated samples: 1 − (1/4 + 1/2) / (1/2 + 1).",
    ),
    "sphere_recall": Worked(
        r"1 - \frac{\sum_\beta |R_\beta - \beta|}{\sum_\beta \beta}, \qquad R_\beta = "
        r"\mathrm{share\ of\ } x \mathrm{\ near\ a\ } y \mathrm{\ of\ the\ sphere\ that\ holds\ } "
        r"\beta \mathrm{\ of\ } y",
        _points(
            "sphere_precision_recall",
            "round(sphere_precision_recall(reference, generated).recall.value, 4)",
        ),
        "0.6667",
        "Around the mean 5.25, the sphere of 1.5 and 9 (β = 1/2) has the nearest sample of 2 "
        "alone, that of all (β = 1) those of 0, 1 and 2: 1 − (1/4 + 1/4) / (1/2 + 1).",
    ),
    "topp": Worked(
        r"\frac{\#\{ j : \hat p_Q(y_j) > c_Q,\; \hat p_P(y_j) > c_P \}}{\#\{ j : \hat p_Q(y_j) > "
        r"c_Q \}}",
        _points(
            "topological_precision_recall",
            "topological_precision_recall(reference, generated).precision.value",
        ),
        "0.5",
        "All four generated samples are significant; 0.5 and 1.5 lie where the density of the "
        "reference passes its bootstrap band: 2 of 4.",
    ),
    "topr": Worked(
        r"\frac{\#\{ i : \hat p_P(x_i) > c_P,\; \hat p_Q(x_i) > c_Q \}}{\#\{ i : \hat p_P(x_i) > "
        r"c_P \}}",
        _points(
            "topological_precision_recall",
            "topological_precision_recall(reference, generated).recall.value",
        ),
        "1.0",
        "All significant reference samples lie where the density of the generated samples passes "
        "its bootstrap band.",
    ),
    "authenticity": Worked(
        r"\frac{1}{m} \sum_j \mathbf{1}\left[ \lVert y_j - x_{(j)} \rVert > r_1(x_{(j)}) \right], "
        r"\qquad x_{(j)} = \mathrm{nearest\ } x \mathrm{\ to\ } y_j",
        _points("authenticity", "authenticity(reference, generated).value"),
        "0.5",
        "0.5 and 1.5 are 0.5 from their nearest reference sample, whose own neighbour is 1 away: "
        "too close. 9 and 10 are not: 2 of 4.",
    ),
    "near_copies": Worked(
        r"\frac{1}{m} \sum_j \mathbf{1}\left[ \min_i \lVert y_j - x_i \rVert \le t \right], \qquad "
        r"t = \mathrm{1\,\%\ quantile\ of\ } r_1(x_i)",
        _points("near_copies", "near_copies(reference, generated).value"),
        "0.5",
        "All reference samples are 1 from their nearest, so t = 1; 0.5 and 1.5 are within it: 2 "
        "of 4.",
    ),
    "precision_cross_entropy": Worked(
        r"\frac{1}{m} \sum_j \log\left( n\, V_d\, \rho_k(y_j)^d \right) - \psi(k), \qquad \rho_k = "
        r"\mathrm{distance\ to\ the\ } k\mathrm{th\ nearest\ } x",
        _points(
            "precision_cross_entropy",
            "round(precision_cross_entropy(reference, generated, k=1).value, 4)",
        ),
        "3.2445",
        "The distances are 0.5, 0.5, 6 and 7, with V = 2 and −ψ(1) = 0.5772: the mean of log(4 · 2 "
        "· distance) is 2.6673, plus 0.5772.",
    ),
    "recall_cross_entropy": Worked(
        r"\frac{1}{n} \sum_i \log\left( m\, V_d\, \rho_k(x_i)^d \right) - \psi(k), \qquad \rho_k = "
        r"\mathrm{distance\ to\ the\ } k\mathrm{th\ nearest\ } y",
        _points(
            "recall_cross_entropy",
            "round(recall_cross_entropy(reference, generated, k=1).value, 4)",
        ),
        "2.2382",
        "The distances are 0.5, 0.5, 0.5 and 1.5, with V = 2 and −ψ(1) = 0.5772: the mean of "
        "log(4 · 2 · distance) is 1.6609, plus 0.5772.",
    ),
    "recall_entropy": Worked(
        r"\frac{1}{n} \sum_i \log\left( (n - 1)\, V_d\, r_k(x_i)^d \right) - \psi(k)",
        _points("recall_entropy", "round(recall_entropy(reference, generated, k=1).value, 4)"),
        "2.369",
        "Every nearest other reference sample is 1 away: log(3 · 2 · 1) + 0.5772.",
    ),
    "mauve": Worked(
        AREA,
        _cells(
            "[3, 1]",
            "[1, 3]",
            "round(divergence_frontier(cells).area(c=5), 3)",
            "divergence_frontier",
        ),
        "0.56",
        f"{TWO_CELLS} Half-way, both divergences are 0.131, so the curve passes through "
        "(0.52, 0.52).",
    ),
    "mauve_star": Worked(
        AREA + SMOOTHING,
        _cells(
            "[3, 1]",
            "[1, 3]",
            f"round(divergence_frontier({STAR}).area(c=5), 3)",
            "divergence_frontier",
        ),
        "0.756",
        f"{SMOOTHED} Half-way, both divergences are 0.082, so the curve passes through "
        "(0.66, 0.66).",
    ),
    "frontier_integral": Worked(
        INTEGRAL,
        _cells(
            "[1, 0]",
            "[0, 1]",
            "round(divergence_frontier(cells).integral(), 3)",
            "divergence_frontier",
        ),
        "1.0",
        "No cell is shared: the costs are −log λ and −log(1 − λ), and 2 ∫ −λ log λ dλ = 1/2 for "
        "each side.",
    ),
    "frontier_integral_star": Worked(
        INTEGRAL + SMOOTHING,
        _cells(
            "[1, 0]",
            "[0, 1]",
            f"round(divergence_frontier({STAR}).integral(), 3)",
            "divergence_frontier",
        ),
        "0.176",
        "With ½ added to every count the shares are (3/4, 1/4) and (1/4, 3/4). It is the "
        "divergence with f(t) = (t + 1)/2 − t log t / (t − 1): ¼ f(3) + ¾ f(1/3). Unsmoothed it "
        "is 1.",
    ),
    "midpoint": Worked(
        MIDPOINT,
        _cells(
            "[3, 1]",
            "[1, 3]",
            "round(divergence_frontier(cells).midpoint(), 4)",
            "divergence_frontier",
        ),
        "0.1308",
        f"{TWO_CELLS} Their even mixture is (1/2, 1/2): ¾ log 3/2 + ¼ log 1/2 on either side.",
    ),
    "midpoint_star": Worked(
        MIDPOINT + SMOOTHING,
        _cells(
            "[3, 1]",
            "[1, 3]",
            f"round(divergence_frontier({STAR}).midpoint(), 4)",
            "divergence_frontier",
        ),
        "0.0823",
        f"{SMOOTHED} Their even mixture is (1/2, 1/2): 0.7 log 1.4 + 0.3 log 0.6 on either side.",
    ),
    "frontier_f8": Worked(
        FRONTIER_F,
        _cells(
            "[3, 1]",
            "[2, 2]",
            "round(divergence_frontier(cells).f_beta(8, c=5), 3)",
            "divergence_frontier",
        ),
        "0.985",
        "The shares are p = (3/4, 1/4) and q = (1/2, 1/2). At R = P, α = 0.487 and β = 1, and F "
        "is 0.984; the best point of the curve is close by.",
    ),
    "frontier_f1_8": Worked(
        FRONTIER_F,
        _cells(
            "[3, 1]",
            "[2, 2]",
            "round(divergence_frontier(cells).f_beta(1 / 8, c=5), 3)",
            "divergence_frontier",
        ),
        "0.986",
        "The shares are p = (3/4, 1/4) and q = (1/2, 1/2). At R = Q, α = 1 and β = 0.520, and F "
        "is 0.986, the best of the curve.",
    ),
    "divergence": Worked(
        r"D_f(P \Vert Q) = \sum_l q_l\, f(p_l / q_l), \qquad f(t) = t \log t - t + 1",
        _cells("[3, 1]", "[1, 3]", 'round(f_divergence(cells, "kl"), 4)', "f_divergence"),
        "0.5493",
        f"{TWO_CELLS} ¾ log 3 + ¼ log 1/3 = ½ log 3.",
    ),
    "divergence_star": Worked(
        r"D_f(P \Vert Q) = \sum_l \hat q_l\, f(\hat p_l / \hat q_l)" + SMOOTHING,
        _cells("[3, 1]", "[1, 3]", f'round(f_divergence({STAR}, "kl"), 4)', "f_divergence"),
        "0.3389",
        f"{SMOOTHED} 0.7 log 7/3 + 0.3 log 3/7 = 0.4 log 7/3.",
    ),
    "renyi_area": Worked(
        RENYI + r", \qquad \mathrm{area\ under\ } (\beta, \alpha)",
        """\
>>> from calipers import Histograms
>>> from calipers.curves import renyi_frontier
>>> cells = Histograms([2, 2, 0], [4, 0, 0])
>>> round(renyi_frontier(cells).area(), 3)
""",
        "0.5",
        "One of the two halves of the reference is missing: the curve is 1 up to recall ½, and 0 "
        "beyond.",
    ),
    "renyi_f8": Worked(
        RENYI + r", \qquad " + F_BETA,
        """\
>>> from calipers import Histograms
>>> from calipers.curves import renyi_frontier
>>> cells = Histograms([2, 2, 0], [4, 0, 0])
>>> round(renyi_frontier(cells).f_beta(8), 3)
""",
        "0.504",
        "The best point has precision 1 and recall ½, and b = 8 weighs recall: 65 · ½ / (64 + ½).",
    ),
    "renyi_f1_8": Worked(
        RENYI + r", \qquad " + F_BETA,
        """\
>>> from calipers import Histograms
>>> from calipers.curves import renyi_frontier
>>> cells = Histograms([2, 2, 0], [4, 0, 0])
>>> round(renyi_frontier(cells).f_beta(1 / 8), 3)
""",
        "0.985",
        "The best point has precision 1 and recall ½, and b = 1/8 weighs precision: "
        "(65/64) · ½ / (1/64 + ½).",
    ),
    "prd_f8": Worked(
        CURVE + r", \qquad " + F_BETA,
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "round(precision_recall_curve(cells).f_beta(8), 3)",
            "precision_recall_curve",
        ),
        "0.503",
        f"{THREE_CELLS} The best point has precision 3/4 and recall 1/2: 65 · ⅜ / (64 · ¾ + ½).",
    ),
    "prd_f1_8": Worked(
        CURVE + r", \qquad " + F_BETA,
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "round(precision_recall_curve(cells).f_beta(1 / 8), 3)",
            "precision_recall_curve",
        ),
        "0.744",
        f"{THREE_CELLS} The best point has precision 3/4 and recall 1/2: "
        "(65/64) · ⅜ / (¾ / 64 + ½).",
    ),
    "max_precision": Worked(
        r"\alpha(\infty) = \sum_{l : p_l > 0} q_l",
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "precision_recall_curve(cells).max_precision",
            "precision_recall_curve",
        ),
        "0.75",
        f"{THREE_CELLS} 3/4 of the generated samples lie in cells with reference samples.",
    ),
    "max_recall": Worked(
        r"\beta(0) = \sum_{l : q_l > 0} p_l",
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "precision_recall_curve(cells).max_recall",
            "precision_recall_curve",
        ),
        "0.5",
        f"{THREE_CELLS} 1/2 of the reference lies in cells with generated samples.",
    ),
    "total_variation": Worked(
        r"1 - \alpha(1) = \tfrac{1}{2} \sum_l |p_l - q_l|",
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "precision_recall_curve(cells).total_variation",
            "precision_recall_curve",
        ),
        "0.5",
        f"{THREE_CELLS} ½ (1/4 + 1/2 + 1/4).",
    ),
    "prd_area": Worked(
        CURVE + r", \qquad \int \alpha\, d\beta",
        _cells(
            "[2, 2, 0]",
            "[3, 0, 1]",
            "round(precision_recall_curve(cells).area(), 3)",
            "precision_recall_curve",
        ),
        "0.375",
        f"{THREE_CELLS} Precision is up to 3/4 for every recall up to 1/2: ¾ · ½.",
    ),
    "classifier_accuracy": Worked(
        ACCURACY, CLASSES.format("classifier_accuracy"), "1.0", SEPARATED
    ),
    "classifier_auc": Worked(
        r"\Pr\left( s(x) > s(y) \right) + \tfrac{1}{2} \Pr\left( s(x) = s(y) \right)",
        """\
>>> import numpy as np
>>> from calipers.metrics import classifier_auc
>>> reference = np.arange(10.0)[:, None]
>>> classifier_auc(reference, reference + 100).value
""",
        "1.0",
        "Every held-out sample of 0 to 9 has a higher score of being real than every one of 100 "
        "to 109.",
    ),
    "discriminator_accuracy": Worked(
        ACCURACY, CLASSES.format("discriminator_accuracy"), "1.0", SEPARATED
    ),
    "frechet_distance": Worked(
        r"\lVert \mu_P - \mu_Q \rVert^2 + \mathrm{tr}\left( \Sigma_P + \Sigma_Q - 2 \left( "
        r"\Sigma_P \Sigma_Q \right)^{1/2} \right)",
        """\
>>> from calipers.metrics import frechet_distance
>>> round(frechet_distance([[0.0], [2.0]], [[3.0], [5.0]]).value, 6)
""",
        "9.0",
        "The means are 1 and 4 and the variances equal: 3².",
    ),
    "ot": Worked(
        r"\min_\pi \sum_{i,j} \pi_{ij}\, \lVert x_i - y_j \rVert^2",
        _points("optimal_transport", "optimal_transport(reference, generated).value"),
        "24.625",
        "On a line the plan keeps the order: (0.5² + 0.5² + 7² + 7²) / 4.",
    ),
    "ot_quantised": Worked(
        r"\min_\pi \sum_{l,l'} \pi_{ll'}\, \lVert \mu_l - \mu_{l'} \rVert^2",
        _points(
            "quantised_transport",
            "round(quantised_transport(reference, generated, buckets=2).value, 3)",
        ),
        "33.347",
        "The cells are 0 to 3 (mean 4/3) and 9 to 10 (mean 9.5); half of the generated mass moves "
        "between them: ½ (9.5 − 4/3)².",
    ),
    "ot_entropic": Worked(
        r"\langle \pi, C \rangle, \qquad \pi = \mathrm{argmin}\; \langle \pi, C \rangle + "
        r"\varepsilon\, \mathrm{KL}(\pi \Vert P \otimes Q)",
        _points(
            "entropic_transport",
            "round(entropic_transport(reference, generated, buckets=2).entropic.value, 3)",
        ),
        "33.347",
        "The reference lies in one of the two cells, so only one plan exists, that of "
        "`ot_quantised`.",
    ),
    "ot_debiased": Worked(
        r"\mathrm{OT}_\varepsilon(P, Q) - \tfrac{1}{2} \mathrm{OT}_\varepsilon(P, P) - "
        r"\tfrac{1}{2} \mathrm{OT}_\varepsilon(Q, Q)",
        _points(
            "entropic_transport",
            "round(entropic_transport(reference, generated, buckets=2).debiased.value, 3)",
        ),
        "20.679",
        "The cost of `ot_quantised`, 33.347, less half of what the generated histogram costs "
        "against itself (the reference, in one cell, costs nothing).",
    ),
    "mauve_ot": Worked(
        r"\mathrm{area\ under} \left( e^{-c\, \mathrm{OT}(Q, R_\lambda)},\; e^{-c\, "
        r"\mathrm{OT}(P, R_\lambda)} \right), \quad R_\lambda = \lambda P + (1 - \lambda) Q",
        """\
>>> import numpy as np
>>> from calipers.metrics import transport_frontier
>>> p, q, costs = np.array([0.75, 0.25]), np.array([0.25, 0.75]), np.array([[0, 1.0], [1.0, 0]])
>>> round(transport_frontier(p, q, costs).area(c=5), 3)
""",
        "0.288",
        "Half of the mass moves at cost 1, W = 1/2, and the costs to the mixture are λW and "
        "(1 − λ)W: the area is e^(−cW) (1 + cW) = 0.287, by 25 mixtures.",
    ),
    "mauve_ot_barycentric": Worked(
        r"\mathrm{area\ under} \left( e^{-c\, \mathrm{OT}(Q, R)},\; e^{-c\, \mathrm{OT}(P, R)} "
        r"\right), \quad R = \mathrm{argmin}\; \lambda\, \mathrm{OT}(P, R) + (1 - \lambda)\, "
        r"\mathrm{OT}(Q, R)",
        """\
>>> import numpy as np
>>> from calipers.metrics import transport_frontier
>>> p, q, costs = np.array([0.75, 0.25]), np.array([0.25, 0.75]), np.array([[0, 1.0], [1.0, 0]])
>>> round(transport_frontier(p, q, costs, interpolation="barycentric").area(c=5), 3)
""",
        "0.579",
        "With two cells every histogram between P and Q costs the same in sum, so the barycentre "
        "jumps from Q to P at λ = 1/2; half of the mass moves at cost 1.",
    ),
    "sliced_wasserstein": Worked(
        r"\mathbf{E}_\theta\, W_2^2(\theta \cdot X, \theta \cdot Y), \qquad \lVert \theta \rVert = "
        r"1",
        _points("sliced_wasserstein", "round(sliced_wasserstein(reference, generated).value, 3)"),
        "24.625",
        "On a line every direction is the line itself: (0.5² + 0.5² + 7² + 7²) / 4.",
    ),
    "mmd": Worked(
        r"\frac{\sum_{i \ne i'} \kappa(x_i, x_{i'})}{n (n - 1)} + \frac{\sum_{j \ne j'} "
        r"\kappa(y_j, y_{j'})}{m (m - 1)} - \frac{2 \sum_{i,j} \kappa(x_i, y_j)}{n m}, \qquad "
        r"\kappa = e^{-\lVert x - y \rVert^2 / (2 h^2)}",
        """\
>>> from calipers.metrics import mmd
>>> round(mmd([[0.0], [2.0]], [[0.0], [2.0]], bandwidth=1.0).value, 4)
""",
        "-0.8647",
        "κ(0, 2) = e^(−2) = 0.1353, so 2 · 0.1353 − (1 + 0.1353): unbiased, and negative for "
        "equal sets.",
    ),
    "kid": Worked(
        r"\mathrm{MMD}^2 \;\mathrm{with}\; \kappa(x, y) = \left( \frac{x \cdot y}{d} + 1 "
        r"\right)^3",
        """\
>>> from calipers.metrics import kid
>>> round(kid([[0.0], [1.0]], [[0.0], [1.0]]).value, 6)
""",
        "-3.5",
        "κ(0, 1) = 1, and the mean over pairs of both sets is (1 + 1 + 1 + 8) / 4: 1 + 1 − 2 · "
        "11/4, negative for equal sets.",
    ),
    "energy_distance": Worked(
        r"\frac{2}{n m} \sum_{i,j} \lVert x_i - y_j \rVert - \frac{1}{n^2} \sum_{i,i'} \lVert x_i "
        r"- x_{i'} \rVert - \frac{1}{m^2} \sum_{j,j'} \lVert y_j - y_{j'} \rVert",
        """\
>>> from calipers.metrics import energy_distance
>>> energy_distance([[0.0], [2.0]], [[1.0], [3.0]]).value
""",
        "1.0",
        "Across, the distances are 1, 3, 1, 1 (mean 3/2); within either set 0, 2, 2, 0 (mean 1): "
        "2 · 3/2 − 1 − 1.",
    ),
    "vendi": Worked(
        r"\exp\left( -\sum_i \lambda_i \log \lambda_i \right), \qquad \lambda_i = "
        r"\mathrm{eigenvalues\ of\ } K / n",
        """\
>>> from calipers.metrics import vendi_score
>>> round(vendi_score([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).value, 6)
""",
        "2.0",
        "Two directions, two samples each: the eigenvalues are 1/2 and 1/2.",
    ),
    "rke": Worked(
        r"\frac{1}{\sum_i \lambda_i^2} = \frac{n^2}{\sum_{i,i'} \kappa(x_i, x_{i'})^2}",
        """\
>>> from calipers.metrics import vendi_score
>>> round(vendi_score([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], q=2).value, 6)
""",
        "1.6",
        "Three samples are alike and one is not: 4² / (3² + 1²).",
    ),
}

STRINGS = (
    'references = ["a b c", "a b d", "x y z", "x y w"]',
    'texts = ["a b c", "a b e", "p q r", "p q s"]',
    "scores = string_scores(",
    '...     texts, references, order=2, k=1, mauve_k=2, tokenizer="whitespace"',
    "... )",
)
ALIGNED_TEXTS = ('texts, references = ["the cat sat"], ["the cat sat down"]',)
TOKEN_VECTORS = """\
>>> from calipers.metrics import bert_score
>>> scores = bert_score([[[1.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0]]])
"""
COSINES = "The text has two tokens, the reference one, as vectors: the first text token equals it, "

TEXTS = {
    "mean_length": Worked(
        r"\frac{1}{m} \sum_j |y_j|",
        _texts("mean_length", 'mean_length(["one two", "three"], unit="words").value'),
        "1.5",
        "(2 + 1) / 2 words.",
    ),
    "median_length": Worked(
        r"\mathrm{median}_j\, |y_j|",
        _texts(
            "median_length",
            'median_length(["one", "one two", "a much longer one"], unit="words").value',
        ),
        "2.0",
        "The lengths are 1, 2 and 4 words.",
    ),
    "length_spread": Worked(
        r"\sqrt{\frac{1}{m - 1} \sum_j \left( |y_j| - \overline{|y|} \right)^2}",
        _texts(
            "length_spread",
            'length_spread(["one", "one two", "one two three"], unit="words").value',
        ),
        "1.0",
        "The lengths are 1, 2 and 3: the square root of (1 + 0 + 1) / 2.",
    ),
    "vocabulary_size": Worked(
        r"|V|, \qquad V = \mathrm{the\ different\ tokens\ of\ all\ texts}",
        _texts(
            "vocabulary_size",
            'vocabulary_size(["a rose is a rose", "is it"], tokenizer="whitespace").value',
        ),
        "4.0",
        "a, rose, is, it.",
    ),
    "zipf_coefficient": Worked(
        r"-\mathrm{slope\ of\ } \log \mathrm{frequency\ on\ } \log \mathrm{rank}",
        _texts(
            "zipf_coefficient",
            'round(zipf_coefficient(["a a b", "b a a"], tokenizer="whitespace").value, 6)',
        ),
        "1.0",
        "Ranks 1 and 2 have frequencies 4 and 2: −(log 2 − log 4) / (log 2 − log 1).",
    ),
    "distinct": Worked(
        r"\frac{\mathrm{different\ } n\mathrm{-grams}}{\mathrm{all\ } n\mathrm{-grams}}",
        _texts("distinct", 'distinct(["a a b", "a c"], tokenizer="whitespace").value'),
        "0.6",
        "a, b and c among 5 tokens.",
    ),
    "expectation_adjusted_distinct": Worked(
        r"\frac{N}{V \left( 1 - \left( \frac{V - 1}{V} \right)^C \right)}",
        _texts(
            "expectation_adjusted_distinct",
            "score = expectation_adjusted_distinct(",
            '...     ["a b", "a c"], vocabulary=10, tokenizer="whitespace"',
            "... )",
            "round(score.value, 4)",
        ),
        "0.8723",
        "N = 3 different of C = 4 tokens, V = 10: 3 / (10 (1 − 0.9⁴)).",
    ),
    "moving_average_ttr": Worked(
        r"\mathrm{mean\ over\ windows\ of\ } w \mathrm{\ tokens\ of\ } "
        r"\frac{\mathrm{different\ tokens}}{w}",
        _texts(
            "moving_average_ttr",
            'score = moving_average_ttr(["a b b c"], window=2, tokenizer="whitespace")',
            "round(score.value, 4)",
        ),
        "0.8333",
        "The windows a b, b b and b c hold 2, 1 and 2 different tokens: (1 + ½ + 1) / 3.",
    ),
    "self_bleu": Worked(
        r"\frac{1}{m} \sum_j \mathrm{BLEU}\left( y_j, \{ y_{j'} : j' \ne j \} \right)",
        _texts(
            "self_bleu",
            'texts = ["the cat sat on the mat", "the cat sat on the rug", "so it goes"]',
            'self_bleu(texts, tokenizer="whitespace").per_sample.round(2).tolist()',
        ),
        "[0.76, 0.76, 0.0]",
        "The first two share 5/6, 4/5, 3/4 and 2/3 of their n-grams: (1/3)^¼ = 0.76. The third "
        "shares none; the score is the mean.",
    ),
    "compression": Worked(
        r"\frac{\mathrm{bytes\ of\ all\ texts}}{\mathrm{bytes\ compressed}}",
        _texts(
            "compression_ratio",
            'same, different = ["the same again"] * 50, ["one", "text", "unlike", "another"]',
            "compression_ratio(same).value > 5 > 1 > compression_ratio(different).value",
        ),
        "True",
        "Fifty equal texts compress to less than a fifth; four short different ones grow by the "
        "header of the format.",
    ),
    "vendi": Worked(
        r"\exp\left( -\sum_i \lambda_i \log \lambda_i \right), \qquad \lambda_i = "
        r"\mathrm{eigenvalues\ of\ } K / n",
        _texts(
            "vendi_score",
            'texts = ["a b c", "a b c", "x y z", "x y z"]',
            'round(vendi_score(texts, tokenizer="whitespace").value, 6)',
        ),
        "2.0",
        "Two texts, twice each, that share no n-gram: the eigenvalues are 1/2 and 1/2.",
    ),
    "rke": Worked(
        r"\frac{1}{\sum_i \lambda_i^2} = \frac{n^2}{\sum_{i,i'} \kappa(x_i, x_{i'})^2}",
        _texts(
            "rke",
            'texts = ["a b c", "a b c", "a b c", "x y z"]',
            'round(rke(texts, tokenizer="whitespace").value, 6)',
        ),
        "1.6",
        "Three equal texts and one that shares nothing: 4² / (3² + 1²).",
    ),
    "repetition_frequency": Worked(
        r"\frac{\#\{ j : y_j \mathrm{\ ends\ in\ a\ repeated\ phrase} \}}{m}",
        _texts(
            "repetition_frequency",
            'texts = ["it was a dog a dog", "it was a dog a cat"]',
            'repetition_frequency(texts, tokenizer="whitespace").value',
        ),
        "0.5",
        "The first ends in “a dog a dog”, the second in no repeated phrase: 1 of 2.",
    ),
    "rep_n": Worked(
        r"1 - \frac{1}{m} \sum_j \frac{\mathrm{different\ } n\mathrm{-grams\ of\ } y_j}"
        r"{\mathrm{all\ } n\mathrm{-grams\ of\ } y_j}",
        _texts("rep_n", 'round(rep_n(["a b a b"], order=2, tokenizer="whitespace").value, 4)'),
        "0.3333",
        "a b, b a, a b: two different ones of three, so 1 − 2/3.",
    ),
    "self_repetition": Worked(
        r"\frac{1}{m} \sum_j \log\left( 1 + \sum_{g \in y_j} \#\{ j' \ne j : g \in y_{j'} \} "
        r"\right)",
        _texts(
            "self_repetition",
            'texts = ["a b c", "a b", "b c a b", "d e"]',
            'score = self_repetition(texts, order=2, tokenizer="whitespace")',
            "score.per_sample.round(3).tolist()",
        ),
        "[1.386, 1.099, 1.386, 0.0]",
        "a b of the first text is in two others and b c in one: log(1 + 3). The last shares "
        "nothing.",
    ),
    "non_termination": Worked(
        r"\frac{\#\{ j : y_j \mathrm{\ does\ not\ end\ a\ sentence} \}}{m}",
        _texts(
            "non_termination",
            'non_termination(["It ended.", "It ended?)", "It went on and"]).per_sample.tolist()',
        ),
        "[0.0, 0.0, 1.0]",
        "The last text ends in no closing mark: 1 of 3.",
    ),
    "exact_duplicates": Worked(
        r"\frac{\#\{ j : y_j = y_{j'} \mathrm{\ for\ some\ } j' < j \}}{m}",
        _texts("exact_duplicates", 'exact_duplicates(["yes", "no", "yes", "yes"]).value'),
        "0.5",
        "The third and the fourth text repeat the first: 2 of 4.",
    ),
    "near_duplicates": Worked(
        r"\frac{\#\{ j : J(y_j, y_{j'}) \ge t \mathrm{\ for\ some\ } j' \ne j \}}{m}, \qquad J = "
        r"\frac{|A \cap B|}{|A \cup B|}",
        _texts(
            "near_duplicates",
            'texts = ["the cat sat on the mat", "so the cat sat on the mat", "a dog barked"]',
            'near_duplicates(texts, order=2, tokenizer="whitespace").per_sample.tolist()',
        ),
        "[1.0, 1.0, 0.0]",
        "The first two share 5 of 6 different pairs of words, 0.83, above t = 0.8.",
    ),
    "novelty": Worked(
        r"\frac{\#\{ n\mathrm{-grams\ of\ the\ texts\ in\ no\ reference} \}}{\#\{ n\mathrm{-grams\ "
        r"of\ the\ texts} \}}",
        _texts(
            "novelty",
            'novelty(["a b c", "b c d"], ["a b c"], order=2, tokenizer="whitespace").value',
        ),
        "0.25",
        "Of a b, b c, b c, c d the reference lacks c d: 1 of 4.",
    ),
    "longest_copied_span": Worked(
        r"\frac{1}{m} \sum_j \max \{ |s| : s \mathrm{\ in\ } y_j \mathrm{\ and\ in\ a\ reference} "
        r"\}",
        _texts(
            "longest_copied_span",
            'references = ["the cat sat on the mat", "a dog barked"]',
            'texts = ["the cat sat down", "a dog sat on the sofa"]',
            'longest_copied_span(texts, references, tokenizer="whitespace").per_sample.tolist()',
        ),
        "[3.0, 3.0]",
        "“the cat sat” and “sat on the”: three tokens each.",
    ),
    "corpus_match_bleu": Worked(
        r"\frac{1}{m} \sum_j \mathrm{BLEU}\left( y_j, \{ x_1, \dots, x_n \} \right)",
        _texts(
            "corpus_match_bleu",
            'references = ["the cat sat on the mat", "a dog ran in the park"]',
            'texts = ["a dog ran on the mat"]',
            'round(corpus_match_bleu(texts, references, tokenizer="whitespace").value, 2)',
        ),
        "0.34",
        "All 6 words, 4 of 5 pairs and 2 of 4 triples are in a reference; of no match of order 4, "
        "0.1 of 3 counts: (1 · 0.8 · 0.5 · 0.1/3)^¼.",
    ),
    "overused_phrases": Worked(
        r"\frac{\#\{ j : y_j \mathrm{\ holds\ an\ over\!-\!used\ phrase} \}}{m}, \qquad p = "
        r"\Pr(X \ge a) \le \frac{\alpha}{K}",
        _texts(
            "overused_phrases",
            'generated, human = ["in the end it was"] * 9, ["it was"] * 9',
            'score = overused_phrases(generated, human, order=2, tokenizer="whitespace")',
            'score.value, [row["phrase"] for row in score.details]',
        ),
        "(1.0, ['in the', 'the end', 'end it'])",
        "Three phrases are in 9 of 9 generated texts and in no human one; “it was” is in all.",
    ),
    "string_mauve": Worked(
        AREA + r", \qquad \hat r = p / q \mathrm{\ from\ } k\mathrm{\ neighbours}",
        _texts(
            "string_scores",
            *STRINGS,
            "round(scores.mauve.value, 3)",
        ),
        "0.004",
        "Half of either set shares no pair of words with the other set.",
    ),
    "string_precision": Worked(
        r"\frac{1}{m} \sum_j \mathbf{1}\left[ \exists i : d(y_j, x_i) \le r_k(x_i) \right], \qquad "
        r"d = \sqrt{2 - 2 \kappa}",
        _texts(
            "string_scores",
            *STRINGS,
            "scores.precision.value",
        ),
        "0.5",
        "Reference texts share one of three pairs of words with their nearest. So do the first two "
        "generated texts; the others share none: 2 of 4.",
    ),
    "string_recall": Worked(
        r"\frac{1}{n} \sum_i \mathbf{1}\left[ \exists j : d(x_i, y_j) \le r_k(y_j) \right], \qquad "
        r"d = \sqrt{2 - 2 \kappa}",
        _texts(
            "string_scores",
            *STRINGS,
            "scores.recall.value",
        ),
        "0.5",
        "Generated texts share one of three pairs of words with their nearest. So do the first two "
        "references with “a b e”; the others share none: 2 of 4.",
    ),
    "string_density": Worked(
        r"\frac{1}{k m} \sum_j \sum_i \mathbf{1}\left[ d(y_j, x_i) \le r_k(x_i) \right], \qquad d "
        r"= \sqrt{2 - 2 \kappa}",
        _texts(
            "string_scores",
            *STRINGS,
            "scores.density.value",
        ),
        "1.0",
        "“a b c” and “a b e” lie in the balls of “a b c” and “a b d”, the others in none: 4 over "
        "1 · 4.",
    ),
    "string_coverage": Worked(
        r"\frac{1}{n} \sum_i \mathbf{1}\left[ \exists j : d(y_j, x_i) \le r_k(x_i) \right], \qquad "
        r"d = \sqrt{2 - 2 \kappa}",
        _texts(
            "string_scores",
            *STRINGS,
            "scores.coverage.value",
        ),
        "0.5",
        "The balls of “a b c” and “a b d” hold a generated text, those of “x y z” and “x y w” do "
        "not: 2 of 4.",
    ),
    "bleu": Worked(
        r"100\, e^{\min(0,\, 1 - r / c)} \left( p_1 p_2 p_3 p_4 \right)^{1/4}",
        _texts(
            "bleu",
            'round(bleu(["the cat sat on the mat"], ["the cat sat on a mat"]).value, 2)',
        ),
        "53.73",
        "5/6, 3/5, 2/4 and 1/3 of the n-grams match, and the lengths are equal: 100 (1/12)^¼.",
    ),
    "chrf": Worked(
        r"100\, \frac{(1 + b^2)\, P R}{b^2 P + R}, \qquad b = 2, \quad P, R = "
        r"\mathrm{mean\ over\ character\ } n\mathrm{-grams}",
        _texts("chrf", 'round(chrf(["abcd"], ["abcf"], char_order=1).value, 2)'),
        "75.0",
        "With n = 1, three of four characters match on either side: 75.",
    ),
    "ter": Worked(
        r"100\, \frac{\mathrm{edits}}{\mathrm{words\ of\ the\ reference}}",
        _texts("ter", 'ter(["the cat sat on the mat"], ["the cat sat on a mat now today"]).value'),
        "37.5",
        "One word is replaced and two are added, over 8 words.",
    ),
    "rouge": Worked(
        PAIRED + r", \qquad s = \mathrm{F}_1 \mathrm{\ of\ the\ longest\ common\ subsequence}",
        _texts(
            "rouge",
            *ALIGNED_TEXTS,
            "round(rouge(texts, references).value, 4)",
        ),
        "0.8571",
        "Three words in common: precision 3/3, recall 3/4, and F1 = 6/7.",
    ),
    "bert_score_precision": Worked(
        r"\frac{\sum_j w(u_j) \max_i u_j \cdot v_i}{\sum_j w(u_j)}",
        TOKEN_VECTORS + ">>> scores.precision.value\n",
        "0.5",
        f"{COSINES}the second is orthogonal to it: (1 + 0) / 2.",
    ),
    "bert_score_recall": Worked(
        r"\frac{\sum_i w(v_i) \max_j u_j \cdot v_i}{\sum_i w(v_i)}",
        TOKEN_VECTORS + ">>> scores.recall.value\n",
        "1.0",
        f"{COSINES}so the best cosine of the reference token is 1.",
    ),
    "bert_score_f1": Worked(
        r"\frac{2\, P R}{P + R}",
        TOKEN_VECTORS + ">>> round(scores.f1.value, 4)\n",
        "0.6667",
        "Precision is 1/2 and recall 1 (see their pages): 2 · ½ / 1½.",
    ),
    "mover_score": Worked(
        r"1 - \tfrac{1}{2} \mathrm{WMD}, \qquad \mathrm{WMD} = \min_\pi \sum_{i,j} \pi_{ij} \lVert "
        r"u_i - v_j \rVert",
        """\
>>> from calipers.metrics import mover_score
>>> text, reference = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]]
>>> round(float(mover_score([text], [reference]).value), 4)
""",
        "0.5858",
        "Half of the text's mass is at the reference token, the other half moves by √2.",
    ),
}

HALF_AND_EIGHTH = "logs = np.log([1 / 2, 1 / 8])"
LIKELIHOODS = {
    "perplexity": Worked(
        r"\exp\left( -\frac{1}{T} \sum_t \log p(w_t \mid w_{<t}) \right)",
        _logs("perplexity", HALF_AND_EIGHTH, "round(perplexity(logs), 6)"),
        "4.0",
        "Two tokens of probability 1/2 and 1/8: (1/16)^(−1/2).",
    ),
    "word_perplexity": Worked(
        r"\exp\left( -\frac{1}{W} \sum_t \log p(w_t \mid w_{<t}) \right), \qquad W = "
        r"\mathrm{words}",
        _logs("perplexity", HALF_AND_EIGHTH, "round(perplexity(logs, units=4), 6)"),
        "2.0",
        "Two tokens of probability 1/2 and 1/8 that make up 4 words: (1/16)^(−1/4).",
    ),
    "byte_perplexity": Worked(
        r"\exp\left( -\frac{1}{B} \sum_t \log p(w_t \mid w_{<t}) \right), \qquad B = "
        r"\mathrm{bytes}",
        _logs("perplexity", HALF_AND_EIGHTH, "round(perplexity(logs, units=8), 4)"),
        "1.4142",
        "Two tokens of probability 1/2 and 1/8 that make up 8 bytes: (1/16)^(−1/8) = √2.",
    ),
    "bits_per_byte": Worked(
        r"-\frac{1}{B} \sum_t \log_2 p(w_t \mid w_{<t}), \qquad B = \mathrm{bytes}",
        _logs("bits_per_byte", HALF_AND_EIGHTH, "round(bits_per_byte(logs, 8), 6)"),
        "0.5",
        "Two tokens of 1 and 3 bits that make up 8 bytes: 4/8.",
    ),
    "mean_log_probability": Worked(
        r"\frac{1}{m} \sum_j \sum_t \log p(w_{jt} \mid w_{j,<t})",
        _logs(
            "sums_by_text",
            "logs = np.log([1 / 2, 1 / 8, 1 / 4])",
            "sums_by_text(logs, np.array([0, 2, 3])).mean().round(4).item()",
        ),
        "-2.0794",
        "Two texts, of tokens of probability 1/2 and 1/8, and 1/4: (log 1/16 + log 1/4) / 2.",
    ),
    "unigram_entropy": Worked(
        r"\frac{1}{m} \sum_j \left( -\sum_v \frac{c_{jv}}{|y_j|} \log \frac{c_{jv}}{|y_j|} "
        r"\right)",
        _logs(
            "unigram_entropy",
            "tokens = np.array([0, 1, 0, 1, 2, 2], np.int32)",
            "unigram_entropy(tokens, np.array([0, 4, 6])).round(4).tolist()",
        ),
        "[0.6931, 0.0]",
        "The first text has two tokens twice each: log 2. The second has one alone: 0.",
    ),
    "conditional_surprise": Worked(
        r"a_n = \mathrm{mean} \left( -\frac{1}{B_n} \log_2 p(y_n \mid y_1, \dots, y_{n-1}) \right)",
        _logs("conditional_surprise", "conditional_surprise(np.array([2.0, 1.0]))"),
        "1.5",
        "Two texts, each the last of its context, still need 2 and 1 bits per byte.",
    ),
    "decan": Worked(
        r"C \cdot a_n, \qquad C = 2^{-\mathrm{mean\ bits\ per\ byte\ of\ a\ text\ on\ its\ own}}",
        _logs(
            "decan",
            "last, alone = np.array([2.0, 1.0]), np.array([1.0, 3.0])",
            "decan(last, alone)",
        ),
        "0.375",
        "In context the texts need 1.5 bits per byte on average, on their own 2: 2^(−2) · 1.5.",
    ),
    "sparsemax_score": Worked(
        r"1 - \tfrac{1}{2} \lVert e_w - q \rVert^2 = \tfrac{1}{2} + q_w - \tfrac{1}{2} \sum_v "
        r"q_v^2",
        _logs(
            "sparsemax_scores",
            "sparsemax_scores(np.array([0.75, 0.25]), np.array([0.625, 0.625])).tolist()",
        ),
        "[0.9375, 0.4375]",
        "q = (3/4, 1/4): ½ + ¾ − ½ · 0.625 for the first token, ½ + ¼ − ½ · 0.625 for the other.",
    ),
    "epsilon_perplexity": Worked(
        r"\exp\left( -\frac{1}{T} \sum_t \log \frac{q(w_t) + \varepsilon}{1 + \varepsilon |V|} "
        r"\right)",
        _logs(
            "epsilon_perplexity",
            "q = np.array([0.5, 0.0])",
            "round(epsilon_perplexity(q, 4, epsilon=0.25), 4)",
        ),
        "4.6188",
        "With ε = 1/4 and 4 tokens, 1/2 and 0 become 3/8 and 1/8: (3/64)^(−1/2).",
    ),
    "decoder_divergence": Worked(
        r"\mathrm{JS}(e_w, q) = \tfrac{1}{2} \mathrm{KL}(e_w \Vert r) + \tfrac{1}{2} \mathrm{KL}(q "
        r"\Vert r), \qquad r = \tfrac{1}{2} (e_w + q)",
        _logs("jensen_shannon", "jensen_shannon(np.array([0.0, 1.0])).round(4).tolist()"),
        "[0.6931, 0.0]",
        "A token that the decoder leaves out is at the largest distance, log 2; one that it is "
        "sure of at 0.",
    ),
    "mauve": Worked(
        MODELS + r"\mathrm{area\ under} \left( e^{-c\, \mathrm{KL}(Q \Vert R_\lambda)},\; e^{-c\, "
        r"\mathrm{KL}(P' \Vert R_\lambda)} \right)",
        MODEL_RATIOS + ">>> round(divergence_frontier(ratios).area(c=5), 3)\n",
        "0.695",
        "Each side has a sample that its own model finds 4 times as likely, and one that both find "
        "alike.",
    ),
    "frontier_integral": Worked(
        MODELS + INTEGRAL.replace("D_f(P", r"\mathrm{KL}(P'").replace("D_f", r"\mathrm{KL}"),
        MODEL_RATIOS + ">>> round(divergence_frontier(ratios).integral(), 4)\n",
        "0.1303",
        "Each side has a sample that its own model finds 4 times as likely, and one that both find "
        "alike.",
    ),
    "midpoint": Worked(
        MODELS + MIDPOINT.replace("D_f(P", r"\mathrm{KL}(P'").replace("D_f", r"\mathrm{KL}"),
        MODEL_RATIOS + ">>> round(divergence_frontier(ratios).midpoint(), 4)\n",
        "0.0964",
        "On either side, the mean of log(0.4 / 0.25) and of log(0.4 / 0.4).",
    ),
}

WORKED = {"embeddings": EMBEDDINGS, "texts": TEXTS, "likelihoods": LIKELIHOODS}
"""By kind of metric and its name."""

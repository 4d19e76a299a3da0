"""Assessing generative models via precision and recall, NeurIPS 2018."""

from __future__ import annotations

from reproduction.item import Item, Source

DIGITS = "Digits in place of the images."
BLENDS = DIGITS + " Low quality: blends of two digits; few modes: the first few digits."
TRAINED = (
    "Digits in place of the images, as pixels and by the hidden layer of a small classifier. GANs "
    "and VAEs trained by digit_generators.py, every one at settings drawn at random."
)
INCEPTION = "Inception-v3 (pool3) features"
PHOTOGRAPHS = "Photographs."

SOURCE = Source(
    "prd",
    "Assessing Generative Models via Precision and Recall",
    "Sajjadi, Bachem, Lucic, Bousquet and Gelly, NeurIPS 2018",
    "The curves of known distributions are computed in closed form. The paper's trained GANs and "
    "VAEs are not at hand,\nand its figures have no numbers. *Digits*: the 1,797 digits of "
    "scikit-learn (8 × 8 pixels, as they are), with modes\ndropped, invented or blended. "
    "*Photographs*: 120 of each class of CIFAR-10's test set, EfficientNet-Lite0 in place of\n"
    "Inception, on 128 principal axes; 20 clusters, 10 repetitions.",
    (
        Item(
            "prd-figure-1",
            "Figure 1, models trained here on digits",
            "Pairs of GANs on MNIST and CelebA with similar FID (32 and 29, 65 and 62): one more "
            "precise, the other more varied.",
            "other models or data",
            "runs_trained:prd_figure_1",
            TRAINED + " Of all pairs whose Fréchet distances differ by at most 5 % on half of the "
            "images, the one with the greatest contrast.",
            ("the four trained GANs or their samples", "MNIST and CelebA", INCEPTION),
            "calipers compare -r celeba/ left/ right/ --embedder inception "
            "--metrics frechet_distance,prd_f8,prd_f1_8 --save run.zip\ncalipers plot curves "
            "run.zip --output curves.pdf",
            ("images.md",),
        ),
        Item(
            "prd-figure-1-photographs",
            "Figure 1, on photographs",
            "The same contrast: sharp photographs of few classes, and blurred ones of all.",
            "other models or data",
            "runs_pictures:prd_figure_1",
            PHOTOGRAPHS + " Stand-ins for the GANs: of three classes drawn in each trial, as they "
            "are; of all ten, blurred, by the strength of the nearest Fréchet distance.",
            ("the four trained GANs or their samples", "MNIST and CelebA", INCEPTION),
            see=("images.md",),
            exceptions={
                "precision (k-NN) of right and left": "blurred photographs lie in the balls around "
                "sharp ones as often as sharp ones do: k-NN precision does not see this blur, "
                "which F1/8 sees in some trials.",
                "recall (k-NN) of left and right": "blurred photographs lie close together, and "
                "fewer sharp ones in the balls around them.",
            },
        ),
        Item(
            "prd-figure-2",
            "Figure 2",
            "Six pairs of distributions over two modes.",
            "own experiment",
            "runs_curves:prd_figure_2",
            "Two equal modes; 95 to 5 where the drawing is noisy, which it leaves open.",
            see=("divergences.md",),
        ),
        Item(
            "prd-figure-3",
            "Figure 3",
            "Their PRD curves.",
            "own experiment",
            "runs_curves:prd_figure_3",
            see=("divergences.md",),
        ),
        Item(
            "prd-theorem-1",
            "Theorem 1",
            "Six properties of the set of attainable pairs.",
            "own experiment",
            "runs_curves:prd_theorem_1",
        ),
        Item(
            "prd-figure-4",
            "Figure 4, theorem 2 and section 3.4",
            "The curve as a union of segments of α = λβ; at λ = 1 both are 1 minus the total "
            "variation.",
            "own experiment",
            "runs_curves:prd_figure_4",
        ),
        Item(
            "prd-figure-5-left",
            "Figure 5, left",
            "Inception score and FID of CIFAR-10 as classes are added: FID does not tell dropped "
            "from invented.",
            "other models or data",
            "runs_digits:prd_figure_5_left",
            DIGITS + " A logistic regression in place of Inception; 20 divisions.",
            ("CIFAR-10", INCEPTION),
            "calipers compare -r five/ q4/ q6/ --embedder inception --metrics frechet_distance",
            ("images.md",),
        ),
        Item(
            "prd-figure-5-middle",
            "Figure 5, middle",
            "PRD curves of the same sets: invented modes cost precision, dropped ones recall.",
            "other models or data",
            "runs_digits:prd_figure_5_middle",
            DIGITS,
            ("CIFAR-10", INCEPTION),
            "calipers compare -r five/ q4/ q6/ --embedder inception "
            "--metrics prd_f8,prd_f1_8 --save run.zip\ncalipers plot curves run.zip --output "
            "curves.pdf",
            ("images.md",),
        ),
        Item(
            "prd-figure-3-photographs",
            "Figures 2 and 3, on photographs",
            "The four shapes of curves, with classes of CIFAR-10 for modes.",
            "other models or data",
            "runs_pictures:prd_figure_3",
            PHOTOGRAPHS + " Classes overlap where modes of the drawing do not.",
            ("pictures whose kinds do not overlap, as the drawn modes do not",),
            see=("images.md",),
        ),
        Item(
            "prd-figure-5-photographs",
            "Figure 5, left and middle, on CIFAR-10",
            "The same on photographs: classes dropped and invented, by Fréchet distance, inception "
            "score and PRD, with k-NN precision and recall beside them.",
            "other models or data",
            "runs_pictures:prd_figure_5",
            PHOTOGRAPHS + " Q1 to Q10 have 60 pictures of each of their classes.",
            ("the 10,000 test and 50,000 training images of CIFAR-10", INCEPTION),
            "calipers compare -r five/ q4/ q6/ --embedder inception "
            "--metrics frechet_distance,prd_f8,prd_f1_8",
            ("images.md",),
        ),
        Item(
            "prd-classes",
            "Section 4.1, class by class",
            "Each class of CIFAR-10 dropped alone, and invented alone.",
            "other models or data",
            "runs_pictures:prd_classes",
            PHOTOGRAPHS
            + " What is lost is lost beside a set of the same size that lacks a tenth of "
            "every class. Not in the paper, which adds classes in their order.",
            ("the 10,000 test and 50,000 training images of CIFAR-10", INCEPTION),
            see=("images.md",),
        ),
        Item(
            "prd-figure-5-right",
            "Figure 5, right",
            "PRD curves of sentences of one to five MultiNLI genres against all five.",
            "other models or data",
            "runs_news:prd_figure_5_right",
            "The four topics of AG News, MiniLM in place of the BiLSTM.",
            ("MultiNLI", "the BiLSTM sentence encoder of Conneau et al. (2017)"),
            "calipers compare -r five.jsonl one.jsonl five-again.jsonl --metrics prd_f8 "
            "--save run.zip\ncalipers plot curves run.zip --output curves.pdf",
        ),
        Item(
            "prd-figure-6",
            "Figure 6",
            "Two GANs on MNIST with FID 49: few digits of high quality, all digits of low quality.",
            "other models or data",
            "runs_digits:prd_figure_6",
            BLENDS + " The blend is the one of the nearest Fréchet distance; 8 trials.",
            ("the two trained GANs or their samples", "MNIST", INCEPTION),
            "calipers compare -r mnist/ left/ right/ --embedder inception --metrics "
            "frechet_distance,prd_f8,prd_f1_8",
        ),
        Item(
            "prd-figure-7",
            "Figure 7",
            "F1/8 against F8 of 800 GANs and VAEs on Fashion-MNIST, with four models in the "
            "corners.",
            "other models or data",
            "runs_digits:prd_figure_7",
            BLENDS + " Only the four corners, 8 trials.",
            (
                "seven kinds of GANs and the VAE with 100 settings each (Lucic et al., 2018)",
                "Fashion-MNIST",
                INCEPTION,
            ),
            "calipers compare -r fashion/ models/* --embedder inception --metrics prd_f8,prd_f1_8 "
            "--save run.zip\ncalipers plot f-scores run.zip --output f-scores.pdf",
            ("plots.md",),
        ),
        Item(
            "prd-figure-7-models",
            "Figure 7, models trained here on digits",
            "F1/8 against F8: GANs are more precise, VAEs more varied.",
            "other models or data",
            "runs_trained:prd_figure_7",
            TRAINED + " Networks are fully connected and learn for 2,000 to 8,000 steps.",
            (
                "the GANs and VAEs of Lucic et al. (2018) on the three data sets",
                "MNIST, CIFAR-10 and CelebA",
                INCEPTION,
            ),
            "calipers compare -r mnist/ models/* --embedder inception --metrics prd_f8,prd_f1_8",
            exceptions={
                "F1/8 of VAEs and GANs, pixels": "as pixels a part of the GANs have not learned "
                "the digits: 6 of 16 have an F8 below 0.2, of the VAEs 2. PRD with 20 cells "
                "as pixels may also miss the blur of a VAE's means.",
                "precision (k-NN) of VAEs and GANs, pixels": "the means that a VAE draws lie close "
                "together among the digits: in the balls around digits, while few digits are in "
                "the balls around them.",
                "precision (k-NN) of VAEs and GANs, hidden layer of a classifier": "(the same)",
            },
        ),
        Item(
            "prd-figure-7-trained",
            "Figure 7, a VAE and a GAN trained here",
            "F1/8 and F8 of a VAE and a GAN over training, beside photographs that neither has "
            "seen.",
            "other models or data",
            "runs_pictures:prd_figure_7",
            PHOTOGRAPHS + " One small VAE and one small GAN, trained on 1,500 photographs of "
            "CIFAR-10, for 58 seconds of processor time each (800 and 400 steps). That is too "
            "little: neither draws anything that lies where photographs do, so the claim is not "
            "tested.",
            (
                "seven kinds of GANs and the VAE with 100 settings each (Lucic et al., 2018)",
                INCEPTION,
            ),
            "calipers compare -r cifar/ models/* --embedder inception --metrics prd_f8,prd_f1_8",
            ("images.md",),
        ),
        Item(
            "prd-figure-8",
            "Figure 8 (appendix)",
            "PRD sees losses of variety within classes, which the inception score does not.",
            "other models or data",
            "runs_digits:prd_figure_8",
            DIGITS + " All digits alike often, each from ever fewer images; 100 cells.",
            ("the GAN samples of the appendix",),
        ),
        Item(
            "prd-figure-9",
            "Figure 9 (appendix)",
            "The clusters of k-means hold alike images.",
            "other models or data",
            "runs_digits:prd_figure_9",
            DIGITS,
            ("the embedded images of the appendix",),
        ),
        Item(
            "prd-figure-9-photographs",
            "Figure 9 (appendix), on CIFAR-10",
            "Clusters of features hold pictures of one class more often than clusters of pixels.",
            "other models or data",
            "runs_pictures:prd_figure_9",
            PHOTOGRAPHS,
            ("the embedded images of the appendix",),
        ),
        Item(
            "prd-figure-10",
            "Figure 10 (appendix)",
            "Precision against the entropy of p(y|x), recall against that of p(y), over models.",
            "other models or data",
            "runs_digits:prd_figure_10",
            BLENDS + " Forty stand-ins.",
            ("the 800 GANs and VAEs of figure 7",),
        ),
        Item(
            "prd-figure-10-photographs",
            "Figure 10 (appendix), on photographs",
            "The same over photographs of two to ten classes, blurred or not.",
            "other models or data",
            "runs_pictures:prd_figure_10",
            PHOTOGRAPHS + " Thirty stand-ins; a logistic regression of the ten classes.",
            ("the 800 GANs and VAEs of figure 7",),
        ),
        Item(
            "prd-figure-10-trained",
            "Figure 10 (appendix), models trained here on digits",
            "The same over GANs and VAEs.",
            "other models or data",
            "runs_trained:prd_figure_10",
            TRAINED + " Entropies by that classifier.",
            ("the 800 GANs and VAEs of figure 7",),
        ),
        Item(
            "prd-figure-11",
            "Figure 11 (appendix)",
            "Figure 5 for MNIST and Fashion-MNIST.",
            "not run",
            needs=("MNIST and Fashion-MNIST", INCEPTION),
            differs="Digits of scikit-learn: figure 5, left and middle.",
            would="calipers compare -r five/ q4/ q6/ --embedder inception --metrics "
            "frechet_distance,prd_f8,prd_f1_8",
        ),
        Item(
            "prd-figures-appendix",
            "Further figures of the appendix",
            "Figure 7 for MNIST, CIFAR-10 and CelebA.",
            "not run",
            needs=(
                "the GANs and VAEs of Lucic et al. (2018) on the three data sets",
                "MNIST, CIFAR-10 and CelebA",
                INCEPTION,
            ),
            differs="Models trained here on digits, and two on CIFAR-10: see figure 7.",
            would="calipers compare -r celeba/ models/* --embedder inception --metrics "
            "prd_f8,prd_f1_8",
        ),
    ),
)

"""MAUVE scores for generative models: theory and practice, JMLR 2023."""

from __future__ import annotations

from reproduction.item import Item, Source

GPT2 = (
    "GPT-2 small, medium, large and xl with 5,000 continuations of each decoding and five seeds "
    "(pickled tokens, linked in krishnap25/mauve-experiments, download_generations.md)"
)
WEBTEXT = "WebText test set (5,000 prompts of 35 tokens)"
EMBEDDER = "GPT-2 large as the embedder"
TEXTS = (GPT2, WEBTEXT, EMBEDDER)
CONTINUED = "N-gram models."
STYLEGAN = "samples of StyleGAN, StyleGAN2-ADA, StyleGAN3 and StyleGAN-XL, and NCSN++"
FACES = "FFHQ (70,000 faces)"
COMPARE = (
    "calipers compare -r webtext.jsonl small.jsonl large.jsonl xl.jsonl --embedder ./gpt2-large"
)

SOURCE = Source(
    "mauve",
    "MAUVE Scores for Generative Models: Theory and Practice",
    "Pillutla et al., JMLR 2023",
    "Theory, simulations and correlations of printed tables are computed. The samples of GPT-2, "
    "Grover and StyleGAN are\nnot at hand. *N-gram models* of orders 1 to 3 stand for GPT-2: they "
    "continue the first ten words of 500 items of AG\nNews, with MiniLM in place of GPT-2 large "
    "and 50 cells. [Decoding](decoding.md) has GPT-2-shaped models.",
    (
        Item(
            "mauve-figure-1",
            "Figure 1",
            "The frontier: no other distribution is nearer to P and to Q than a mixture of both.",
            "own experiment",
            "runs_curves:mauve_figure_1",
            see=("divergences.md",),
        ),
        Item(
            "mauve-figure-2",
            "Figure 2",
            "The transformer, and how a text is decoded from it.",
            "no measurement",
            differs="`calipers generate` decodes, `calipers embed --embedder FOLDER` reads states.",
            see=("language_models.md", "embedders.md"),
        ),
        Item(
            "mauve-figure-3",
            "Figure 3",
            "MAUVE is the area under the curve, exp(-2 Mid) that of a rectangle under it.",
            "own experiment",
            "runs_curves:mauve_figure_3",
        ),
        Item(
            "mauve-figure-4",
            "Figure 4",
            "A distribution on the plane, cut into cells.",
            "own experiment",
            "runs_digits:mauve_figure_4",
            "Two Gaussians of KL 0.5 and cells of joint k-means; the drawing has no numbers.",
        ),
        Item(
            "mauve-figure-5",
            "Figure 5",
            "Missing mass of a sample, and what adding 1/2 to counts does.",
            "own experiment",
            "runs_estimation:mauve_figure_5",
            "Zipf(1) over ten cells, 20 samples.",
            see=("smoothing.md",),
        ),
        Item(
            "mauve-table-1",
            "Table 1",
            "Constants of the error bounds for eight divergences.",
            "own experiment",
            "runs_estimation:mauve_table_1",
            "The row of the interpolated χ² lacks the factor (1 - λ)², with which it is the χ² of "
            "P from the "
            "mixture and gives Le Cam's row at λ = 1/2.",
            see=("divergences.md", "bounds.md"),
        ),
        Item(
            "mauve-table-2",
            "Table 2",
            "What three smoothings add to a count.",
            "own experiment",
            "runs_estimation:mauve_table_2",
            see=("smoothing.md",),
        ),
        Item(
            "mauve-figure-6",
            "Figure 6 (a to d)",
            "Error of the frontier integral by five estimators on synthetic distributions.",
            "own experiment",
            "runs_estimation:mauve_figure_6",
            "The paper's own simulation, 40 trials a point; its curves have no numbers, so that "
            "its claims in words are held against ours, trial by trial. That Krichevsky-Trofimov "
            "is "
            "a safe rule of thumb has exceptions in (c) and (d).",
            see=("smoothing.md",),
            exceptions={
                "(a) Zipf(0) and Dir(½), k = 1,000: Good-Turing or Krichevsky-Trofimov has the "
                "best "
                "error": "at n = k = 1,000, the smallest sample, Braess-Sauer has a smaller error "
                "than both; at the other six sizes none has.",
            },
        ),
        Item(
            "mauve-figure-7",
            "Figure 7 and proposition 13",
            "Cells by the ratio of the densities lose O(1/k) of a divergence.",
            "own experiment",
            "runs_estimation:mauve_figure_7",
            "Two Gaussians a unit apart, cells of equal mass of their mean; the drawing has three.",
            see=("bounds.md",),
        ),
        Item(
            "mauve-algorithm-1",
            "Algorithm 1",
            "MAUVE by vector quantisation.",
            "own experiment",
            "runs_estimation:mauve_algorithm_1",
            "Two Gaussian clouds; joint cells from Calipers, all after them by hand. Tests hold "
            "the same "
            "beside mauve-text.",
        ),
        Item(
            "mauve-algorithm-2",
            "Algorithm 2",
            "MAUVE by nearest neighbours.",
            "own experiment",
            "runs_estimation:mauve_algorithm_2",
            "The sample itself is left out and its own side counted once more, so that no ratio "
            "is infinite.",
            see=("estimators.md",),
        ),
        Item(
            "mauve-table-3",
            "Table 3",
            "Tasks, models, data and sample sizes.",
            "no measurement",
            differs="Its data are what is named as missing below.",
        ),
        Item(
            "mauve-table-4",
            "Table 4, web text",
            "Worst-case rank correlations of six metrics with three human judgements.",
            "own experiment",
            "runs_published:mauve_table_4_web",
            "From the printed tables 5 and 18, whose lost minus signs follow from their mean of 0.",
            see=("rankings.md",),
            exceptions={
                "rep and human_like": "REP is printed with one digit that is not zero, so that "
                "systems tie "
                "and none of its three correlations can be made again.",
                "rep and interesting": "(the same)",
                "rep and sensible": "(the same)",
                "self_bleu and human_like": "two systems tie by Self-BLEU at the printed digits, "
                "and share a rank.",
            },
        ),
        Item(
            "mauve-table-4-news",
            "Table 4, news",
            "Rank correlations of the metrics with a discriminator's accuracy on Grover's news.",
            "other models or data",
            "runs_published:mauve_table_4_news",
            "From the nine printed rows of table 13, which hold the best p of five alone and two "
            "ties of 100.000; the interval is that of systems drawn from many.",
            needs=("the rows of table 13 for the other nucleus parameters",),
            would="calipers rank news.csv --truth accuracy.csv --reference human",
        ),
        Item(
            "mauve-table-4-stories",
            "Table 4, stories",
            "The same on stories, from table 14.",
            "own experiment",
            "runs_published:mauve_table_4_stories",
            "From the printed rows of table 14.",
            exceptions={
                "rep and the discriminator": "three systems tie by REP at its three printed digits."
            },
        ),
        Item(
            "mauve-table-5-pairs",
            "Table 5, disagreements (section 7.1)",
            "The pairs of models on which MAUVE and people disagree.",
            "own experiment",
            "runs_published:mauve_table_5",
            "From the printed tables 5 and 18.",
        ),
        Item(
            "mauve-table-5",
            "Table 5",
            "Six metrics of GPT-2 of four sizes by four decodings on web text.",
            "other models or data",
            "runs_decoding:mauve_table_5",
            CONTINUED,
            (*TEXTS, "2,160 human comparisons"),
            COMPARE + " --metrics mauve_star",
            ("decoding.md",),
            {
                "difference of perplexity from people's, read by a model of other texts: greedy, "
                "ancestral": "greedy text is further from people's perplexity than ancestral "
                "sampling, where a model that read other texts scores both; the paper's scorer is "
                "the generator."
            },
        ),
        Item(
            "mauve-table-6",
            "Table 6",
            "Beam search beside greedy decoding and sampling.",
            "other models or data",
            "runs_decoding:mauve_table_6",
            CONTINUED + " Beams of 4 alone; 200 texts, 20 cells.",
            TEXTS,
            COMPARE + " --metrics mauve_star",
            ("decoding.md",),
            {
                "MAUVE*: greedy, beam 4, the same without repeats, ancestral, nucleus": "ancestral "
                "sampling of the n-gram model is above its nucleus of 0.9 with these 200 texts."
            },
        ),
        Item(
            "mauve-table-7",
            "Table 7",
            "Locally typical sampling by τ, beside the nucleus.",
            "other models or data",
            "runs_decoding:mauve_table_7",
            CONTINUED,
            TEXTS,
            COMPARE + " --metrics mauve_star",
            ("decoding.md",),
        ),
        Item(
            "mauve-figure-8",
            "Figures 8 and 22",
            "Scores against the length of the texts.",
            "other models or data",
            "runs_decoding:mauve_figure_8",
            CONTINUED + " Both sides cut to 4 to 24 words; the panels of perplexity and of the "
            "sparsemax score are `calipers likelihood --match-length`.",
            TEXTS,
            "calipers sweep --over length -r webtext.jsonl small.jsonl large.jsonl xl.jsonl "
            "--embedder ./gpt2-large --values 128,256,512,1024 "
            "--metrics mauve_star,frechet_distance",
            ("decoding.md",),
            {
                "Fréchet distance": "from 4 to 24 words the Fréchet distance of the n-gram model "
                "rises at each step, and so is right where the paper finds it wrong, on GPT-2 and "
                "texts of up to 1,024 tokens."
            },
        ),
        Item(
            "mauve-figure-9",
            "Figure 9, estimators",
            "MAUVE by quantisation, neighbours, kernels, a classifier and Gaussians.",
            "other models or data",
            "runs_estimation:mauve_figure_9",
            CONTINUED
            + " Rank correlation with MAUVE* over thirteen decodings of 1,000 texts, 100 cells, "
            "ratios averaged over both sides or over the other side (equation 25); intervals over "
            "texts. *KL*: mean of 8 draws of 2,000 from two Gaussians in three dimensions.",
            TEXTS,
            "calipers sweep --over axes -r webtext.jsonl small.jsonl large.jsonl xl.jsonl "
            "--embedder ./gpt2-large --values 2,5,10,20,50,100",
            ("sweeps.md", "estimators.md"),
            {
                "form, gaussian, other side": "averages "
                "over the other side (equation 25) say the same of all sets that are far apart, "
                "and "
                "rank the decodings by what is left.",
            },
        ),
        Item(
            "mauve-figure-9-cells",
            "Figure 9, the number of cells",
            "Rank correlation with the default by the quantisation size k.",
            "other models or data",
            "runs_decoding:mauve_figure_9",
            CONTINUED + " Thirteen decodings.",
            TEXTS,
            "calipers sweep --over buckets -r webtext.jsonl small.jsonl large.jsonl xl.jsonl "
            "--embedder ./gpt2-large --values 10,50,100,500,1000",
            ("sweeps.md", "estimators.md"),
        ),
        Item(
            "mauve-table-8-published",
            "Table 8, correlation",
            "MAUVE with and without smoothing rank alike.",
            "own experiment",
            "runs_published:mauve_table_8",
            "From the twelve printed rows.",
        ),
        Item(
            "mauve-table-8",
            "Table 8",
            "MAUVE with and without smoothing, and empty bins.",
            "other models or data",
            "runs_decoding:mauve_table_8",
            CONTINUED + " Thirteen decodings.",
            TEXTS,
            COMPARE + " --metrics mauve,mauve_star",
            ("smoothing.md",),
        ),
        Item(
            "mauve-figure-10",
            "Figure 10",
            "MAUVE from the probabilities of two models fails to rank decodings.",
            "other models or data",
            "runs_decoding:mauve_figure_10",
            CONTINUED + " The model of order 3 stands for people, that of order 1 or 2 generates.",
            needs=(GPT2, "GPT-2 xl in place of the human distribution"),
            would="calipers likelihood samples.jsonl -r webtext.jsonl --model ./gpt2-xl "
            "--generator ./gpt2-large "
            "--decoding top_p=0.95 --metrics mauve",
            see=("likelihood.md",),
        ),
        Item(
            "mauve-table-9-mauve",
            "Tables 9, 10 and 11, the column of MAUVE*",
            "Worst-case correlation of MAUVE* with three human judgements.",
            "own experiment",
            "runs_published:mauve_table_9",
            "From the printed tables 5 and 18.",
        ),
        Item(
            "mauve-table-9",
            "Tables 9 and 16",
            "Seven summaries and divergences rank alike.",
            "other models or data",
            "runs_decoding:mauve_table_9",
            CONTINUED
            + " Thirteen decodings. The printed rows of table 16 reached us with digits of two "
            "rows "
            "mixed, so that its correlations cannot be made again.",
            TEXTS,
            COMPARE + " --metrics mauve_star,frontier_integral_star",
            ("divergences.md",),
        ),
        Item(
            "mauve-table-10",
            "Figures 11 and 12, tables 10 and 17",
            "Optimal transport costs, and MAUVE of optimal transport.",
            "other models or data",
            "runs_decoding:mauve_table_10",
            CONTINUED
            + " Thirteen decodings. The printed rows of table 17 reached us as those of table 16.",
            TEXTS,
            COMPARE + " --metrics mauve_star,frechet_distance,mauve_ot",
        ),
        Item(
            "mauve-figure-13",
            "Figures 13 and 14",
            "Two embeddings of one kind of texts rank alike.",
            "other models or data",
            "runs_decoding:mauve_figure_13",
            CONTINUED + " MiniLM by meaning and by form in place of GPT-2, Grover and RoBERTa.",
            (GPT2, "Grover base, large and mega with their news", "RoBERTa large", WEBTEXT),
            "calipers agree -r webtext.jsonl small.jsonl large.jsonl xl.jsonl --embedders "
            "./gpt2-large "
            "--embedders ./roberta-large --metrics mauve_star",
            ("agreement.md",),
        ),
        Item(
            "mauve-table-11",
            "Figure 15 and table 11",
            "MAUVE by GloVe and by two string kernels: words suffice, strings do not.",
            "other models or data",
            "runs_decoding:mauve_table_11",
            CONTINUED
            + " TF-IDF in place of GloVe; thirteen decodings; 150 texts a side for the kernels. "
            "The "
            "paper's numbers of strings are worst cases against people.",
            (*TEXTS, "GloVe vectors (840B tokens, 300 dimensions)"),
            COMPARE.replace("./gpt2-large", "./glove.840B.300d.txt") + " --metrics mauve_star",
            ("agreement.md", "text.md"),
        ),
        Item(
            "mauve-figure-16",
            "Figure 16",
            "Permuted words: GPT-2's MAUVE sees them, GloVe's does not.",
            "other models or data",
            "runs_decoding:mauve_figure_16",
            CONTINUED + " TF-IDF in place of GloVe.",
            (*TEXTS, "GloVe vectors (840B tokens, 300 dimensions)"),
            "calipers probe webtext.jsonl --embedder ./gpt2-large --changes word_shuffle",
            ("embedders.md",),
        ),
        Item(
            "mauve-figure-17",
            "Figure 17",
            "Precision and recall by model size, p and length.",
            "other models or data",
            "runs_decoding:mauve_figure_17",
            CONTINUED,
            TEXTS,
            COMPARE + " --metrics precision,recall --k 5\ncalipers sweep --over length "
            "-r webtext.jsonl large.jsonl --embedder ./gpt2-large --metrics precision,recall",
            ("sweeps.md", "decoding.md"),
            {
                "precision, p = 0.9, 0.95, 0.99, 1": "the precision of the n-gram model is higher "
                "from the nucleus than by ancestral sampling, as the paper expected and did not "
                "find with GPT-2.",
                "precision, 4, 8, 16, 24 words": "precision is highest at 8 words, beyond noise "
                "above 16 and 24 words.",
            },
        ),
        Item(
            "mauve-figure-18",
            "Figure 18",
            "StyleGAN2-ADA on faces by its truncation ψ: MAUVE and Fréchet distance are best at ψ "
            "= 1.",
            "other models or data",
            "runs_digits:mauve_figure_18",
            "A Gaussian fitted to each digit of scikit-learn is the generator; raw pixels; 400 "
            "images, 40 cells, 8 trials.",
            (STYLEGAN, FACES, "Inception-v3 features"),
            "calipers compare -r ffhq/ psi-0.7/ psi-1.0/ --embedder inception "
            "--metrics mauve_star,frechet_distance,precision,recall",
            ("images.md",),
        ),
        Item(
            "mauve-figure-19",
            "Figure 19",
            "Four versions of StyleGAN by MAUVE, Fréchet distance, precision, recall.",
            "not run",
            needs=(STYLEGAN, FACES, "Inception-v3 features"),
            would="calipers compare -r ffhq/ v1/ v2/ v3/ xl/ --embedder inception "
            "--metrics mauve_star,frechet_distance,precision,recall",
        ),
        Item(
            "mauve-table-12",
            "Table 12 and figure 20",
            "StyleGAN2-ADA beside the diffusion model NCSN++.",
            "not run",
            needs=("samples of StyleGAN2-ADA and NCSN++ (5,000 each)", FACES, "DINOv2 ViT-L/14"),
            would="calipers compare -r ffhq/ stylegan2/ ncsnpp/ --embedder ./dinov2-large "
            "--buckets 100 "
            "--metrics mauve_star,frechet_distance",
        ),
        Item(
            "mauve-figure-21",
            "Figure 21",
            "Error of the frontier integral and its bounds, by n and by k.",
            "other models or data",
            "runs_estimation:mauve_figure_21",
            "AG News by MiniLM and synthetic clusters in place of GPT-2's texts and StyleGAN's "
            "faces; 30 trials "
            "a point, three points a panel; bounds over 30, as in the paper.",
            (GPT2, STYLEGAN, FACES),
            "python research/experiments/bounds.py --plot bounds.svg",
            ("bounds.md",),
        ),
        Item(
            "mauve-table-13",
            "Table 13",
            "Metrics of Grover's news; its correlations are table 4, news.",
            "not run",
            needs=(
                "Grover base, large and mega with their published news",
                "RealNews (April 2019)",
                "Grover large as the discriminator",
            ),
            would="calipers compare -r realnews.jsonl base.jsonl large.jsonl mega.jsonl "
            "--embedder ./gpt2-large",
        ),
        Item(
            "mauve-table-14",
            "Table 14",
            "Metrics of stories by GPT-2 medium; its correlations are table 4, stories.",
            "not run",
            needs=(
                "GPT-2 medium, fine-tuned on WritingPrompts for an epoch",
                "GPT-2 large, trained as a discriminator of each decoding",
                EMBEDDER,
            ),
            would="calipers compare -r writing_prompts.jsonl sampling.jsonl nucleus.jsonl "
            "top-k.jsonl "
            "--embedder ./gpt2-large",
        ),
        Item(
            "mauve-table-15",
            "Table 15",
            "Sparsemax score, Jensen-Shannon divergence and ε-perplexity.",
            "other models or data",
            "runs_decoding:mauve_table_15",
            CONTINUED + " Order 3 alone, read from people's continuations.",
            needs=(GPT2, WEBTEXT),
            would="calipers likelihood webtext.jsonl --model ./gpt2-large --decoding top_p=0.95 "
            "--metrics sparsemax_score,epsilon_perplexity,decoder_divergence",
            see=("likelihood.md",),
        ),
        Item(
            "mauve-figure-23",
            "Figure 23",
            "MAUVE by p of the nucleus and by K of top-K.",
            "other models or data",
            "runs_decoding:mauve_figure_23",
            CONTINUED,
            TEXTS,
            "calipers tune --model ./gpt2-large -r webtext.jsonl --over top_p=0.9,0.95,0.99,1.0",
            ("decoding.md",),
        ),
        Item(
            "mauve-figure-24",
            "Figures 24 and 25",
            "The form that people filled in, and its examples.",
            "no measurement",
            differs="`calipers annotate` serves a form with the same three questions.",
            see=("annotate.md",),
        ),
        Item(
            "mauve-table-18",
            "Table 18",
            "Bradley-Terry scores of nine sources by three questions, and what they predict.",
            "own experiment",
            "runs_published:mauve_table_18",
            "From the printed scores. The crowd's raw answers (krishnap25/mauve-experiments) are "
            "not at hand; `examples/judgements/` holds simulated ones.",
            ("mauve-human-eval-anon.csv of the authors' repository of experiments",),
            "python research/experiments/mauve_judgements.py mauve-human-eval-anon.csv "
            "--output pairs.csv\n"
            "calipers rank examples/rankings/webtext_scores.csv --judgements pairs.csv "
            "--reference human",
            ("judgements.md", "rankings.md"),
            exceptions={
                "people win against small nucleus": "the text gives this chance for GPT-2 small "
                "with the nucleus; it is the one of GPT-2 small with sampling, in the next line.",
                "Spearman of human_like and sensible, nine sources": "the caption of the table "
                "has the last two of these correlations the other way round.",
                "Spearman of interesting and sensible, nine sources": "(the same)",
            },
        ),
    ),
)

"""Exploring precision and recall to assess the quality and diversity of LLMs, ACL 2024."""

from __future__ import annotations

from reproduction.item import Item, Source

LLMS = (
    "Llama-2 7B, 13B and 70B with their chat models, Vicuna 7B, Mistral 7B and Mistral 7B "
    "Instruct, "
    "Pythia 6.9B and 12B (about 4,200 GPU hours for all samples, by the paper)"
)
WEBTEXT = "WebText test samples (openai/gpt-2-output-dataset)"
GPT2 = "GPT-2 large as the embedder"
BIOGRAPHIES = "the 6,637 Wikipedia biographies of the authors' supplement"
CONTINUED = "The n-gram model."
MAIN = (
    "calipers compare -r reference.jsonl llama-2-7b.jsonl llama-2-7b-chat.jsonl --embedder "
    "./gpt2-large"
)

SOURCE = Source(
    "precision_recall",
    "Exploring Precision and Recall to assess the quality and diversity of LLMs",
    "Le Bronnec, Verine et al., ACL 2024",
    "Its models and generated texts are not at hand. What rests on definitions or on AG News is "
    "computed. For LLMs stands\n*the n-gram model* of order 3: it continues the first ten words "
    "of 500 items of AG News, people's own continuations\nare the reference, and MiniLM is in "
    "place of GPT-2 large, without projection.",
    (
        Item(
            "pr-figure-1",
            "Figure 1",
            "Precision against recall of eleven LLMs on WebText: chat models are more precise and "
            "less varied.",
            "other models or data",
            "runs_news:pr_figure_1",
            "Two models without a chat model between them: stories of GPT-2 XL (1.5B) and "
            "GPT-NeoX (20B) on "
            "WritingPrompts, 500 each, MiniLM. Only the claim on sizes can be looked at.",
            (LLMS, WEBTEXT, GPT2),
            MAIN + " --metrics precision,recall --save run.zip\ncalipers plot plane run.zip "
            "--output plane.pdf",
            ("plots.md", "experiments.md"),
        ),
        Item(
            "pr-figure-2",
            "Figure 2",
            "MAUVE gives a set that lacks a topic and one that invents topics about the same "
            "score; precision "
            "and recall tell them apart.",
            "other models or data",
            "runs_news:pr_figure_2",
            "The paper's own experiment on AG News (its test set, one split); MiniLM in place of "
            "GPT-2 large.",
            (GPT2,),
            "calipers compare -r world_sports.jsonl q1.jsonl q2.jsonl q3.jsonl --embedder "
            "./gpt2-large",
            ("experiments.md",),
        ),
        Item(
            "pr-figure-3",
            "Figure 3",
            "Images of faces: precise and alike (P near 0.95, R near 0), varied and poor (both "
            "near 0.4).",
            "not run",
            "",
            "The numbers are those of Kynkäänniemi et al. (2019). The same contrast on digits: "
            "figure A.2.",
            needs=(
                "CelebA or FFHQ images and the two StyleGAN sample sets of Kynkäänniemi et al.",
                "VGG-16 features",
            ),
            would="calipers compare -r celeba/ precise/ varied/ --embedder ./vision-model "
            "--metrics precision,recall",
        ),
        Item(
            "pr-figure-4",
            "Figure 4",
            "Precision is the share of Q inside the support of P, recall the share of P inside "
            "that of Q.",
            "own experiment",
            "runs_curves:pr_figure_4",
            "Uniform distributions on boxes, whose overlap is known; k = 4 and N = 4,000 as in "
            "the paper.",
        ),
        Item(
            "pr-figure-5",
            "Figure 5",
            "The pipeline: embed, PCA of the union to 90 % of the variance, k-NN supports, shares "
            "inside.",
            "own experiment",
            "runs_curves:pr_figure_5",
            "Vectors in place of embedded texts. By default Calipers does not project, since the "
            "union's axes "
            "follow the generated set; `--projection union` does as the paper.",
            see=("experiments.md",),
        ),
        Item(
            "pr-figure-6",
            "Figure 6",
            "Precision and recall against the number of samples N, k = 4: a plateau from about "
            "3,000.",
            "other models or data",
            "runs_precision_recall:pr_figure_6",
            CONTINUED + " N ends at 250, below the paper's plateau.",
            ("10,000 continuations by Llama-2 7B Chat for each of five seeds", WEBTEXT, GPT2),
            "calipers sweep --over n -r webtext.jsonl llama-2-7b-chat.jsonl --embedder "
            "./gpt2-large "
            "--metrics precision,recall --seeds 5",
            ("sweeps.md",),
        ),
        Item(
            "pr-figure-7a",
            "Figure 7a",
            "Correlations of precision, recall and MAUVE with Self-BLEU and Distinct-n over "
            "models.",
            "other models or data",
            "runs_precision_recall:pr_figure_7a",
            CONTINUED + " Thirteen decodings stand for the models.",
            (LLMS, BIOGRAPHIES, GPT2),
            "calipers rank scores.json --matrix --kind pearson --plot correlations.pdf",
            ("rankings.md",),
            {
                "precision and distinct_4": "over decodings of one model precision goes with "
                "Distinct-4; over LLMs it does not."
            },
        ),
        Item(
            "pr-figure-7b",
            "Figure 7b",
            "The same with ratings of GPT-3.5-turbo: coherence, insight, plausibility, diversity.",
            "not run",
            needs=(LLMS, BIOGRAPHIES, "GPT-3.5-turbo as it was in 2023 or 2024, behind an API"),
            would="calipers judge biographies.jsonl --model "
            "https://api.openai.com/v1#gpt-3.5-turbo --rubric biographies --output ratings.jsonl",
            differs="The rubric `biographies` has the paper's three scales in our own words; the "
            "authors' stand in appendix B.2, for `--rubric FILE`.",
            see=("judge.md",),
        ),
        Item(
            "pr-figure-8",
            "Figure 8 (a and b)",
            "Precision and recall of biographies by the number of examples in the prompt.",
            "not run",
            needs=(LLMS, BIOGRAPHIES, GPT2),
            would="calipers generate --model ./Llama-2-7b --task biographies --prompts "
            "people.jsonl --shots 4 "
            "--output 4-shots.jsonl\n"
            "calipers compare -r people.jsonl 4-shots.jsonl --embedder ./gpt2-large --metrics "
            "precision,recall",
            see=("language_models.md",),
        ),
        Item(
            "pr-table-1",
            "Table 1 (a and b)",
            "Overlap of five chat models on creative prompts, with Llama-2 70B and with Mistral "
            "7B as the reference.",
            "other models or data",
            "runs_news:pr_table_1",
            "Stories of GPT-2 XL and GPT-NeoX in place of the chat models.",
            ("the five chat models", GPT2),
            "calipers overlap llama-2-70b-chat.jsonl mistral-7b-instruct.jsonl --embedder "
            "./gpt2-large",
            ("overlap.md",),
        ),
        Item(
            "pr-table-1-swap",
            "Table 1, the pair that both halves hold",
            "Precision of one model by another is recall of the other by the first.",
            "own experiment",
            "runs_published:pr_table_1_swap",
            "From the printed numbers; equal within the printed deviations.",
        ),
        Item(
            "pr-figure-a1",
            "Figure A.1 and equation 3",
            "P and Q as mixtures of a common part and of what is left on each side.",
            "own experiment",
            "runs_curves:pr_figure_a1",
        ),
        Item(
            "pr-equation-f",
            "The F-score of appendix A.1",
            "F of a curve, printed with the factor (1 + γ)².",
            "own experiment",
            "runs_curves:pr_equation_f",
            "The factor is 1 + γ² (Sajjadi et al.); with the printed one the F-score of equal "
            "sets is above 1.",
        ),
        Item(
            "pr-figure-a2",
            "Figure A.2",
            "PR-curves of a precise and of a varied set of MNIST digits.",
            "other models or data",
            "runs_digits:pr_figure_a2",
            "Digits of scikit-learn (8 × 8 pixels): Q1 holds three digits as they are, Q2 blends "
            "of any two.",
            ("MNIST, and the samples of both sets",),
            "calipers compare -r mnist/ q1/ q2/ --embedder pixels --metrics prd_f8,prd_f1_8 "
            "--save run.zip\ncalipers plot curves run.zip --output curves.pdf",
            ("images.md",),
        ),
        Item(
            "pr-figure-a3",
            "Figure A.3",
            "PR-curves and MAUVE's frontiers of the AG News sets of figure 2.",
            "other models or data",
            "runs_news:pr_figure_a3",
            "MiniLM in place of GPT-2 large; curves by their F-scores.",
            (GPT2,),
            "calipers compare -r world_sports.jsonl q1.jsonl q3.jsonl --embedder ./gpt2-large "
            "--metrics prd_f8,prd_f1_8 --save run.zip\ncalipers plot curves run.zip --output "
            "curves.pdf",
            ("experiments.md",),
        ),
        Item(
            "pr-figure-a4",
            "Figure A.4",
            "F8 and F1/8 of both curves as topics are added: MAUVE's do not show the missing "
            "topic.",
            "other models or data",
            "runs_news:pr_figure_a4",
            "MiniLM in place of GPT-2 large.",
            (GPT2,),
            "calipers compare -r world_sports.jsonl 1-topic.jsonl 4-topics.jsonl --embedder "
            "./gpt2-large "
            "--metrics prd_f8,prd_f1_8,frontier_f8,frontier_f1_8",
            ("experiments.md",),
        ),
        Item(
            "pr-figure-a5",
            "Figure A.5",
            "Correlations of precision, recall, MAUVE, F8 and F1/8: the F-scores go with "
            "precision.",
            "other models or data",
            "runs_precision_recall:pr_figure_a5",
            CONTINUED + " Thirteen decodings stand for the models.",
            (LLMS, BIOGRAPHIES, GPT2),
            "calipers rank scores.json --matrix --kind pearson",
        ),
        Item(
            "pr-table-b1",
            "Table B.1",
            "Correlation of precision and recall between embedders.",
            "other models or data",
            "runs_precision_recall:pr_table_b1",
            CONTINUED
            + " MiniLM by form and TF-IDF beside MiniLM by meaning, over thirteen decodings.",
            (
                LLMS,
                BIOGRAPHIES,
                "GPT-2 large and xl, OPT-1.3b, Gemma-2b, BART large, RoBERTa large",
            ),
            "calipers agree -r biographies.jsonl a.jsonl b.jsonl c.jsonl --embedders ./gpt2-large "
            "--embedders ./roberta-large --metrics precision,recall",
            ("agreement.md",),
        ),
        Item(
            "pr-table-b2",
            "Table B.2",
            "Tokens per word of four tokenizers on WebText.",
            "not run",
            needs=("the tokenizers of Mistral 7B, Pythia, Llama-2 and Vicuna", WEBTEXT),
            would="calipers text webtext.jsonl --metrics mean_length --tokenizer hf:Llama-2-7b",
        ),
        Item(
            "pr-table-b3",
            "Table B.3",
            "Prompts for continuing WebText, for chat and other models.",
            "no measurement",
            differs="`calipers generate --task continue --prompt-words 10 --chat` asks after their "
            "meaning; `--instructions FILE` takes the authors' own, from table B.3.",
            see=("language_models.md",),
        ),
        Item(
            "pr-table-b4",
            "Table B.4",
            "Decoding parameters: top-p, temperature, repetition penalty.",
            "no measurement",
            differs="`--decoding temperature=0.6,top_p=0.9,repetition_penalty=1.18 --max-tokens "
            "448` and so on.",
            see=("language_models.md",),
        ),
        Item(
            "pr-figure-b1",
            "Figure B.1 (a and b)",
            "Precision and recall against N (as figure 6), and against k from 1 to 30: they rise "
            "towards 1.",
            "other models or data",
            "runs_precision_recall:pr_figure_b1",
            CONTINUED + " N = 500 in place of 4,000. That neither share can fall follows from the "
            "definition.",
            ("10,000 continuations by Llama-2 7B Chat", WEBTEXT, GPT2),
            "calipers sweep --over k -r webtext.jsonl llama-2-7b-chat.jsonl --embedder "
            "./gpt2-large "
            "--metrics precision,recall",
            ("sweeps.md",),
        ),
        Item(
            "pr-table-b5",
            "Table B.5",
            "Standard deviations over draws of Q, of P and of both.",
            "other models or data",
            "runs_precision_recall:pr_table_b5",
            CONTINUED
            + " Five draws of 250; the paper's 4,000 deviate less, so that there is no verdict. "
            "References of ours are drawn from one pool of 500 and share texts.",
            (LLMS, WEBTEXT, GPT2),
            MAIN + " --metrics precision,recall",
            ("certainty.md",),
        ),
        Item(
            "pr-figure-b2",
            "Figure B.2",
            "MAUVE of the models on WebText: chat and other models alike.",
            "not run",
            needs=(LLMS, WEBTEXT, GPT2),
            would=MAIN + " --metrics mauve",
        ),
        Item(
            "pr-time",
            "Time of appendix B.3",
            "Precision and recall of 4,000 samples take less than five seconds on a laptop.",
            "own experiment",
            "runs_curves:pr_time",
            "Random vectors of 1,280 numbers; processor time of all cores together. The time "
            "itself "
            "is not kept, as it varies.",
            see=("performance.md",),
        ),
        Item(
            "pr-table-b6",
            "Table B.6",
            "Prompts for biographies, for chat and other models.",
            "no measurement",
            differs="`calipers generate --task biographies` asks after their meaning; "
            "`--instructions FILE` takes the authors' own, from table B.6.",
            see=("language_models.md",),
        ),
        Item(
            "pr-listing-1",
            "Listing 1",
            "Fifty creative instructions.",
            "no measurement",
            differs="`calipers generate --task creative` asks fifty after the same ideas in words "
            "of our own; `--instructions FILE` takes the authors' own, from listing 1, one a line.",
            see=("language_models.md",),
        ),
        Item(
            "pr-table-d1",
            "Tables D.1 and D.2",
            "Biographies of a model that repeats itself (low recall), and of one that is varied "
            "and poor "
            "(low precision, high recall).",
            "other models or data",
            "runs_precision_recall:pr_table_d1",
            "The demo's near copies of five paragraphs, and its Markov chain, against Python's "
            "documentation.",
            ("Mistral 7B Instruct v0.2 with one example, Llama-2 7B with eleven", BIOGRAPHIES),
            "calipers compare -r people.jsonl mistral.jsonl llama.jsonl --embedder ./gpt2-large",
        ),
    ),
)

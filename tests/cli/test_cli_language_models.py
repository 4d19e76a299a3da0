"""``generate``, ``likelihood`` and ``tune`` with models of transformers: what a stranger types."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from extras import need

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
TEXTS = [
    "If there is a bird in the tree, it sings until the evening comes.",
    "The cat sat on the mat and nobody in the house knows why it did.",
    "Once I caught a fish alive, and then I let it go again, of course.",
    "A walk in the morning is good for people who sit the whole day.",
    "Two words",
]


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> Path:
    """Tiny models with random weights: folders by name."""
    need("torch")
    transformers = need("transformers")
    path = Path(__file__).parents[1] / "language_model" / "causal_zoo.py"
    spec = importlib.util.spec_from_file_location("causal_zoo", path)
    zoo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zoo)
    root = tmp_path_factory.mktemp("models")
    marks = {"bos_token": "<s>", "eos_token": "</s>"}
    with zoo.quiet():
        zoo.save(root / "short", "gpt2")
        zoo.save(root / "gpt2", "gpt2", n_positions=256)
        zoo.save(root / "chat", "gpt2", n_positions=256)
        tokenizer = transformers.AutoTokenizer.from_pretrained(root / "chat")
        tokenizer.chat_template = CHAT
        tokenizer.save_pretrained(root / "chat")
        zoo.save(root / "judge", "gpt2", n_positions=8192)
        tokenizer.chat_template = NO_SYSTEM + CHAT
        tokenizer.save_pretrained(root / "judge")
        zoo.save(root / "plain", "gpt2", n_positions=8192)
        zoo.save_model(root / "untokenized", "gpt2")
        zoo.save_model(root / "unmarked", "gpt2")
        zoo.save_tokenizer(root / "unmarked")
        config = transformers.BertConfig(
            vocab_size=zoo.VOCABULARY, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=32, max_position_embeddings=48,
        )  # fmt: skip
        for name in ("BertModel", "BertForMaskedLM"):
            getattr(transformers, name)(config).save_pretrained(root / name)
            zoo.save_tokenizer(root / name, **marks)
    return root


@pytest.fixture
def texts(calipers, models, monkeypatch) -> Path:
    """Files of texts in the working folder, with the models beside them."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write("human.jsonl", [{"text": text} for text in TEXTS])
    write("people.jsonl", [{"name": f"P. {i}", "text": "was a cat."} for i in range(5)])
    Path("models").symlink_to(models)
    return Path()


def write(path, rows) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def rows(path="out.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def generate(calipers, *more, model="models/gpt2"):
    """A small run; what is said later counts."""
    return calipers("generate", "-m", model, "--max-tokens", "8", "-o", "out.jsonl", *more)


def one_sentence(result) -> str:
    """What a refusal says, which ends with code 2 and shows no traceback."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    said = [line for line in result.output.splitlines() if line.startswith("calipers: ")]
    assert len(said) == 1
    return said[0].removeprefix("calipers: ")


# Generate -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("texts")
def test_first_words_are_continued_and_left_out(calipers):
    result = generate(calipers, "--prompts", "human.jsonl", "--prompt-words", "3")
    assert result.exit_code == 0, result.output
    assert "1 text of human.jsonl has no more than 3 words" in " ".join(result.output.split())
    found = rows()
    assert [row["prompt"] for row in found] == [" ".join(t.split()[:3]) for t in TEXTS[:4]]
    assert [row["prompt_id"] for row in found] == ["0", "1", "2", "3"]
    assert not any(row["text"].startswith(row["prompt"]) for row in found)
    kept = generate(
        calipers, "--prompts", "human.jsonl", "--prompt-words", "3", "--keep-prompt", "-o",
        "kept.jsonl",
    )  # fmt: skip
    assert kept.exit_code == 0
    for row, bare in zip(rows("kept.jsonl"), found, strict=True):
        assert row["text"].startswith(row["prompt"])
        assert row["text"].endswith(bare["text"])


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    "decoding",
    ["temperature=0.8,top_k=40", "greedy", "beam=3,no_repeat_ngram=2", "contrastive=0.6,top_k=4"],
)
def test_decodings_are_recorded_in_full(calipers, decoding):
    result = generate(calipers, "--n", "3", "--decoding", decoding, "--json", "-")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    named = dict(part.split("=") for part in decoding.split(",") if "=" in part)
    held = data["configuration"]["decoding"]
    assert {key: held[key] for key in named} == {key: float(v) for key, v in named.items()}
    assert {"generation_config", "top_p"}.isdisjoint(held)
    assert all(row["decoding"] == held for row in rows())


@pytest.mark.usefixtures("texts")
def test_adversarial_takes_its_perplexity_from_the_reference(calipers):
    def target(*more):
        result = generate(calipers, "--n", "2", "--decoding", "adversarial", "--force", *more)
        assert result.exit_code == 0, result.output
        return rows()[0]["decoding"]["adversarial"]

    write("other.jsonl", [{"text": "z z z z z z q q q q x x x x x x x"}] * 3)
    words = ("--prompts", "human.jsonl", "--prompt-words", "3")
    human = target("--reference", "human.jsonl", *words)
    assert human > 1
    assert human == target("--reference", "human.jsonl", "--prompt-words", "3")
    assert human != target("--reference", "other.jsonl", *words)


@pytest.mark.usefixtures("texts")
def test_the_chat_form_and_instructions(calipers):
    words = ("--prompts", "human.jsonl", "--prompt-words", "3", "--n", "1", "--chat")
    result = generate(calipers, *words, "--keep-prompt", model="models/chat")
    assert result.exit_code == 0, result.output
    assert rows()[0]["text"].startswith(rows()[0]["prompt"])
    creative = ("--task", "creative", "--n", "2", "--keep-prompt", "--force")
    assert generate(calipers, *creative, "--chat", model="models/chat").exit_code == 0
    assert all(row["text"].startswith(f"{row['prompt']}\n\n") for row in rows())


@pytest.mark.usefixtures("texts")
def test_biographies_with_their_examples(calipers):
    people = ("--task", "biographies", "--prompts", "people.jsonl", "--shots", "2", "--n", "2")
    result = generate(calipers, *people)
    assert result.exit_code == 0, result.output
    assert [row["prompt"] for row in rows()] == ["- Biography of"] * 2
    assert generate(calipers, *people, "--keep-prompt", "--force").exit_code == 0
    assert all(row["text"].count("- Biography of P.") == 2 for row in rows())


BAD = [
    (["--prompts", "human.jsonl", "--prompt-words", "9", "--max-tokens", "40"], "short",
     "longer than the context of"),
    (["--max-tokens", "47"], "short", None),
    (["--max-tokens", "48"], "short", "1 tokens and 48 more (max_tokens) are longer than the "
     "context of 'short', 48 tokens; lower max_tokens to 47"),
    (["--prompts", "blank.jsonl"], "gpt2", "blank.jsonl: no text has a prompt"),
    (["--prompts", "none.jsonl"], "gpt2", "none.jsonl: is empty"),
    (["--prompts", "nowhere.jsonl"], "gpt2", "nowhere.jsonl: there is no such file"),
    (["--prompt-words", "2"], "gpt2", "there is nothing to continue: give --prompts FILE"),
    (["--n", "2"], "unmarked", "so sample 0 needs a prompt; found an empty one"),
    (["--prompts", "human.jsonl", "--chat"], "gpt2", "'gpt2' has no chat template"),
    (["--chat"], "chat", "--chat needs something to ask: give --prompts FILE"),
    (["--n", "2"], "BertModel", "not a causal language model: it is a bert model (BertModel)"),
    (["--n", "2"], "BertForMaskedLM", "it is a bert model (BertForMaskedLM)"),
    (["--n", "2"], "untokenized", "holds a gpt2 model, but no tokenizer"),
    (["--n", "2"], "nowhere", "models/nowhere"),
    (["--decoding", "top_p=1.5"], "gpt2", "top_p must be above 0 and at most 1; found '1.5'"),
    (["--decoding", "temperature=-1"], "gpt2", "temperature must be a number above 0"),
    (["--decoding", "temperature=nan"], "gpt2", "found 'nan'"),
    (["--decoding", "beam=4,temperature=2"], "gpt2", "beam and temperature cannot be combined"),
    (["--decoding", "adversarial"], "gpt2", "give them with --reference FILE"),
    (["--decoding", "adversarial", "-r", "human.jsonl", "--prompt-words", "5", "--prompts",
      "long.jsonl", "--reference", "blank2.jsonl"], "gpt2", "no text has more than 5 words"),
    (["--n", "0"], "gpt2", "--n must be a whole number of at least 1; found '0'"),
    (["--max-tokens", "0"], "gpt2", "--max-tokens must be a whole number of at least 1"),
    (["--task", "biographies"], "gpt2", "--task biographies needs --prompts FILE"),
    (["--task", "biographies", "--prompts", "human.jsonl"], "gpt2", "no line has a group 'name'"),
    (["--task", "biographies", "--prompts", "people.jsonl", "--shots", "6"], "gpt2",
     "shots must be at most 5, the number of biographies; found 6"),
    (["--task", "creative", "--prompts", "human.jsonl"], "gpt2", "takes no prompts of a person's"),
    (["--dtype", "bfloat16"], "gpt2", "--dtype must be float32 or auto; found 'bfloat16'"),
    (["-o", "out.json"], "gpt2", "to a file ending in .jsonl"),
    (["-o", "nowhere/out.jsonl"], "gpt2", "there is no folder"),
]  # fmt: skip


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(("given", "model", "words"), BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(calipers, given, model, words):
    write("blank.jsonl", [{"text": "", "prompt": ""}, {"text": "a", "prompt": " "}])
    write("blank2.jsonl", [{"text": "a b"}])
    write("long.jsonl", [{"text": "a b c d e f g"}])
    Path("none.jsonl").touch()
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    result = generate(calipers, *given, model=f"models/{model}")
    if words is None:
        assert result.exit_code == 0
        return
    assert words in one_sentence(result)
    after = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert after == before


@pytest.mark.usefixtures("texts")
def test_a_name_that_is_not_on_this_machine(calipers):
    said = one_sentence(generate(calipers, "--offline", model="nobody-has-this"))
    assert said.startswith("the model 'nobody-has-this' is not on this machine")
    said = one_sentence(generate(calipers, model="./nobody"))
    assert "there is no such folder" in said
    assert "the language model 'ngram' need no download" in said


@pytest.mark.usefixtures("texts")
def test_samples_of_another_configuration_are_kept(calipers):
    assert generate(calipers, "--n", "2").exit_code == 0
    before = Path("out.jsonl").read_bytes()
    for other, what in (
        (["--seed", "1"], "seed is 0 there and 1 here"),
        (["--decoding", "greedy"], 'decoding is {"method": "sample"} there'),
        (["--max-tokens", "9"], "max_tokens is 8 there and 9 here"),
        (["--prompts", "human.jsonl"], 'task is "none" there and "continue" here'),
    ):
        assert what in one_sentence(generate(calipers, "--n", "2", *other))
    assert "model is" in one_sentence(generate(calipers, "--n", "2", model="models/chat"))
    assert Path("out.jsonl").read_bytes() == before
    assert generate(calipers, "--n", "4").exit_code == 0
    assert rows()[:2] == [json.loads(line) for line in before.splitlines()]


@pytest.mark.slow
@pytest.mark.usefixtures("texts")
def test_a_damaged_file_or_journal_is_named_and_kept(calipers):
    assert generate(calipers, "--n", "3").exit_code == 0
    whole, manifest = Path("out.jsonl").read_bytes(), Path("out.jsonl.manifest.json").read_bytes()
    Path("out.jsonl").write_bytes(whole[:-9] + b"\n")
    assert "out.jsonl: line 3 is damaged" in one_sentence(generate(calipers, "--n", "3"))
    assert Path("out.jsonl").read_bytes() == whole[:-9] + b"\n"
    Path("out.jsonl").write_bytes(whole)
    Path("out.jsonl.manifest.json").write_bytes(manifest[:20])
    said = one_sentence(generate(calipers, "--n", "3"))
    assert said.startswith("out.jsonl.manifest.json: is damaged")
    Path("out.jsonl").unlink()
    head = json.dumps({"configuration": json.loads(manifest)["configuration"]}).encode()
    torn = b"\n".join([head, *whole.splitlines()[:2]])  # the last line has no end
    Path("out.jsonl.part").write_bytes(torn)
    result = generate(calipers, "--n", "3")
    assert result.exit_code == 0, result.output
    assert "1 of them already existed" in result.stdout
    assert Path("out.jsonl").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.usefixtures("texts")
def test_a_stopped_run_goes_on_where_it_was():
    command = [
        sys.executable, "-m", "calipers", "generate", "-m", "models/gpt2", "--decoding", "beam=4",
        "--n", "320", "--max-tokens", "60", "-q", "-o", "out.jsonl",
    ]  # fmt: skip
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    journal, until = Path("out.jsonl.part"), time.monotonic() + 120
    while time.monotonic() < until and run.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") > 5:
            run.send_signal(signal.SIGINT)
            break
        time.sleep(0.01)
    _, said = run.communicate()
    if run.returncode == 0:
        pytest.skip("the run was over before it could be stopped")
    assert run.returncode == 130
    assert said.strip().endswith("the same command continues from there.")
    kept = journal.read_bytes().count(b"\n") - 1
    subprocess.run(command, check=True)
    manifest = json.loads(Path("out.jsonl.manifest.json").read_text("utf-8"))
    assert manifest["new"] == 320 - kept
    stopped = Path("out.jsonl").read_bytes()
    os.remove("out.jsonl")
    subprocess.run(command, check=True)
    assert Path("out.jsonl").read_bytes() == stopped


# Likelihood ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("texts")
def test_samples_are_scored_given_their_prompts_with_the_space_between(calipers):
    assert generate(calipers, "--prompts", "human.jsonl", "--prompt-words", "3").exit_code == 0
    write("parted.jsonl", [{"text": t.split(" ", 3)[3], "prompt": " ".join(t.split()[:3])}
                           for t in TEXTS[:4]])  # fmt: skip
    write("whole.jsonl", [{"text": t, "prompt": " ".join(t.split()[:3])} for t in TEXTS[:4]])
    values = []
    for path in ("parted.jsonl", "whole.jsonl", "out.jsonl"):
        given = (path, "-m", "models/gpt2", "--given-prompt", "--json", "-")
        result = calipers("likelihood", *given)
        assert result.exit_code == 0, result.output
        (system,) = json.loads(result.stdout)["systems"]
        values.append(system["statistics" if "statistics" in system else "scores"]["perplexity"])
    assert values[0] == values[1]


@pytest.mark.slow
@pytest.mark.usefixtures("texts")
def test_kept_log_probabilities_give_the_same(calipers):
    given = ("likelihood", "human.jsonl", "--json", "-", "-q", "-m")
    first = calipers(*given, "models/gpt2", "--log-probabilities", "kept.npz")
    assert first.exit_code == 0, first.output
    again = calipers(*given, "kept.npz")
    assert json.loads(again.stdout)["systems"] == json.loads(first.stdout)["systems"]
    said = one_sentence(calipers(*given, "kept.npz", "--stride", "3"))
    assert "was made without --stride, which must be left out here too" in said


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("given", "model", "words"),
    [
        ([], "BertModel", "not a causal language model"),
        ([], "untokenized", "no tokenizer"),
        (["--stride", "0"], "gpt2", "--stride must be a whole number of at least 1"),
        (["--stride", "48"], "short", "at most 47, one less than the context; found 48"),
        (["--given-prompt"], "gpt2", "needs the field 'prompt' in its rows"),
        (["--first-token", "bos"], "unmarked", "first must be 'skip'; found 'bos'"),
        (["--decoding", "beam=4"], "gpt2", "found 'beam=4'"),
        (["--decoding", "top_p=0"], "gpt2", "top_p must be above 0 and at most 1; found '0'"),
        (["--log-probabilities", "kept.txt"], "gpt2", "a file that ends in .npz"),
    ],
)
def test_likelihood_refuses_in_one_sentence(calipers, given, model, words):
    result = calipers("likelihood", "human.jsonl", "-m", f"models/{model}", *given)
    assert words in one_sentence(result)


# Tune ---------------------------------------------------------------------------------------------


def tune(calipers, *more):
    given = ("-r", "human.jsonl", "-m", "models/gpt2", "--max-tokens", "8", "--n", "40")
    return calipers("tune", *given, "--embedder", "tfidf", "--no-floor", *more)


@pytest.mark.slow
@pytest.mark.usefixtures("texts")
def test_a_grid_is_saved_shown_and_drawn(calipers):
    over = ("--over", "temperature=0.5,1.0", "--over", "top_p=0.8,1.0", "--samples", "runs")
    result = tune(calipers, *over, "--save", "run.zip", "--html", "page.html")
    assert result.exit_code == 0, result.output
    names = [f"temperature={t},top_p={p}" for t in ("0.5", "1") for p in ("0.8", "1")]
    assert sorted(p.name for p in Path("runs").glob("*.jsonl")) == sorted(
        f"{name}.jsonl" for name in names
    )
    shown = calipers("show", "run.zip")
    table = [line.split()[0] for line in shown.stdout.splitlines() if line.startswith("tem")]
    briefs = [name for name in table if name.count("=") == 2]
    assert len(set(briefs)) >= 4  # none is cut so that it reads like another, values are whole
    assert calipers("plot", "parameter", "run.zip", "-o", "p.svg").exit_code == 0
    figure = Path("p.svg").read_text("utf-8")
    assert ">top_p<" in figure
    assert ">temperature=0.5<" in figure
    assert "top_p" in Path("page.html").read_text("utf-8")
    before = {path: path.read_bytes() for path in Path("runs").iterdir()}
    again = tune(calipers, *over)
    assert again.exit_code == 0
    assert {path: path.read_bytes() for path in Path("runs").iterdir()} == before


@pytest.mark.usefixtures("texts")
def test_samples_of_another_tuning_are_refused_before_any_is_written(calipers):
    Path("runs").mkdir()
    other = ("--n", "2", "--decoding", "top_p=0.9", "-o", "runs/top_p=0.9.jsonl")
    assert generate(calipers, *other).exit_code == 0
    over = ("--over", "top_p=0.8,0.9", "--samples", "runs", "--seed", "1")
    said = one_sentence(tune(calipers, *over))
    assert "top_p=0.9.jsonl: holds samples of another configuration: seed is 0 there" in said
    assert said.endswith("choose another folder with --samples, or take the file away")
    assert not Path("runs/top_p=0.8.jsonl").exists()


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--metrics", "nonsense"], "unknown metric 'nonsense'"),
        (["--embedder", "nonsense", "--offline"], "the model 'nonsense' is not on this machine"),
        (["--n", "3"], "k = 4 needs at least 5 samples in every set; it has 3"),
        (["--over", "temperature=0.9,0"], "temperature must be a number above 0"),
        (["--decoding", "beam=3"], "beam and top_p cannot be combined"),
        (["--chat"], "needs something to ask"),
        (["--prompt-words", "99"], "no text has more than 99 words"),
        (["--plot", "t.gif"], "must name a file ending in .png, .pdf or .svg"),
    ],
)
def test_tune_refuses_before_anything_is_written(calipers, given, words):
    result = tune(calipers, "--over", "top_p=0.8,0.9", "--samples", "runs", *given)
    assert words in one_sentence(result)
    assert not Path("runs").exists() or not any(Path("runs").iterdir())


# Judge --------------------------------------------------------------------------------------------


def judge(calipers, *more, model="models/judge"):
    given = ("judge", "-m", model, "human.jsonl", "others.jsonl", "-o", "out.csv")
    return calipers(*given, "--max-tokens", "6", "--repeat-share", "0", *more)


@pytest.fixture
def others(texts):
    write("others.jsonl", [{"text": f"{text} So be it."} for text in TEXTS])


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("model", ["models/judge", "models/plain"])
def test_a_model_that_answers_nonsense_is_reported_and_is_an_error(calipers, model):
    result = judge(calipers, "--per-pair", "2", "--json", "out.json", model=model)
    assert result.exit_code == 2, result.output
    told = result.stderr.splitlines()[-1]
    assert told.startswith("calipers: no answer can be used, so that nothing is judged: ")
    assert told.endswith("Answers are kept: the same command does not ask for them again.")
    assert "calipers rank" not in result.output
    said = " ".join(result.output.split())
    assert "4 of 4 answers cannot be read, even after asking again" in said
    assert ("has no chat template" in said) == (model == "models/plain")
    counts = json.loads(Path("out.json").read_text())["judges"][Path(model).name]["counts"]
    assert (counts["malformed"], counts["asked_again"], counts["new"]) == (4, 4, 8)
    assert Path("out.csv").read_text().count("\n") == 1
    (kept,) = Path("out.answers").glob("*.jsonl")
    assert len(rows(kept)) == 8


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["-m", "models/nowhere"], "nowhere"),
        (["-m", "models/gpt2"], "are longer than the context of 'gpt2'"),
        (["-m", "models/gpt2"], "--max-words N shows less of each text"),
        (["-m", "ngram"], "model must be one that follows instructions; found 'ngram'"),
        (["--task", "poems"], "--task must be pairs or quality or diversity; found 'poems'"),
        (["--repeat-share", "2"], "--repeat-share must be a number from 0 to 1; found '2'"),
        (["--rubric", "none.toml"], "none.toml: there is no such file"),
        (["--rubric", "human.jsonl"], "human.jsonl: a rubric is a file that ends in .toml, .yaml"),
        (["--people", "human.jsonl"], "human.jsonl: holds no judgements"),
        (["-o", "out.txt"], "out.txt: judgements are written to a file ending in .csv or .jsonl"),
        (
            ["-o", "human.jsonl"],
            "human.jsonl: the file already exists and was not written by calipers judge",
        ),
        (["--opponents", "3"], "opponents must be at most 1, as there are 2 systems; found 3"),
        (["--dry-run", "--html", "x.html"], "--dry-run judges nothing that --html could hold"),
        (["--task", "diversity"], "has 5 texts to be rated, but a batch is of 10"),
    ],
)
def test_what_cannot_be_judged_is_one_sentence(calipers, given, words):
    before = Path("human.jsonl").read_bytes()
    model = ["-m", "models/judge"] if "-m" not in given else []
    command = ("judge", "human.jsonl", "others.jsonl", "-o", "out.csv", *model, *given)
    assert words in one_sentence(calipers(*command))
    assert Path("human.jsonl").read_bytes() == before
    assert not Path("out.csv").exists()
    assert not list(Path().glob("*.answers"))


@pytest.mark.usefixtures("others")
def test_a_dry_run_loads_no_model(calipers):
    result = judge(calipers, "--dry-run", "--price", "1,2", "--json", "-", model="models/nowhere")
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert plan["judges"][0]["name"] == "models/nowhere"
    assert plan["items"] == 5
    assert plan["judges"][0]["asked"] == 10
    assert plan["judges"][0]["cost"] > 0
    shown = judge(calipers, "--dry-run", model="models/nowhere")
    assert "5 pairs of texts of 2 systems would be judged." in shown.stdout
    assert not list(Path().glob("out*"))

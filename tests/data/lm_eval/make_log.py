"""Make the log of this folder again, with lm_eval itself (0.4.13 made the one that is here).

No model is asked: made-up words are the answers, three for each of four documents, seen by two
filters. Run it in an empty folder.
"""

import json
import random
import sys
from pathlib import Path

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

TASK = """
task: toy
dataset_path: json
dataset_kwargs:
  data_files:
    test: {folder}/docs.jsonl
test_split: test
output_type: generate_until
doc_to_text: "Q: {{{{q}}}}\\nA:"
doc_to_target: "{{{{a}}}}"
repeats: 3
generation_kwargs:
  until: ["\\n"]
  do_sample: true
filter_list:
  - name: first
    filter:
      - function: take_first
  - name: all
    filter:
      - function: regex
        regex_pattern: "(\\\\w+)"
      - function: take_first_k
        k: 3
metric_list:
  - metric: bypass
"""


class Words(LM):
    """Answers with a word and the number of the request."""

    def generate_until(self, requests, disable_tqdm=False):
        draw = random.Random(0)
        return [f"word{draw.randrange(1000)} {number}" for number in range(len(requests))]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    docs = [{"q": f"question {number}", "a": "42"} for number in range(4)]
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "toy.yaml").write_text(TASK.format(folder=folder))
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model=Words(), tasks=["toy"], task_manager=manager, log_samples=True, bootstrap_iters=0
    )
    samples = found.pop("samples")
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    config = tracker.general_config_tracker
    config.model_source = config.model_name = config.model_name_sanitized = "toy"
    tracker.save_results_aggregated(results=found, samples=samples)
    tracker.save_results_samples(task_name="toy", samples=samples["toy"])

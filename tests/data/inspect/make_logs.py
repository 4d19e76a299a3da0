"""Make the logs of this folder again, with inspect_ai itself (0.3.285 made those that are here).

No model is asked: a solver answers with made-up sentences, fails on one sample and says nothing on
another. Transcripts and tracebacks are taken out, which name the machine and are most of a log.
"""

import random
import sys
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver

HERE = Path(__file__).parent
SEA = "wave harbour sail gull tide anchor storm salt island captain"
WOOD = "oak fern owl moss path deer clearing shadow root hunter"
WORDS = {"sea": SEA.split(" "), "wood": WOOD.split(" ")}


def sample(number: int) -> Sample:
    """Number 1 has a text id and a chat as input, number 2 neither, and so on."""
    topic = ["sea", "wood"][number % 2]
    text = f"Tell a story about the {topic}, number {number}."
    chat = [ChatMessageSystem(content="You tell stories."), ChatMessageUser(content=text)]
    return Sample(
        id=f"story-{number}" if number % 2 else number,
        input=chat if number % 2 else text,
        target=WORDS[topic][0],
        metadata={"topic": topic},
    )


@solver
def teller() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if (state.sample_id, state.epoch) == (4, 2):
            raise RuntimeError("the model went away")
        if state.sample_id == "story-5":
            return state
        draw = random.Random(f"{state.sample_id} {state.epoch}")
        words = draw.sample(WORDS[state.metadata["topic"]], 6)
        text = f"The {words[0]} met the {words[1]} by the {words[2]}. " + " ".join(words[3:]) + "."
        state.output = ModelOutput.from_content("mockllm/model", text)
        return state

    return solve


@task
def stories(samples: int = 14, epochs: int = 2) -> Task:
    return Task(
        dataset=MemoryDataset([sample(number) for number in range(1, samples + 1)]),
        solver=[teller()],
        scorer=includes(),
        epochs=epochs,
        fail_on_error=False,
    )


def make(name: str, **sizes: int) -> None:
    """Run the task, and write its log without transcripts."""
    suffix = name.rpartition(".")[2]
    (made,) = eval(
        stories(**sizes),
        model="mockllm/model",
        log_dir=sys.argv[1],
        log_format=suffix,
        display="none",
    )
    log = read_eval_log(made.location)
    log.eval.task_file = log.eval.revision = None
    for each in log.samples or []:
        each.events, each.events_data, each.attachments = [], None, {}
        if each.error is not None:
            each.error.traceback = each.error.traceback_ansi = ""
    write_eval_log(log, str(HERE / name))


if __name__ == "__main__":  # the folder for whole logs is the argument
    make("stories.eval")
    make("stories.json", samples=3, epochs=1)

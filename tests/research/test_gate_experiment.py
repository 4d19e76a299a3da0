"""The experiment on the outcomes of a gate, in fewer runs than docs/check.md reports."""

import sys

import pytest
from scipy import stats

from calipers import check

RUNS = 40
TRUTHS = {
    "recall": (0.6727, 0.0411),
    "mauve_star": (0.6086, 0.0690),
    "frechet_distance": (0.6767, 0.0768),
    "energy_distance": (0.1446, 0.0167),
}
"""Mean over 1,000 systems, and standard deviation over 500, from research/experiments/gate.py."""

MOST = int(stats.binom.isf(0.001, RUNS, 0.05))
"""False outcomes that come up in one of a thousand such tests where their rate is 5 %."""


@pytest.fixture(scope="module")
def gate(experiments):
    import gate

    return gate


@pytest.fixture(scope="module")
def pairs(gate, tmp_path_factory):
    return gate.runs(RUNS, 1, tmp_path_factory.mktemp("gate"))


def outcomes(gate, pairs, key, place, *, baseline=False):
    sign = gate.CONDITIONS[key]
    truth, step = TRUTHS[key]
    move = gate.SIDES[sign] * place * step
    limit = f"baseline {'-' if move < 0 else '+'} {abs(move)}" if baseline else f"{truth + move}"
    return [
        check(run, baseline=before if baseline else None, fail_if=f"{key} {sign} {limit}").outcome
        for run, before in pairs
    ]


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("key", TRUTHS)
def test_the_outcomes_of_a_gate_hold_their_rates(gate, pairs, key, baseline):
    on_it = outcomes(gate, pairs, key, 0, baseline=baseline)
    assert on_it.count("fails") <= MOST
    assert on_it.count("passes") <= MOST
    beyond, within = (outcomes(gate, pairs, key, place, baseline=baseline) for place in (-4, 4))
    assert beyond.count("passes") == within.count("fails") == 0
    assert min(beyond.count("fails"), within.count("passes")) >= RUNS * (0.5 if baseline else 0.9)


@pytest.mark.slow
def test_a_gate_of_all_conditions_fails_no_more_often_than_one(gate, pairs):
    texts = [f"{key} {sign} {TRUTHS[key][0]}" for key, sign in gate.CONDITIONS.items()]
    found = [check(run, fail_if=texts).outcome for run, _ in pairs]
    assert found.count("fails") <= MOST
    assert found.count("passes") <= MOST


@pytest.mark.slow
def test_the_tables_are_printed(gate, pairs, capsys, monkeypatch):
    monkeypatch.setattr(gate, "runs", lambda *_: pairs[:8])
    monkeypatch.setattr(sys, "argv", ["gate.py"])
    gate.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("8 runs, n = m = 300")
    assert sum(line.startswith("| recall") for line in lines) == 4

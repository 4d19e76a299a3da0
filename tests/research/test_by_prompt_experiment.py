"""The experiment on answers by prompt, in a few small worlds."""

import sys

import pytest


@pytest.mark.slow
def test_it_prints_a_share_for_every_score_and_case(experiments, capsys, monkeypatch):
    sys.modules.pop("by_prompt", None)
    import by_prompt

    monkeypatch.setattr(by_prompt, "MANY", 100)
    by_prompt.coverage(2)
    by_prompt.jackknife(2)
    by_prompt.tests(2)
    by_prompt.one_each(2)
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if " | " in line]
    names = [first for first, *_ in lines]
    assert {*by_prompt.SCORES, "between", "contrast", "the same", "wider", "moved"} <= {*names}
    shares = [
        float(cell) for first, *rest in lines if first not in ("score", "case") for cell in rest
    ]
    assert all(0 <= share <= 1 for share in shares)
    assert len(shares) == 2 * (len(by_prompt.SCORES) + 1) + 2 + 9 + 6

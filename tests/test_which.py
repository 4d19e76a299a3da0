"""Every module has its tests, and a person finds them."""

import pytest

import which

pytestmark = pytest.mark.slow

MODULES = which.modules()


def test_the_modules_are_those_of_the_source():
    assert len(MODULES) > 400
    assert "calipers.estimate.knn.kernels" in MODULES
    assert "calipers.embedders" not in MODULES  # hands names on


@pytest.mark.parametrize(
    ("module", "test", "way"),
    [
        ("calipers.score", "test_score.py", None),
        ("calipers.metrics.vendi", "metrics/test_vendi.py", None),
        ("calipers.commands.judge.run", "commands/judge/test_run.py", None),
        ("calipers.commands.embed.cli", "cli/test_cli_embedders.py", "calipers.commands.embed"),
    ],
)
def test_the_tests_of_a_module_are_found(module, test, way):
    files, through = which.listed_tests(module)
    assert test in files
    assert through == way


def test_no_module_is_without_tests():
    assert [module for module in MODULES if not which.listed_tests(module)[0]] == []

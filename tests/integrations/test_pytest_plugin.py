"""The pytest fixture ``calipers_check``, in runs of pytest itself."""

import subprocess
import sys

import numpy as np
import pytest

import calipers

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

PLUGIN = "calipers.integrations.pytest_plugin"
TEST = """
def test_variety(calipers_check):
    found = calipers_check("run.zip", fail_if={condition!r}, against={against!r})
    assert found.outcome != "fails"
    assert found.checked
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(6)
    reference = rng.normal(size=(200, 3))
    systems = {"a": 0.6 * rng.normal(size=(200, 3))}
    run = calipers.compare(reference, systems, metrics="recall", floor=False, threads=1)
    run.save(folder / "run.zip")
    return folder / "run.zip", run["a"]["recall"].value


@pytest.fixture
def run(pytester, saved):
    """Run one test that checks a condition, with some options of pytest."""
    path, _ = saved
    (pytester.path / "run.zip").write_bytes(path.read_bytes())

    def start(condition, *options, against=None, ini=""):
        pytester.makepyfile(TEST.format(condition=condition, against=against))
        pytester.makeini(f"[pytest]\n{ini}\n")
        return pytester.runpytest("-rs", "-p", "no:cacheprovider", *options)

    return start


@pytest.fixture
def undecided(saved):
    return f"recall < {saved[1]:.6g}"


def test_a_pass_and_a_failure(run):
    run("recall < 0.2").assert_outcomes(passed=1)
    failed = run("recall < 0.99")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["Fails: recall of a is 0.*, below 0.99."])
    assert "Traceback" not in failed.stdout.str()


def test_a_baseline(run):
    run("recall < baseline - 0.01", against="run.zip").assert_outcomes(passed=1)


def test_what_is_inconclusive_is_skipped_unless_said_otherwise(run, undecided):
    skipped = run(undecided)
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["*SKIPPED*Inconclusive: recall of a is 0.*"])
    run(undecided, "--calipers-inconclusive", "fail").assert_outcomes(failed=1)
    passed = run(undecided, "--calipers-inconclusive", "pass")
    passed.assert_outcomes(passed=1, warnings=1)
    passed.stdout.fnmatch_lines(["*InconclusiveWarning: Inconclusive: recall of a*"])


def test_the_settings_of_pytest_say_it_and_the_command_line_overrides(run, undecided):
    ini = "calipers_inconclusive = fail"
    run(undecided, ini=ini).assert_outcomes(failed=1)
    run(undecided, "--calipers-inconclusive", "skip", ini=ini).assert_outcomes(skipped=1)


def test_an_unknown_setting_is_refused(run, undecided):
    refused = run(undecided, ini="calipers_inconclusive = maybe")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        ["*calipers_inconclusive must be skip, pass or fail; found 'maybe'"]
    )


def test_a_wrong_condition_is_an_error_of_the_test(run):
    failed = run("recal < 0.2")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*InputError: condition 'recal < 0.2': unknown metric 'recal'*"])


def test_loading_the_plugin_loads_nothing_heavy():
    script = (
        f"import sys, {PLUGIN}; print(sorted({{'numpy', 'scipy', 'torch'}} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.returncode, found.stdout.strip()) == (0, "[]"), found.stderr

"""Where an optional package is missing, its modules are left out of the search for doctests."""

from importlib.util import find_spec

NEEDS_TORCH = [
    *(
        f"src/calipers/embedders/states/{name}.py"
        for name in ("bert", "dense", "packed", "transformer", "transformer_states")
    ),
    *(f"src/calipers/embedders/vision/{name}.py" for name in ("tower", "vision")),
    *(
        f"src/calipers/language_model/{name}.py"
        for name in ("causal_decoding", "causal_scoring", "processors", "stepwise")
    ),
]

NEEDS_TRAINERS = {
    "src/calipers/integrations/writing.py": "torch",
    "src/calipers/integrations/transformers.py": "transformers",
    "src/calipers/integrations/trl.py": "transformers",
    "src/calipers/integrations/lightning.py": "lightning",
}

MAKERS = ["tests/data/inspect/make_logs.py", "tests/data/lm_eval/make_log.py"]  # run by hand

collect_ignore = MAKERS if find_spec("torch") else [*MAKERS, *NEEDS_TORCH]
collect_ignore += [path for path, needed in NEEDS_TRAINERS.items() if not find_spec(needed)]

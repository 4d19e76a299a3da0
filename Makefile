.DEFAULT_GOAL := help
.PHONY: help native check format lint types layers tables docs fix test quick bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

native: ## compile the kernels in native/ for this machine, into the package
	python native/build.py

check: format lint types layers ## everything but the tests; changes nothing

format: ## is the code formatted?
	ruff format --check .

lint: ## ruff's rules
	ruff check .

types: ## mypy, strict
	mypy

layers: ## no import turns back on the road
	lint-imports

fix: ## format, and mend what ruff can mend
	ruff check --fix .
	ruff format .

test: ## all tests and the examples in docstrings
	pytest --slow

quick: ## the same without the slow ones, while working
	pytest

tables: ## the tables of metrics and options in README.md and docs, from where they are stated
	python docs/tables.py

docs: ## the documentation as a site, build/docs/index.html; needs pip install '.[docs]'
	sphinx-build -W --keep-going -b html -d build/doctrees docs build/docs
	python docs/check_site.py build/docs

bench: ## every measurement in research/benchmarks/, ours beside theirs
	@status=0; for script in research/benchmarks/[!_]*.py; do \
	  echo "== $$script"; python "$$script" || status=1; \
	done; exit $$status

# Two commands do everything: `make demo` and `make test`. Both create the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types env lock live-check

demo: env
	@$(BIN)/regress demo

test: env lint types
	$(BIN)/pytest -n 2 --dist worksteal

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env
	$(BIN)/pyright

# Whether judges work with a model of yours, for a few cents at most: make live-check MODEL=openai:gpt-4.1-mini, with
# the key in OPENAI_API_KEY. PRICE="0.4 1.6" states US dollars per million tokens of input and output where no public
# price is known.
live-check: env
	@$(if $(MODEL),,echo "name a model: make live-check MODEL=provider:model, such as openai:gpt-4.1-mini" >&2; exit 2)
	@$(BIN)/python examples/support_agent/live_check.py $(MODEL) $(if $(PRICE),--price $(PRICE))

env: $(VENV)/.installed

# --no-deps: the lock is complete, and every file in it is checked against its hash.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("regress needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Needs uv. Resolves for every platform and Python from 3.11 on.
lock:
	uv pip compile pyproject.toml --group dev --extra live --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock" --quiet -o requirements.lock

# `make demo` trains, converts, compresses, proves and measures a small HSViT; `make test` runs the tests.
# Both set up an environment in .venv first, which a second run takes as it is.

PYTHON ?= python3
VENV := .venv
RUN := runs/demo
PRESETS := float32 float16 dynamic
IN_VENV := $(VENV)/bin/python
COMMA := ,
EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
ARTIFACTS := $(subst $(SPACE),$(COMMA),$(PRESETS:%=$(RUN)/%.tflite) $(RUN)/int8.tflite $(RUN)/small_int8.tflite)

.PHONY: demo test test-slow lint setup clean
.DELETE_ON_ERROR:

demo: export KERAS_BACKEND = tensorflow
demo: setup
	@mkdir -p $(RUN)
	$(IN_VENV) -m training.train --config=training/configs/digits.py --workdir=$(RUN)
	@for preset in $(PRESETS); do \
		$(IN_VENV) -m export.tflite --model=$(RUN)/best.keras --preset=$$preset --pixels \
			--samples=355 --output=$(RUN)/$$preset.tflite || exit 1; \
	done
	@$(IN_VENV) -m export.tflite --model=$(RUN)/best.keras --preset=int8 --calibration_data=digits --pixels \
		--samples=355 --output=$(RUN)/int8.tflite
	$(IN_VENV) -m training.compress --model=$(RUN)/best.keras --config=training/configs/compress_digits.py \
		--output=$(RUN)/small.keras
	@$(IN_VENV) -m export.tflite --model=$(RUN)/small.keras --preset=int8 --pixels \
		--samples=355 --output=$(RUN)/small_int8.tflite
	@$(IN_VENV) -m export.benchmark --original=$(RUN)/best.keras --mobile=$(ARTIFACTS) --images=0 \
		--output=$(RUN)/benchmark.json
	@$(IN_VENV) -m export.report --workdir=$(RUN) --output=$(RUN)/report.html

# On JAX runs again what computes with Keras; converting needs TensorFlow, reading files and counting neither.
COMPUTING := tests/layers tests/models tests/compression tests/checkpoints tests/training

test: setup
	KERAS_BACKEND=tensorflow $(IN_VENV) -m pytest -n 2 -m "not slow" tests
	KERAS_BACKEND=jax $(IN_VENV) -m pytest -n 2 -m "not tensorflow and not slow and not once" $(COMPUTING) \
		--ignore=tests/checkpoints/test_reading.py --ignore=tests/training/data

# Kills and resumes of whole runs, every damaged bit of a file: minutes a test.
test-slow: setup
	KERAS_BACKEND=tensorflow $(IN_VENV) -m pytest -n 2 -m slow tests

lint: setup
	$(IN_VENV) -m ruff check
	$(IN_VENV) -m ruff format --check

setup: $(VENV)/installed

$(VENV)/installed: setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: needs Python 3.11 or newer; name one as in: make PYTHON=python3.11 demo"; exit 1; }
	@echo "setting up $(VENV), which takes a few minutes the first time"
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "error: cannot make an environment; on Debian: apt-get install python3-venv"; exit 1; }
	@$(IN_VENV) -m pip install -qq --upgrade pip
	@$(IN_VENV) -m pip install -qq --editable ".[tensorflow,jax,checkpoints,training,export,scaling,horizontal,test]"
	@touch $@

clean:
	rm -rf $(VENV) $(RUN)

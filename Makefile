# `make demo` trains, converts, compresses, proves and measures a small HSViT; `make apk` puts it into an Android
# app that measures it on a phone, `make web` into a page that measures it in any browser; `make test` runs the
# tests. All set up an environment in .venv first, which a
# second run takes as it is.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV := .venv
MEDIAPIPE_VENV := .venv-mediapipe
RUN := runs/demo
PRESETS := float32 float16 dynamic
IN_VENV := $(VENV)/bin/python
COMMA := ,
EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
ARTIFACTS := $(subst $(SPACE),$(COMMA),$(PRESETS:%=$(RUN)/%.tflite) $(RUN)/int8.tflite $(RUN)/small_int8.tflite $(RUN)/best.onnx)

.PHONY: demo apk web web-page page-to-test test test-slow test-exhaustive lint setup setup-mediapipe clean
.DELETE_ON_ERROR:

demo: export KERAS_BACKEND = tensorflow
demo: setup
	@mkdir -p $(RUN)
	$(IN_VENV) -m training.train --config=training/configs/digits.py --workdir=$(RUN)
	@for preset in $(PRESETS); do \
		$(IN_VENV) -m export.tflite --model=$(RUN)/best.keras --preset=$$preset \
			--samples=355 --output=$(RUN)/$$preset.tflite || exit 1; \
	done
	@$(IN_VENV) -m export.tflite --model=$(RUN)/best.keras --preset=int8 --calibration_data=digits \
		--samples=355 --output=$(RUN)/int8.tflite
	$(IN_VENV) -m training.compress --model=$(RUN)/best.keras --config=training/configs/compress_digits.py \
		--output=$(RUN)/small.keras
	@$(IN_VENV) -m export.tflite --model=$(RUN)/small.keras --preset=int8 \
		--samples=355 --output=$(RUN)/small_int8.tflite
	@$(IN_VENV) -m export.onnx --model=$(RUN)/best.keras --samples=355 --output=$(RUN)/best.onnx
	@$(IN_VENV) -m export.benchmark --original=$(RUN)/best.keras --mobile=$(ARTIFACTS) --images=0 \
		--output=$(RUN)/benchmark.json
	@if command -v qemu-aarch64 > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then \
		$(IN_VENV) -m export.arm_cost $(RUN)/float32.tflite --output=$(RUN)/arm_cost.json \
			--others=$(RUN)/dynamic.tflite,$(RUN)/int8.tflite,$(RUN)/small_int8.tflite; \
	else echo "instructions on a phone's core were not counted: README names the packages that this needs"; fi
	@$(IN_VENV) -m export.report --workdir=$(RUN) --output=$(RUN)/report.html

# The app's runtime is older than this machine's, so the artifacts are made for it anew.
APP := $(RUN)/app
FOR_APP := $(IN_VENV) -m export.tflite --runtime=2.16 --samples=355
APK := android_demo/target/hsvit-benchmark.apk
MAVEN := mvn --quiet --batch-mode --file android_demo/pom.xml
# Maven resets a terminal's colours even where it writes to none.
WITHOUT_COLOURS := 2>&1 | sed -u 's/\x1b\[[0-9;]*m//g'
ANDROID_TOOLS := mvn javac aapt2 zipalign apksigner
ANDROID_PACKAGES := maven openjdk-17-jdk-headless aapt zipalign apksigner
MISSING_TOOLS = for tool in $(ANDROID_TOOLS); do command -v $$tool > /dev/null || printf ' %s' $$tool; done

BUNDLE := $(APP)/assets/bundle

apk: setup $(BUNDLE)/bundle.json
	@missing=$$($(MISSING_TOOLS)); test -z "$$missing" || \
		{ echo "error: needs$$missing; on Debian: apt-get install $(ANDROID_PACKAGES)"; exit 1; }
	@rm -f $(APK)
	@echo "packing the app, and running its models by its ARM libraries"
	@$(MAVEN) verify -DskipUnitTests=true -Dbundle=$(abspath $(BUNDLE)) $(WITHOUT_COLOURS)
	@echo "wrote $(APK), $$(du -h $(APK) | cut -f 1)"

# The app and the page measure the same files.
$(BUNDLE)/bundle.json: export KERAS_BACKEND = tensorflow
$(BUNDLE)/bundle.json: $(RUN)/small.keras | setup
	@mkdir -p $(APP)/assets
	@$(FOR_APP) --model=$(RUN)/best.keras --preset=dynamic --output=$(APP)/dynamic.tflite
	@$(FOR_APP) --model=$(RUN)/best.keras --preset=int8 --calibration_data=digits --output=$(APP)/int8.tflite
	@$(FOR_APP) --model=$(RUN)/small.keras --preset=int8 --output=$(APP)/small_int8.tflite
	@$(IN_VENV) -m export.bundle --original=$(RUN)/best.keras --name="HSViT on digits" \
		--mobile=$(APP)/dynamic.tflite,$(APP)/int8.tflite,$(APP)/small_int8.tflite --output=$(BUNDLE)

$(RUN)/small.keras:
	$(MAKE) demo

web: setup web-page $(BUNDLE)/bundle.json
	@$(IN_VENV) -m export.web --bundle=$(BUNDLE) --output=$(RUN)/web

# The page of export.web, from its modules.
PAGE := web_demo/dist/built.json
NODE_IS_NEW := node -e 'process.exit(process.versions.node.split(".")[0] < 18 ? 1 : 0)' 2> /dev/null
NODE_NEEDED := needs Node.js 18 or newer, with npm; on Debian: apt-get install nodejs npm

web-page: $(PAGE)

$(PAGE): web_demo/node_modules/.package-lock.json web_demo/build.js $(shell find web_demo/src web_demo/page -type f)
	@cd web_demo && npm run --silent build
	@echo "built the page in web_demo/dist"

web_demo/node_modules/.package-lock.json: web_demo/package.json web_demo/package-lock.json
	@$(NODE_IS_NEW) && command -v npm > /dev/null || { echo "error: $(NODE_NEEDED)"; exit 1; }
	@cd web_demo && npm ci --silent --no-audit --no-fund
	@touch $@

# On JAX runs again what computes with Keras; converting needs TensorFlow, reading files and counting neither.
COMPUTING := tests/layers tests/models tests/compression tests/tasks
# On JAX these are slow tests: most of their time goes by until their models are compiled.
TRAINING := tests/checkpoints tests/training --ignore=tests/checkpoints/test_reading.py
ON_TENSORFLOW := KERAS_BACKEND=tensorflow $(IN_VENV) -m pytest -n 2
ON_JAX := KERAS_BACKEND=jax $(IN_VENV) -m pytest -n 2
# Neighbouring tests stay in one process, where they share what is made once for a file.
NEIGHBOURS := --dist worksteal
# Facts of the phone are tested on older versions of Android, too, each of which takes a while to start.
NEWEST_ANDROID := -Drobolectric.enabledSdks=35
OLDER_ANDROIDS := -Dtest=DeviceTest -Drobolectric.enabledSdks=26,29,31,34
# The app's tests, run by Maven's goals and options $(1).
define ON_ANDROID
	@missing=$$($(MISSING_TOOLS)); if [ -z "$$missing" ]; then \
		echo "the Android app's tests"; $(MAVEN) $(1) $(WITHOUT_COLOURS); \
	else \
		echo "the Android app's tests were NOT RUN: they need$$missing," \
			"on Debian: apt-get install $(ANDROID_PACKAGES)"; \
	fi
endef

test: setup page-to-test
	$(ON_TENSORFLOW) $(NEIGHBOURS) -m "not slow" tests
	$(ON_JAX) $(NEIGHBOURS) -m "not tensorflow and not slow and not once" $(COMPUTING)
	$(call ON_ANDROID,test $(NEWEST_ANDROID))

# Without Node, tests of the page are left out, and say so.
page-to-test:
	@if $(NODE_IS_NEW); then $(MAKE) --silent web-page; else echo "tests of the page are NOT RUN: $(NODE_NEEDED)"; fi

# Kills and resumes of whole runs, commands from end to end, older versions of Android.
test-slow: setup page-to-test
	$(ON_TENSORFLOW) -m "slow and not exhaustive" tests
	$(ON_JAX) -m "not tensorflow and not slow and not once" $(TRAINING)
	$(call ON_ANDROID,process-test-classes surefire:test@default-test $(OLDER_ANDROIDS))

# All variants of a family, many random models, every damaged bit of a file, whole recipes: before a release.
test-exhaustive: setup
	$(ON_TENSORFLOW) -m exhaustive tests
	$(ON_JAX) -m "slow_on_jax and not tensorflow and not once" $(COMPUTING) $(TRAINING)

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
	@$(IN_VENV) -m pip install -qq --editable ".[tensorflow,jax,checkpoints,training,detection,video,export,scaling,horizontal,test]"
	@touch $@

# MediaPipe, which the tests open artifacts with, takes 650 MB and limits the versions of TensorFlow's packages.
setup-mediapipe: $(MEDIAPIPE_VENV)/installed

$(MEDIAPIPE_VENV)/installed:
	@echo "setting up $(MEDIAPIPE_VENV)"
	@$(PYTHON) -m venv $(MEDIAPIPE_VENV)
	@$(MEDIAPIPE_VENV)/bin/python -m pip install -qq "mediapipe>=1.2,<1.3"
	@touch $@

clean:
	rm -rf $(VENV) $(MEDIAPIPE_VENV) $(RUN) android_demo/target web_demo/dist web_demo/node_modules

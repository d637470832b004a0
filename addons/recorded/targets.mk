.PHONY: wheel wheel-check test-python

# test-python tests the Python package that records trainings, with PyTorch and what else can be installed.
test-python:
	@addons/recorded/python/test.sh

# wheel makes what pip installs, under dist/: the program with the Python package, and the CUDA backend; wheel-check
# installs it in a clean Debian without a compiler, where it trains, records and opens its window, and removes it.
wheel:
	@NORMSCOPE_PRESET="$(PRESET)" platforms/packages/wheel.sh

wheel-check:
	@NORMSCOPE_PRESET="$(PRESET)" platforms/packages/wheel_check.sh

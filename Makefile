# normscope: make, make run [ARGS="..."], make test, make test-cuda, make bench, make bench-peers, make screenshots, make clean.
# A thin front to CMake's presets; everything is built under build/.

.DEFAULT_GOAL := build
.PHONY: build run test test-cuda bench bench-peers screenshots clean
MAKEFLAGS += --no-print-directory

PROGRAM := build/release/normscope

build:
	@scripts/build.sh release normscope

# With a display the visualizer, already training; without one the program trains the same runs and prints the table.
run: build
	@$(PROGRAM) $(ARGS)

test:
	@scripts/test.sh

# The CUDA backend's tests alone; those that need a GPU are skipped by name where there is none.
test-cuda:
	@scripts/build.sh release normscope_cuda_tests
	@ctest --test-dir build/release -L cuda --output-on-failure

# This machine, the kernels and whole training steps; the same models in PyTorch and JAX.
bench: build
	@$(PROGRAM) bench $(ARGS)

bench-peers:
	@scripts/bench_peers.sh $(ARGS)

# The pictures of every state of the Lab, and the README's among them, made by the program itself.
screenshots: build
	@scripts/screenshots.sh

clean:
	@rm -rf build/release build/debug build/asan build/tsan

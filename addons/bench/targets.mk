.PHONY: bench bench-peers bench-window

# bench measures this machine, the kernels and whole steps; bench-peers the same models in PyTorch, TensorFlow and JAX.
bench: build
	@scripts/setup.sh libdnnl-dev libopenblas0-pthread >&2 || echo "make bench: no oneDNN and OpenBLAS to compare with" >&2
	@$(PROGRAM) bench $(ARGS)

bench-peers:
	@scripts/build.sh release normscope >&2
	@addons/bench/peers.sh $(ARGS)

# bench-window measures an open window beside headless training (start, frames, steps, rest), under Xvfb, in minutes.
bench-window: build
	@for tool in python3 Xvfb xdotool; do command -v $$tool >/dev/null || \
	  { echo "make bench-window: $$tool is not installed (Debian: python3, xvfb, xdotool)" >&2; exit 1; }; done
	@python3 addons/bench/window.py --program $(PROGRAM) $(ARGS)

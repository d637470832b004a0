# normscope: make, make run [ARGS="..."], make check, make accept, make test, make test-full, make fuzz [TIME=seconds], make
# test-cuda, make screenshots, make site, make site-serve [PORT=8000],
# make install [PREFIX=...], make package, make package-check, make release VERSION=..., make web, make web-serve,
# make test-web, make windows, make test-windows, make test-arm64, make clean; those of add-ons are in their targets.mk.
# A thin front to CMake's presets; everything is built under build/.

.DEFAULT_GOAL := build
.PHONY: build run check accept test test-full fuzz test-cuda screenshots site site-serve install package \
  package-check release web web-serve test-web windows test-windows test-arm64 clean
MAKEFLAGS += --no-print-directory

PROGRAM := build/release/normscope

build:
	@scripts/build.sh release normscope

# With a display, run opens the visualizer, already training; without one the program trains the same runs with one seed
# and prints the table.
run: build
	@$(PROGRAM) $(ARGS)

# check tests what the files touch that changed since a commit: a minute for an op, a screen, a lesson.
SINCE ?= HEAD
check:
	@python3 scripts/check.py $(SINCE)

# accept writes what the program answers today into tests/stories, tests/screens, tests/answers and those of the add-ons; read
# the difference.
accept:
	@scripts/build.sh release normscope normscope_training_tests normscope_app_tests
	@cd build/release/tests && NORMSCOPE_ACCEPT=1 ./normscope_training_tests "[listing]"
	@cd build/release/tests && NORMSCOPE_ACCEPT=1 ./normscope_app_tests "[listing]"

test:
	@scripts/test.sh

# test-full is for a release: it runs every lesson and, under the sanitizers, the screens as well, and links the program
# once so that types defined twice are named.
test-full:
	@scripts/test.sh full

# fuzz feeds readers of files and options mutated input, TIME seconds each. See tests/fuzz/README.md.
fuzz:
	@scripts/fuzz.sh $(TIME)

# test-arm64 builds for AArch64 and tests that under qemu-user, on Debian or Ubuntu of any processor: docs/platforms.md.
test-arm64:
	@scripts/test_arm64.sh

# test-cuda runs the CUDA backend's tests alone; those that need a GPU are skipped by name where there is none.
test-cuda:
	@NORMSCOPE_CMAKE=-DNORMSCOPE_CUDA_WITHOUT_GPU=ON scripts/build.sh release normscope_cuda_tests
	@ctest --test-dir build/release -L cuda --output-on-failure

# screenshots draws every state of the Lab, and the README's pictures among them, by the program itself.
screenshots: build
	@scripts/screenshots.sh

# site writes the course, its claims, the zoo and the manual as pages under build/site/; see docs/site.md.
site: build
	@scripts/setup.sh libmd4c-html0
	@python3 platforms/site/build.py $(ARGS)

PORT ?= 8000
site-serve: site
	@python3 -m http.server --bind 127.0.0.1 --directory build/site $(PORT)

# web-serve serves the web program on localhost with the headers that it needs, after `make web`; ARGS="--port 9000".
web-serve:
	@python3 platforms/web/web_serve.py $(ARGS)

# test-web tests the web program in Chromium and Firefox, which it installs if it can; ARGS="--browser firefox" and others.
test-web:
	@platforms/web/test_web.sh $(ARGS)

# install copies program, lessons, claims, menu entry, completion, manual page; the engine is for find_package.
PREFIX ?= /usr/local
install: build
	@cmake --install build/release --prefix "$(PREFIX)"

# package makes Debian packages and a folder that runs anywhere; package-check runs lintian and a clean Debian on them.
# PRESET=arm64 makes and checks those of AArch64, and their wheel below.
package:
	@NORMSCOPE_PRESET="$(PRESET)" MAINTAINER="$(MAINTAINER)" platforms/packages/package.sh

package-check:
	@NORMSCOPE_PRESET="$(PRESET)" platforms/packages/package_check.sh

# web builds the program for a browser: build/web, a folder of files for any web server. See docs/web.md.
web:
	@platforms/web/web.sh

# windows builds the program for Windows with mingw-w64: build/windows, a folder and a zip that run by a double click;
# test-windows tests it under Wine. See docs/platforms.md.
windows:
	@platforms/windows/windows.sh

test-windows:
	@platforms/windows/test_windows.sh $(ARGS)

# release makes all that a version hands out, with checksums and a list of what is inside: build/release-VERSION. See
# docs/releases.md; ARGS="--only source,web" makes some of it.
release:
	@python3 platforms/packages/release/release.py "$(VERSION)" --maintainer "$(MAINTAINER)" $(ARGS)

# What add-ons make: bench, bench-peers, bench-window.
-include $(wildcard addons/*/targets.mk)

clean:
	@rm -rf build/release build/debug build/asan build/tsan build/core build/fuzz build/arm64 build/odr dist

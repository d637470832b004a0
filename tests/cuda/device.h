// The device that the GPU tests share, and how they say that there is none: a test that needs one starts with
// NEEDS_DEVICE(), which prints "SKIPPED: <name>: <reason>" and leaves; CTest shows it as skipped, by name.
#pragma once

#include <memory>
#include <string>

#include "catch.hpp"
#include "engine/cuda/driver.h"
#include "engine/tape/backend.h"

namespace normscope::test {

/// Empty when there is a device, else the reason.
std::string no_device();
void say_skipped(const std::string& reason);

/// One for the whole test program; graph on, TF32 off whatever the environment says.
std::shared_ptr<cuda::Driver> device_driver();
std::shared_ptr<Backend> device_backend(bool graph = true);

}  // namespace normscope::test

#define NEEDS_DEVICE()                                        \
  do {                                                        \
    const std::string reason_ = normscope::test::no_device(); \
    if (!reason_.empty()) {                                   \
      normscope::test::say_skipped(reason_);                  \
      return;                                                 \
    }                                                         \
  } while (false)

// The device that the GPU tests share, and how they say that there is none: a test that needs one starts with
// NEEDS_DEVICE(); each has an entry of its own in CTest, which shows it as skipped, by name.
#pragma once

#include "catch.hpp"
#include "engine/cuda/driver.h"
#include "engine/tape/backend.h"
#include "skip.h"

namespace normscope::test {

/// Empty when there is a device, else the reason.
std::string no_device();

/// One for the whole test program, with the graph on and TF32 off whatever the environment says.
std::shared_ptr<cuda::Driver> device_driver();
std::shared_ptr<Backend> device_backend(bool graph = true);

}  // namespace normscope::test

#define NEEDS_DEVICE()                                        \
  do {                                                        \
    const std::string reason_ = normscope::test::no_device(); \
    if (!reason_.empty()) SKIP_CASE(reason_);                 \
  } while (false)

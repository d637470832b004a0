// Export is where a kernel file meets the registry: it picks the plan functions of the chosen instruction set when a
// Program is lowered. The stages that a plan returns point straight into that set's code, so replay dispatches nothing.
#pragma once

#include "engine/cpu/kernel.h"
#include "hwy/highway.h"

/// Used in namespace normscope::cpu under #if HWY_ONCE. It defines name##_kernels() from the
/// plan functions `Stages name##_forward(const Call&)` and `name##_backward` of each instruction set's namespace.
#define NORMSCOPE_KERNELS(name)                            \
  HWY_EXPORT(name##_forward);                              \
  HWY_EXPORT(name##_backward);                             \
  static Stages plan_##name##_forward(const Call& call) {  \
    return HWY_DYNAMIC_DISPATCH(name##_forward)(call);     \
  }                                                        \
  static Stages plan_##name##_backward(const Call& call) { \
    return HWY_DYNAMIC_DISPATCH(name##_backward)(call);    \
  }                                                        \
  Kernels name##_kernels() { return {&plan_##name##_forward, &plan_##name##_backward}; }

/// `NORMSCOPE_FORWARD_KERNELS` does the same for an op without a backward.
#define NORMSCOPE_FORWARD_KERNELS(name)                   \
  HWY_EXPORT(name##_forward);                             \
  static Stages plan_##name##_forward(const Call& call) { \
    return HWY_DYNAMIC_DISPATCH(name##_forward)(call);    \
  }                                                       \
  Kernels name##_kernels() { return {&plan_##name##_forward, nullptr}; }

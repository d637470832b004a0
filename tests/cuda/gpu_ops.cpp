// These tests compare every op on the device with the CPU from the same inputs and against the double reference: every
// case of engine/support/op_cases.h, each write mode, poisoned outputs, canaries, twice for the same bits; then NaN.
#include <algorithm>

#include "cuda/device.h"
#include "cuda/device_case.h"
#include "engine/cuda/kernel.h"

namespace normscope::test {
namespace {

constexpr double kTolerance = 1e-9;  // normalised error in the mean square, CPU against CUDA
// Over the CPU's bound against the double reference: a device adds in another order and contracts products.
// Largest seen on the emulated device: 1.6, at norms over one and three values.
constexpr double kSlack = 2;

double mean_square_error(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += (static_cast<double>(a[i]) - static_cast<double>(b[i])) *
                  (static_cast<double>(a[i]) - static_cast<double>(b[i]));
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return difference == 0 ? 0 : difference / size;
}

void check_near(const OpCase& c, const std::vector<Write>& write, const Outcome& device, const Outcome& cpu) {
  CHECK(mean_square_error(device.out, cpu.out) <= kTolerance);
  for (size_t i = 0; i < device.saved.size(); ++i) {
    INFO("saved " << i);
    CHECK(mean_square_error(device.saved[i], cpu.saved[i]) <= kTolerance);
  }
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (write[i] == Write::Skip || c.in[i].zero_gradient) continue;
    INFO("gradient of input " << i << (write[i] == Write::Add ? ", added" : ", assigned"));
    CHECK(mean_square_error(device.din[i], cpu.din[i]) <= kTolerance);
  }
}

void check_case(const OpCase& c, bool stored = true) {
  INFO(c.name << (stored ? "" : ", nothing stored"));
  const ReferenceCase p = prepare(c);
  for (const auto& write : write_patterns(c)) {
    const Outcome cpu = run_case(c, write, p.in, p.dy, p.base, orders()[0]);
    const Outcome device = run_on_device(c, write, p.in, p.dy, p.base, stored);
    check_outcome(c, p, write, device, kSlack);
    check_near(c, write, device, cpu);
    CHECK(same_bits(device, run_on_device(c, write, p.in, p.dy, p.base, stored)));
  }
}

void check_cases(const std::vector<OpCase>& cases) {
  for (const OpCase& c : cases) check_case(c);
}

}  // namespace

TEST_CASE("gpu ops: embedding equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(embedding_cases());
}
TEST_CASE("gpu ops: linear equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(linear_cases());
}
TEST_CASE("gpu ops: attention equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(attention_cases());
}
TEST_CASE("gpu ops: attention that computes its probabilities again equals the CPU and the reference",
          "[gpu]") {
  NEEDS_DEVICE();
  for (const OpCase& c : attention_cases()) check_case(c, false);
}
TEST_CASE("gpu ops: the norm family equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(norm_cases());
}
TEST_CASE("gpu ops: elementwise ops equal the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(elementwise_cases());
}
TEST_CASE("gpu ops: softmax cross-entropy equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(loss_cases());
}
TEST_CASE("gpu ops: a squared error equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(squared_error_cases());
}
TEST_CASE("gpu ops: pooling equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(pool_cases());
}

TEST_CASE("gpu ops: concatenation equals the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  check_cases(concat_cases());
}

TEST_CASE("gpu ops: ops of add-ons equal the CPU and the reference", "[gpu]") {
  NEEDS_DEVICE();
  for (const OpCase& c : addon_cases()) {
    check_case(c);
    if (traits_of(c.op).saves_for_inspection) check_case(c, false);
  }
}

TEST_CASE("cuda ops: every case of the registry is among those that run on the device", "[cuda]") {
  std::vector<std::string> here, all;
  for (const auto& cases :
       {embedding_cases(), linear_cases(), attention_cases(), concat_cases(), norm_cases(),
        elementwise_cases(), loss_cases(), squared_error_cases(), pool_cases(), addon_cases()})
    for (const OpCase& c : cases) here.push_back(c.name);
  for (const OpCase& c : op_cases()) all.push_back(c.name);
  std::sort(here.begin(), here.end());
  std::sort(all.begin(), all.end());
  CHECK(here == all);
}

TEST_CASE("gpu ops: every op hands NaN on", "[gpu]") {
  NEEDS_DEVICE();
  for (const OpCase& c : op_cases())
    check_nan_case(c,
                   {{"device", [&c](const auto& write, const auto& in, const auto& dy,
                                    const auto& base) { return run_on_device(c, write, in, dy, base); }}},
                   false);
}

}  // namespace normscope::test

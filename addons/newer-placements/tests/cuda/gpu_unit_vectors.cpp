// Unit vectors on the device.
#include <algorithm>

#include "addons/newer-placements/engine/ops.h"
#include "cuda/device.h"
#include "cuda/device_case.h"
#include "engine/cuda/kernel.h"

namespace normscope::test {
namespace {

/// The matrix after the op, which works in place, between canaries.
std::vector<float> unit_vectors_on_device(const std::vector<float>& w, const Shape& shape, bool columns) {
  constexpr size_t kBeside = 64;
  constexpr float kCanary = 1234.5f;
  cuda::Driver& driver = *device_driver();
  std::vector<float> image(w.size() + 2 * kBeside, kCanary);
  std::ranges::copy(w, image.begin() + kBeside);
  const size_t bytes = image.size() * sizeof(float);
  auto* memory = static_cast<float*>(driver.allocate(bytes));
  driver.upload(memory, image.data(), bytes);
  cuda::Call call{};
  call.op = OpKind::UnitVectors;
  call.phase = Phase::Update;
  call.attributes = UnitVectorsSpec{columns};
  call.in[0] = {memory + kBeside, shape};
  CHECK(driver.workspace_floats(call) == 0);
  driver.enqueue(call, cuda::Branch::Main);
  driver.wait();
  driver.download(image.data(), memory, bytes);
  driver.release(memory);
  REQUIRE(driver.error() == "");
  for (size_t i = 0; i < kBeside; ++i) {
    CHECK(image[i] == kCanary);
    CHECK(image[kBeside + w.size() + i] == kCanary);
  }
  return {image.begin() + kBeside, image.end() - kBeside};
}

}  // namespace

TEST_CASE("gpu ops: unit vectors are divided by their lengths and nothing beside them is touched", "[gpu]") {
  NEEDS_DEVICE();
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 5}, Shape{32, 33}, Shape{64, 17}, Shape{33, 131}, Shape{300, 70}})
    for (const bool columns : {false, true}) {
      INFO(to_string(shape) << (columns ? ", columns" : ", rows"));
      Random random(5);
      std::vector<float> w = random.normal(shape, 3.0).values;
      const auto cols = static_cast<size_t>(shape.cols());
      const auto vector_of = [&](size_t i) { return columns ? i % cols : i / cols; };
      if (shape.size() > 1)  // the second vector has the length zero
        for (size_t i = 0; i < w.size(); ++i)
          if (vector_of(i) == 1) w[i] = 0;
      const std::vector<float> device = unit_vectors_on_device(w, shape, columns);
      std::map<size_t, double> squares;
      for (size_t i = 0; i < w.size(); ++i) squares[vector_of(i)] += std::pow(static_cast<double>(w[i]), 2);
      double worst = 0;
      for (size_t i = 0; i < w.size(); ++i) {
        const double length = std::sqrt(squares[vector_of(i)]);
        const double expected = length > 0 ? static_cast<double>(w[i]) / length : 0;
        worst = std::max(worst, std::abs(static_cast<double>(device[i]) - expected));
      }
      CHECK(worst < 1e-6);
      CHECK(same_bits(device, unit_vectors_on_device(w, shape, columns)));
    }
}

}  // namespace normscope::test

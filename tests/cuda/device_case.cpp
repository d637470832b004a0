#include "cuda/device_case.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/device.h"
#include "engine/cuda/kernel.h"

namespace normscope::test {
namespace {

constexpr size_t kGap = 64;  // canaries between tensors, in floats; also the alignment
constexpr uint32_t kCanary = 0x7fa5c0deu;

/// A picture on the host of one block of device memory: tensors are placed, then it goes up as a whole.
class Image {
 public:
  /// The offset of n floats, poisoned with NaN.
  size_t place(size_t n) {
    const size_t at = (floats_.size() + 2 * kGap - 1) / kGap * kGap;
    floats_.resize(at, std::bit_cast<float>(kCanary));
    floats_.resize(at + n, std::numeric_limits<float>::quiet_NaN());
    floats_.resize(at + n + kGap, std::bit_cast<float>(kCanary));
    spans_.push_back({at, n});
    return at;
  }
  size_t place(const std::vector<float>& v) {
    const size_t at = place(v.size());
    std::copy(v.begin(), v.end(), floats_.begin() + static_cast<std::ptrdiff_t>(at));
    return at;
  }
  template <class T>
  size_t place_bytes(const T* p, size_t count) {
    const size_t at = place((count * sizeof(T) + 3) / 4);
    std::memcpy(floats_.data() + at, p, count * sizeof(T));
    return at;
  }
  void upload(cuda::Driver& driver) {
    device_ = static_cast<float*>(driver.allocate(floats_.size() * sizeof(float)));
    driver.upload(device_, floats_.data(), floats_.size() * sizeof(float));
  }
  void download(cuda::Driver& driver) {
    driver.download(floats_.data(), device_, floats_.size() * sizeof(float));
  }
  void release(cuda::Driver& driver) { driver.release(device_); }

  float* device(size_t at) const { return device_ + at; }
  std::vector<float> read(size_t at, size_t n) const {
    const auto first = floats_.begin() + static_cast<std::ptrdiff_t>(at);
    return {first, first + static_cast<std::ptrdiff_t>(n)};
  }
  /// Whether nothing between the tensors was written.
  bool intact() const {
    std::vector<bool> inside(floats_.size(), false);
    for (const auto& [at, n] : spans_) std::fill_n(inside.begin() + static_cast<std::ptrdiff_t>(at), n, true);
    for (size_t i = 0; i < floats_.size(); ++i)
      if (!inside[i] && std::bit_cast<uint32_t>(floats_[i]) != kCanary) return false;
    return true;
  }

 private:
  std::vector<float> floats_;
  std::vector<std::pair<size_t, size_t>> spans_;
  float* device_ = nullptr;
};

std::vector<float> as_floats(const Values& v) { return {v.begin(), v.end()}; }

}  // namespace

Outcome run_on_device(const OpCase& c, const std::vector<Write>& write, const Inputs<double>& in,
                      const Values& dy, const std::vector<Values>& base, bool stored) {
  cuda::Driver& driver = *device_driver();
  const size_t out_size = static_cast<size_t>(c.out.size());
  Image image;
  std::vector<size_t> in_at(c.in.size()), saved_at, din_at(c.in.size());
  for (size_t i = 0; i < c.in.size(); ++i)
    if (c.in[i].present)
      in_at[i] = c.in[i].dtype == DType::I32 ? image.place_bytes(c.in[i].ints.data(), c.in[i].ints.size())
                                             : image.place(as_floats(in[i]));
  const size_t out_at = image.place(out_size), dout_at = image.place(as_floats(dy));
  if (stored)
    for (const Shape& s : c.saved) saved_at.push_back(image.place(static_cast<size_t>(s.size())));
  for (size_t i = 0; i < c.in.size(); ++i)
    if (write[i] != Write::Skip)
      din_at[i] = write[i] == Write::Add ? image.place(as_floats(base[i]))
                                         : image.place(static_cast<size_t>(c.in[i].shape.size()));
  const size_t step_at = image.place_bytes(&c.step, 1);
  const uint32_t zero = 0;
  const size_t counter_at = image.place_bytes(&zero, 1);
  const std::vector<double> stats(4, std::numeric_limits<double>::quiet_NaN());
  const size_t stats_at = image.place_bytes(stats.data(), stats.size());

  // The workspace is asked for with shapes alone; then everything has its address.
  cuda::Call forward{}, backward{};
  const auto fill = [&](cuda::Call& call, Phase phase, auto address) {
    call.op = c.op;
    call.phase = phase;
    call.attributes = c.attributes;
    for (size_t i = 0; i < c.in.size(); ++i) {
      if (c.in[i].present) call.in[i] = {address(in_at[i]), c.in[i].shape};
      if (phase != Phase::Backward || write[i] == Write::Skip) continue;
      call.write[i] = write[i];
      call.din[i] = {address(din_at[i]), c.in[i].shape};
    }
    call.out = {address(out_at), c.out};
    if (phase == Phase::Backward) call.dout = {address(dout_at), c.out};
    for (size_t i = 0; i < c.saved.size(); ++i)
      call.saved[i] = {stored ? address(saved_at[i]) : nullptr, c.saved[i]};
    call.step = reinterpret_cast<const StepInputs*>(address(step_at));
    call.counter = reinterpret_cast<uint32_t*>(address(counter_at));
    call.stats = reinterpret_cast<double*>(address(stats_at));
  };
  const auto somewhere = [](size_t at) { return reinterpret_cast<float*>((at + 1) * 64); };
  fill(forward, Phase::Forward, somewhere);
  fill(backward, Phase::Backward, somewhere);
  const size_t workspace_at =
      image.place(std::max(driver.workspace_floats(forward), driver.workspace_floats(backward)));
  image.upload(driver);
  for (auto [call, phase] : {std::pair{&forward, Phase::Forward}, {&backward, Phase::Backward}}) {
    fill(*call, phase, [&](size_t at) { return image.device(at); });
    call->workspace = image.device(workspace_at);
  }
  const bool any = std::any_of(write.begin(), write.end(), [](Write w) { return w != Write::Skip; });
  driver.enqueue(forward, cuda::Branch::Main);
  if (any) driver.enqueue(backward, cuda::Branch::Main);
  driver.wait();
  image.download(driver);
  image.release(driver);
  REQUIRE(driver.error() == "");

  Outcome outcome;
  outcome.out = image.read(out_at, out_size);
  for (size_t i = 0; i < saved_at.size(); ++i)
    outcome.saved.push_back(image.read(saved_at[i], static_cast<size_t>(c.saved[i].size())));
  outcome.din.resize(c.in.size());
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (write[i] != Write::Skip)
      outcome.din[i] = image.read(din_at[i], static_cast<size_t>(c.in[i].shape.size()));
    if (c.in[i].present && c.in[i].dtype == DType::F32)  // inputs are read only
      outcome.intact = outcome.intact && same_bits(image.read(in_at[i], in[i].size()), as_floats(in[i]));
  }
  outcome.intact = outcome.intact && image.intact() &&
                   same_bits(image.read(dout_at, out_size), as_floats(dy)) &&
                   std::bit_cast<uint32_t>(image.read(counter_at, 1)[0]) == 0;
  const std::vector<float> raw = image.read(stats_at, 2 * stats.size());
  outcome.stats.resize(stats.size());
  std::memcpy(outcome.stats.data(), raw.data(), stats.size() * sizeof(double));
  return outcome;
}

}  // namespace normscope::test

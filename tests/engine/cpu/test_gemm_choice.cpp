// How products are cut may be chosen, but no choice changes a bit: every candidate against the first at shapes where
// every way of cutting and packing occurs, on every instruction set and number of threads; choices as text; the one
// that a backend has. Which candidate is fastest is no matter of a test.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "engine/cpu/gemm/gemm_choice.h"
#include "engine/cpu/isa.h"
#include "engine/support/linear_products.h"
#include "engine/support/model_fixture.h"

namespace normscope::test {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kL2Sizes[] = {256 * kKiB, 512 * kKiB, 1024 * kKiB, 2048 * kKiB, 4096 * kKiB};

/// `kExtreme` packs both sides of small products, in chunks a panel wide: as far from the first as a choice goes.
constexpr cpu::GemmChoice kExtreme{.far_apart = 2, .panel_floats = 1, .panels_outer = true};

/// `choices` are all candidates with 2 MiB of L2 cache; the first with the least, and the extreme.
std::vector<cpu::GemmChoice> choices() {
  std::vector<cpu::GemmChoice> all = cpu::gemm_candidates(2048 * kKiB);
  all.push_back(cpu::gemm_candidates(kL2Sizes[0]).front());
  all.push_back(kExtreme);
  return all;
}

/// `ChoiceScope` leaves the process's choice as it was.
struct ChoiceScope {
  const cpu::GemmChoice before = cpu::gemm_choice();
  ~ChoiceScope() { cpu::use_gemm_choice(before); }
};

}  // namespace

TEST_CASE("gemm choice: no candidate changes a bit", "[kernels]") {
  // Rows of A^T lie 67 to 2048 floats apart, some at powers of two; sums of one block of k and of several; a panel
  // that is not whole; few rows, of which each chunk packs its own panels; rows of A at powers of two, copied or not.
  constexpr std::array<int64_t, 3> kShapes[] = {
      {64, 2048, 96},  {64, 96, 2048},  {90, 512, 260}, {260, 256, 131}, {1027, 67, 61},
      {50, 1030, 200}, {300, 260, 200}, {200, 515, 70}, {1024, 64, 64},  {12, 1024, 4200}};
  const Order& three = orders()[std::min<size_t>(2, orders().size() - 1)];
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    for (const auto& [r, k, n] : kShapes)
      for (const bool transposed : {false, true}) {
        const Write write = transposed ? Write::Assign : Write::Add;
        LinearCase l{r, k, n, transposed};
        const LinearResults usual = run_linear(l, write, orders()[0]);
        for (const cpu::GemmChoice& choice : choices()) {
          INFO(fmt::format("{} r{} k{} n{} {} {}", isa, r, k, n, transposed ? "x W^T" : "x W, add",
                           cpu::to_string(choice)));
          check_same(usual, run_linear(l, write, orders()[0], &choice));
          check_same(usual, run_linear(l, write, three, &choice));
        }
      }
  }
  use_instruction_set("");
}

TEST_CASE("gemm choice: it reaches the plan", "[kernels]") {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    // At planning time only shapes are read.
    const auto planned = [](int64_t r, int64_t k, int64_t n, const cpu::GemmChoice& choice) {
      Call call{};
      call.op = OpKind::Linear;
      call.gemm = &choice;
      call.in[0].shape = {r, k};
      call.in[1].shape = {k, n};
      call.dout.shape = call.out.shape = {r, n};
      call.write[1] = Write::Assign;
      const cpu::Kernels kernels = kernels_of(OpKind::Linear);
      return std::array<size_t, 2>{kernels.backward(call).workspace_floats,
                                   static_cast<size_t>(kernels.forward(call).stage[0].chunks)};
    };
    // Rows of A^T far apart: packed, unless never; near ones only where the choice says so.
    CHECK(planned(64, 2048, 96, {})[0] > 0);
    CHECK(planned(64, 2048, 96, {.far_apart = cpu::kNever})[0] == 0);
    CHECK(planned(64, 448, 256, {})[0] == 0);
    CHECK(planned(64, 448, 256, {.far_apart = 256})[0] > 0);
    // The timed product whose rows lie half a page apart tells the two rules apart.
    CHECK(planned(1024, 512, 224, {})[0] > planned(1024, 512, 224, {.far_apart = 1024})[0]);
    // So few rows that a stage for packing them would be most of the time.
    CHECK(planned(33, 1023, 65, {})[0] == 0);
    // One row of tiles, whose chunks are as wide as the panels may be.
    CHECK(planned(4, 384, 16384, {})[1] < planned(4, 384, 16384, {.panel_floats = 1})[1]);
  }
  use_instruction_set("");
}

TEST_CASE("gemm choice: a chunk's panels fit the scratch whatever the L2 cache", "[kernels]") {
  // One row of tiles, so that a chunk is as wide as it may be, and blocks as deep as they get.
  const int64_t r = 4, k = 384, n = 16384;
  std::vector<float> x = uniform_floats(r * k, 1), w = uniform_floats(k * n, 2);
  std::vector<float> first, out(static_cast<size_t>(r * n));
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    first.clear();
    for (const int64_t bytes : kL2Sizes) {
      const cpu::GemmChoice choice = cpu::gemm_candidates(bytes).front();
      INFO(isa << " " << cpu::to_string(choice));
      CHECK(choice.panel_floats * 8 <= std::max<int64_t>(bytes, 2048 * kKiB));
      Call call{};
      call.op = OpKind::Linear;
      call.gemm = &choice;
      call.in[0] = {x.data(), {r, k}};
      call.in[1] = {w.data(), {k, n}};
      call.out = {out.data(), {r, n}};
      // In reverse: its scratch stands between canaries.
      CHECK(run_stages(kernels_of(OpKind::Linear).forward(call), call, {}, Order{}));
      if (first.empty()) first = out;
      CHECK(same_bits(first, out));
    }
  }
  use_instruction_set("");
}

TEST_CASE("gemm choice: the first candidate is the usual one, and the one where nothing was timed",
          "[kernels]") {
  CHECK(cpu::gemm_candidates(2048 * kKiB).front() == cpu::GemmChoice{});
  CHECK(cpu::gemm_candidates(4096 * kKiB).front() == cpu::GemmChoice{});
  CHECK(cpu::gemm_candidates(1024 * kKiB).front().panel_floats == 128 * kKiB);
  for (const int64_t bytes :
       {1024 * kKiB, 2048 * kKiB}) {  // whatever the first is, the other rules are tried
    std::vector<int64_t> apart;
    for (const cpu::GemmChoice& choice : cpu::gemm_candidates(bytes)) apart.push_back(choice.far_apart);
    CHECK(apart.front() == (bytes < 2048 * kKiB ? cpu::kNever : 512));
    std::sort(apart.begin(), apart.begin() + 3);
    CHECK(std::vector(apart.begin(), apart.begin() + 3) == std::vector<int64_t>{512, 1024, cpu::kNever});
  }
  CHECK(cpu::gemm_candidates(1).front().panel_floats == 1);
  const cpu::GemmChoice first = cpu::gemm_candidates(cpu::l2_bytes()).front();
  CHECK(cpu::gemm_choice() == first);
  CHECK(cpu::fastest_choice(0) == first);
  const cpu::GemmChoice fastest = cpu::fastest_choice(0.02);
  const std::vector<cpu::GemmChoice> all = cpu::gemm_candidates(cpu::l2_bytes());
  CHECK(std::find(all.begin(), all.end(), fastest) != all.end());
  CHECK(cpu::gemm_choice() == first);  // nobody used it
}

TEST_CASE("gemm choice: a choice goes to text and back, and broken text is none", "[kernels]") {
  CHECK(cpu::to_string(cpu::GemmChoice{}) == "far=512 panels=262144 outer=tiles");
  for (const int64_t bytes : kL2Sizes)
    for (const cpu::GemmChoice& choice : cpu::gemm_candidates(bytes))
      CHECK(cpu::gemm_choice_from(cpu::to_string(choice)) == choice);
  CHECK(cpu::gemm_choice_from("far=never panels=1 outer=panels") ==
        cpu::GemmChoice{.far_apart = cpu::kNever, .panel_floats = 1, .panels_outer = true});
  for (const char* broken :
       {"", "far", "far=512", "far=512 panels=262144", "far=512 panels=262144 outer=",
        "far=512 panels=262144 outer=rows", "far=512 panels=262144 outer=tiles ",
        " far=512 panels=262144 outer=tiles", "far=1 panels=262144 outer=tiles",
        "far=-512 panels=262144 outer=tiles", "far=512 panels=0 outer=tiles",
        "far=512  panels=262144 outer=tiles", "far=512 panels=99999999999999999999 outer=tiles",
        "far=5e2 panels=262144 outer=tiles", "panels=262144 far=512 outer=tiles",
        "far=512 panels=262144 outer=tiles-in", "far=never outer=tiles", "far=neverpanels=1 outer=tiles"}) {
    INFO(broken);
    CHECK_FALSE(cpu::gemm_choice_from(broken).has_value());
  }
}

TEST_CASE("gemm choice: a backend keeps the one it was made with, and trains to the same bits", "[kernels]") {
  const ChoiceScope scope;
  const TinyOptions options{.layers = 1, .width = 48, .feed_forward = 120, .batch = 3, .sequence = 16};
  Tiny usual(options);
  cpu::use_gemm_choice(kExtreme);
  // The choice of the process is another one now: what was lowered before runs on in the workspace that it has.
  usual.steps(1, 3);
  usual.record_again();
  usual.steps(4, 5);
  Tiny extreme(options);
  cpu::use_gemm_choice(cpu::GemmChoice{});
  extreme.steps(1, 5);
  CHECK(same_bits(usual.state(), extreme.state()));
}

TEST_CASE("gemm choice: what is remembered by processor tells generations of one name apart", "[kernels]") {
  const auto name = [](const char* family, const char* model, const char* called) {
    std::istringstream text(fmt::format(
        "processor\t: 0\nvendor_id\t: Any\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\nflags\t\t:\n",
        family, model, called));
    return cpu::processor_name(text);
  };
  CHECK(name("25", "17", "AMD EPYC") == "AMD EPYC (family 25, model 17)");
  CHECK(name("26", "17", "AMD EPYC") == "AMD EPYC (family 26, model 17)");
  CHECK(name("26", "2", "AMD EPYC 9B45") == "AMD EPYC 9B45");
  std::istringstream alone("model name\t: Any Processor\n"), none("Hardware\t: Any\n");
  CHECK(cpu::processor_name(alone) == "Any Processor");
  CHECK(cpu::processor_name(none) == "unknown");
}

}  // namespace normscope::test

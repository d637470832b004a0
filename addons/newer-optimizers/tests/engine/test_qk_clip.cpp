// These tests hold QK-clip against plain loops in double precision: the largest logit of each head, and what its clip
// makes of the next step on the same batch.

#include <algorithm>

#include "addons/newer-optimizers/tests/engine/qk_clip_reference.h"
#include "engine/support/model_fixture.h"
#include "engine/support/named_placements.h"
#include "engine/support/op_harness.h"

namespace normscope::test {
namespace {

constexpr float kOff = 1e9f;  // measures, and clips nothing

AddedSettings clipping(float tau) {
  AddedSettings added;
  added.of<QkClipConfig>().largest = tau;
  return added;
}

/// One layer, so that a clipped head changes no other logit.
TinyOptions clip_options(void (*change)(ModelConfig&) = nullptr) {
  return {.placement = Placement::Pre, .layers = 1, .added = clipping(kOff), .change = change};
}

std::vector<float> logits_of(Tiny& tiny, float tau = kOff) {
  tiny.o.added = clipping(tau);
  tiny.record_again();
  StepInputs inputs = tiny.inputs(1);
  inputs.lr = 0;
  tiny.fill(1);
  tiny.program->replay(inputs);
  return tiny.program->read("L01.attn.batch_logit");
}

/// The columns of a head of queries, or of keys, of a matrix.
std::vector<float> columns_of(const Tiny& tiny, const std::string& name, int64_t h, int64_t width) {
  const int32_t at = tiny.store->find(name);
  const int64_t cols = tiny.store->parameters()[static_cast<size_t>(at)].shape.cols();
  const std::vector<float> all = tiny.store->read(at);
  std::vector<float> columns;
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int64_t>(i) % cols / width == h) columns.push_back(all[i]);
  return columns;
}

float middle_of(std::vector<float> logits) {
  std::sort(logits.begin(), logits.end());
  return (logits[0] + logits[1]) / 2;
}

}  // namespace

TEST_CASE("qk-clip: the largest logit equals plain loops, masked and not, its neighbours do not") {
  struct Case {
    int64_t B, H, Tq, Tk, width;
    bool causal;
    int32_t window;
    float scale;
    bool lengths;
  };
  int differ = 0;  // without the masks
  for (const Case& c : {Case{2, 3, 7, 7, 5, true, 0, 0, false}, Case{1, 2, 9, 13, 16, false, 0, 0.3f, false},
                        Case{3, 2, 6, 11, 7, false, 0, 0, true}, Case{2, 1, 33, 33, 9, true, 4, 0, false},
                        Case{2, 3, 33, 40, 9, false, 2, 0, false}}) {
    Random random(17);
    const int64_t D = c.H * c.width;
    const auto q = random.normal({c.B, c.Tq, D}, 1.0).values, k = random.normal({c.B, c.Tk, D}, 1.0).values;
    std::vector<int32_t> lengths;
    for (int64_t b = 0; b < c.B && c.lengths; ++b) lengths.push_back(static_cast<int32_t>(2 + 3 * b));
    const auto widened = [](const std::vector<float>& x) { return Values(x.begin(), x.end()); };
    reference::AttentionShape shape{c.B, c.H, c.Tq, c.Tk, D};
    shape.causal = c.causal;
    shape.window = c.window;
    shape.key_lengths = lengths;
    shape.factor = static_cast<double>(c.scale);
    const Values expected = reference::largest_logits<double>(widened(q), widened(k), shape);
    reference::AttentionShape open = shape;
    open.causal = false;
    open.window = 0;
    open.key_lengths = {};
    const Values unmasked = reference::largest_logits<double>(widened(q), widened(k), open);
    differ += unmasked != expected;
    on_each_instruction_set([&] {
      std::vector<float> first;
      for (const Order& order : orders()) {
        GuardedMemory memory(size_t{1} << 14);
        Call call{};
        call.attributes = LargestLogitSpec{static_cast<int32_t>(c.H), c.causal, c.window, c.scale};
        call.in[0] = {memory.copy(q), {c.B, c.Tq, D}};
        call.in[1] = {memory.copy(k), {c.B, c.Tk, D}};
        if (c.lengths) call.in[2] = {memory.copy(lengths), {c.B}};
        double stat = 0;
        call.stats = &stat;
        call.out = {memory.floats(static_cast<size_t>(c.H)), {c.H}};
        CHECK(run_stages(kernels_of(OpKind::LargestLogit).forward(call), call, {}, order));
        CHECK(memory.intact());
        const std::vector<float> out(call.out.p, call.out.p + c.H);
        CHECK(relative_error(out, expected) < 1e-6);
        CHECK(stat == static_cast<double>(*std::max_element(out.begin(), out.end())));
        if (first.empty()) first = out;
        CHECK(same_bits(first, out));
      }
    });
  }
  CHECK(differ >= 3);
}

TEST_CASE("qk-clip: a head above tau has tau as its largest logit in the next step, others keep their bits") {
  const auto rotary = [](ModelConfig& c) { c.positions = positions_or("rotary", c.positions); };
  for (void (*change)(ModelConfig&) : {static_cast<void (*)(ModelConfig&)>(nullptr), +rotary}) {
    Tiny tiny(clip_options(change));
    const std::vector<float> start = logits_of(tiny);
    REQUIRE(start.size() == 3);
    CHECK(logits_of(tiny) == start);
    const float tau = middle_of(start);
    REQUIRE(tau > 0);
    std::vector<std::vector<float>> wq, wk;
    for (int64_t h = 0; h < 3; ++h) {
      wq.push_back(columns_of(tiny, "L01.attn.wq", h, 8));
      wk.push_back(columns_of(tiny, "L01.attn.wk", h, 8));
    }
    logits_of(tiny, tau);  // the clip is behind this step
    const std::vector<float> after = logits_of(tiny);
    for (int64_t h = 0; h < 3; ++h) {
      const auto i = static_cast<size_t>(h);
      INFO("head " << h << ": " << start[i] << " against " << tau);
      const std::vector<float> now_q = columns_of(tiny, "L01.attn.wq", h, 8),
                               now_k = columns_of(tiny, "L01.attn.wk", h, 8);
      if (start[i] > tau) {
        CHECK(after[i] == Approx(tau).epsilon(1e-5));
        const double root = std::sqrt(static_cast<double>(tau) / static_cast<double>(start[i]));
        CHECK(now_q[5] == Approx(root * static_cast<double>(wq[i][5])).epsilon(1e-6));
        CHECK(now_k[5] == Approx(root * static_cast<double>(wk[i][5])).epsilon(1e-6));
        CHECK(std::abs(root * root - root) > 1e-3);  // the whole factor on both would be another number
      } else {
        CHECK(after[i] == start[i]);
        CHECK(same_bits(now_q, wq[i]));
        CHECK(same_bits(now_k, wk[i]));
      }
    }
  }
}

TEST_CASE("qk-clip: heads that share keys leave them, and their queries take the whole factor") {
  Tiny tiny(clip_options([](ModelConfig& c) { c.attention.kv_heads = 1; }));
  const std::vector<float> start = logits_of(tiny);
  const float tau = middle_of(start);
  REQUIRE(tau > 0);
  const std::vector<float> keys = tiny.store->read(tiny.store->find("L01.attn.wk")),
                           biases = tiny.store->read(tiny.store->find("L01.attn.bk"));
  logits_of(tiny, tau);
  const std::vector<float> after = logits_of(tiny);
  for (size_t h = 0; h < 3; ++h) {
    INFO("head " << h);
    if (start[h] > tau)
      CHECK(after[h] == Approx(tau).epsilon(1e-5));
    else
      CHECK(after[h] == start[h]);
  }
  CHECK(same_bits(keys, tiny.store->read(tiny.store->find("L01.attn.wk"))));
  CHECK(same_bits(biases, tiny.store->read(tiny.store->find("L01.attn.bk"))));
}

TEST_CASE("qk-clip: of a window's attention the largest logit is one that it sees") {
  Tiny tiny(clip_options([](ModelConfig& c) { c.attention.window = 2; }));
  const std::vector<float> found = logits_of(tiny);
  const auto read = [&](const char* name) {
    const std::vector<float> x = tiny.program->read(name);
    return Values(x.begin(), x.end());
  };
  reference::AttentionShape shape{2, 3, 11, 11, 24};
  shape.causal = true;
  const Values q = read("L01.attn.q"), k = read("L01.attn.k"),
               everywhere = reference::largest_logits<double>(q, k, shape);
  shape.window = 2;
  CHECK(relative_error(found, reference::largest_logits<double>(q, k, shape)) < 1e-6);
  CHECK(relative_error(found, everywhere) > 1e-3);
}

TEST_CASE(
    "qk-clip: a limit that no head reaches changes no bit of a run, and no tape without it has its ops") {
  TinyOptions without;
  without.placement = Placement::Pre;
  TinyOptions with = without;
  with.added = clipping(1e6f);
  Tiny plain(without), measured(with);
  for (uint32_t step = 1; step <= 4; ++step) {
    plain.step(step);
    measured.step(step);
  }
  CHECK(same_bits(plain.state(), measured.state()));
  const auto count = [](const Tiny& tiny, OpKind op) {
    const auto& all = tiny.program->data().instructions;
    return std::count_if(all.begin(), all.end(), [&](const Instruction& i) { return i.op == op; });
  };
  CHECK(count(plain, OpKind::LargestLogit) == 0);
  CHECK(count(plain, OpKind::QkClip) == 0);
  CHECK(count(measured, OpKind::LargestLogit) == 2);
  CHECK(count(measured, OpKind::QkClip) == 2);
  const std::vector<float> heads = measured.program->read("L01.attn.batch_logit");
  CHECK(measured.program->stat("L01.attn.batch_logit") ==
        static_cast<double>(*std::max_element(heads.begin(), heads.end())));
  CHECK(measured.program->data().instructions.back().op == OpKind::QkClip);  // behind the optimizer
}

TEST_CASE("qk-clip: a norm of queries or keys, and relative positions, leave nothing to clip") {
  ModelConfig config;
  Wiring attention;
  CHECK(clips(config, attention));
  attention.inner.query = NormKind::Rms;
  CHECK_FALSE(clips(config, attention));
  attention = {};
  attention.inner.key = NormKind::LayerNorm;
  CHECK_FALSE(clips(config, attention));
  config.positions = positions_or("relative", config.positions);
  CHECK(clips(config, {}) == !row_of(config.positions).own_scores);
}

}  // namespace normscope::test

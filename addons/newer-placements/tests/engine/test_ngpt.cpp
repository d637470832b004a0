// These tests hold nGPT (Loshchilov et al. 2024, arXiv 2410.01131): the kernel that keeps vectors at length one, a
// whole decoder against the paper's own coordinates, in which states have length one too, and the steps of its scales.
// Gradients: test_model_reference.cpp.
#include "addons/newer-placements/engine/ops.h"
#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"
#include "engine/support/store_values.h"

namespace normscope::test_ngpt {
namespace {

using namespace normscope::test;

/// The lengths of the rows, or columns, of a matrix.
std::vector<double> lengths_of(const std::vector<float>& w, const Shape& shape, bool columns) {
  std::vector<double> squares(static_cast<size_t>(columns ? shape.cols() : shape.rows()));
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t cols = static_cast<size_t>(shape.cols());
    squares[columns ? i % cols : i / cols] += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  }
  for (double& s : squares) s = std::sqrt(s);
  return squares;
}

double farthest_from_one(const std::vector<double>& lengths) {
  double worst = 0;
  for (const double length : lengths) worst = std::max(worst, std::abs(length - 1));
  return worst;
}

TinyOptions ngpt(bool tied = true) {
  return {.placement = Placement::Ngpt, .tied = tied, .change = [](ModelConfig& c) {
            c.biases = Biases::None;
            c.activation = Activation::Silu;
            c.eps = 1e-12f;  // the paper has none
          }};
}

using Row = std::vector<double>;

void make_unit(double* row, size_t n) {
  double square = 0;
  for (size_t i = 0; i < n; ++i) square += row[i] * row[i];
  for (size_t i = 0; i < n; ++i) row[i] /= std::sqrt(square);
}

/// A decoder in the paper's coordinates; `spread` is its factor sqrt(D) before the activation.
class Paper {
 public:
  Paper(const Tiny& tiny, double spread) : all_(parameters_of(*tiny.store)), o_(tiny.o), spread_(spread) {}

  double loss(std::span<const int32_t> tokens, std::span<const int32_t> targets) {
    double sum = 0, count = 0;
    const size_t T = static_cast<size_t>(o_.sequence);
    for (size_t b = 0; b < static_cast<size_t>(o_.batch); ++b) {
      std::vector<Row> h;
      for (size_t t = 0; t < T; ++t) h.push_back(embedded(static_cast<size_t>(tokens[b * T + t]), t));
      for (int layer = 1; layer <= o_.layers; ++layer) {
        const std::string name = "L0" + std::to_string(layer);
        const std::vector<Row> heads = attended(name + ".attn.", h);
        for (size_t t = 0; t < T; ++t) turn(name + ".attn.", h[t], product(heads[t], name + ".attn.wo"));
        for (size_t t = 0; t < T; ++t) turn(name + ".ffn.", h[t], network(name + ".ffn.", h[t]));
      }
      for (size_t t = 0; t < T; ++t) {
        const int32_t target = targets[b * T + t];
        if (target < 0) continue;
        sum += surprise(h[t], static_cast<size_t>(target));
        ++count;
      }
    }
    return sum / count;
  }

 private:
  const Values& of(const std::string& name) const { return all_.at(name); }
  size_t width() const { return static_cast<size_t>(o_.width); }

  Row embedded(size_t token, size_t t) const {
    Row h(width());
    for (size_t i = 0; i < width(); ++i)
      h[i] = std::sqrt(static_cast<double>(width())) * of("emb.tokens")[token * width() + i] +
             of("emb.positions")[t * width() + i];
    make_unit(h.data(), width());
    return h;
  }

  Row product(const Row& x, const std::string& matrix) const {
    const Values& w = of(matrix);
    const size_t out = w.size() / x.size();
    Row y(out);
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t j = 0; j < out; ++j) y[j] += x[i] * w[i * out + j];
    return y;
  }

  std::vector<Row> attended(const std::string& n, const std::vector<Row>& h) const {
    const size_t heads = static_cast<size_t>(o_.heads), dh = width() / heads;
    std::vector<Row> q, k, v, out;
    for (const Row& x : h) {
      q.push_back(product(x, n + "wq"));
      k.push_back(product(x, n + "wk"));
      v.push_back(product(x, n + "wv"));
      for (Row* row : {&q.back(), &k.back()}) {
        for (size_t a = 0; a < heads; ++a) make_unit(row->data() + a * dh, dh);
        for (size_t i = 0; i < width(); ++i) (*row)[i] *= of(n + "qk_scale")[i];
      }
    }
    for (size_t t = 0; t < h.size(); ++t) {
      out.emplace_back(width());
      for (size_t a = 0; a < heads; ++a) {
        Row weights;
        double sum = 0;
        for (size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (size_t i = a * dh; i < (a + 1) * dh; ++i) score += q[t][i] * k[s][i];
          weights.push_back(std::exp(std::sqrt(static_cast<double>(dh)) * score));
          sum += weights.back();
        }
        for (size_t s = 0; s <= t; ++s)
          for (size_t i = a * dh; i < (a + 1) * dh; ++i) out[t][i] += weights[s] / sum * v[s][i];
      }
    }
    return out;
  }

  Row network(const std::string& n, const Row& x) const {
    Row u = product(x, n + "w1");
    for (size_t i = 0; i < u.size(); ++i) {
      u[i] *= of(n + "hidden_scale")[i] * spread_;
      u[i] /= 1 + std::exp(-u[i]);
    }
    return product(u, n + "w2");
  }

  /// Takes a state a share of the way toward the unit vector along a branch, and back onto the sphere.
  void turn(const std::string& n, Row& h, Row branch) const {
    make_unit(branch.data(), width());
    for (size_t i = 0; i < width(); ++i) h[i] += std::abs(of(n + "branch")[i]) * (branch[i] - h[i]);
    make_unit(h.data(), width());
  }

  double surprise(const Row& h, size_t target) const {
    const size_t V = static_cast<size_t>(o_.vocabulary);
    Row logits(V);
    double sum = 0;
    for (size_t c = 0; c < V; ++c) {
      for (size_t i = 0; i < width(); ++i)
        logits[c] += h[i] * (o_.tied ? of("emb.tokens")[c * width() + i] : of("out.w")[i * V + c]);
      logits[c] *= of("out.scale")[c];
      sum += std::exp(logits[c]);
    }
    return std::log(sum) - logits[target];
  }

  std::map<std::string, Values> all_;
  TinyOptions o_;
  double spread_;
};

std::string refusal_of(void (*change)(ModelConfig&)) {
  ModelConfig config = tiny_config({.placement = Placement::Ngpt});
  change(config);
  return test::error_of([&] { validate(config); }, "");
}

}  // namespace

TEST_CASE("unit vectors: the kernel divides rows or columns by their lengths, zeros stay") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 5}, Shape{17, 64}, Shape{64, 17}, Shape{33, 131}, Shape{300, 70}})
    for (const bool columns : {false, true}) {
      INFO(to_string(shape) << (columns ? ", columns" : ", rows"));
      Random random(5);
      std::vector<float> w = random.normal(shape, 3.0).values;
      for (int64_t j = 0; j < shape.cols() && shape.rows() > 1 && !columns; ++j)
        w[static_cast<size_t>(j)] = 0;
      const std::vector<double> lengths = lengths_of(w, shape, columns);
      on_each_instruction_set([&] {
        std::vector<float> first;
        for (const Order& order : orders()) {
          GuardedMemory memory(size_t{1} << 18);
          Call call{};
          call.attributes = UnitVectorsSpec{columns};
          call.in[0] = {memory.copy(w), shape};
          CHECK(run_stages(kernels_of(OpKind::UnitVectors).forward(call), call, {}, order));
          CHECK(memory.intact());
          const std::vector<float> out(call.in[0].p, call.in[0].p + shape.size());
          double worst = 0;
          for (size_t i = 0; i < w.size(); ++i) {
            const auto cols = static_cast<size_t>(shape.cols());
            const double length = lengths[columns ? i % cols : i / cols];
            const double expected = length > 0 ? static_cast<double>(w[i]) / length : 0;
            worst = std::max(worst, std::abs(static_cast<double>(out[i]) - expected));
          }
          CHECK(worst < 1e-6);
          if (first.empty()) first = out;
          CHECK(same_bits(first, out));
        }
      });
    }
}

TEST_CASE(
    "ngpt: after every step the vectors along the width have length one, without the instruction they have not") {
  for (const bool tied : {true, false}) {
    Tiny tiny(ngpt(tied));
    for (uint32_t step = 1; step <= 3; ++step) {
      tiny.step(step);
      int seen = 0;
      for (const ParameterInfo& p : tiny.store->parameters()) {
        if (p.shape.rank != 2 || !p.trainable || p.name == "emb.positions") continue;
        INFO(p.name << " after step " << step);
        const bool rows = p.name == "emb.tokens" || p.name.ends_with("wo") || p.name.ends_with("w2");
        const std::vector<float> w = tiny.store->read(tiny.store->find(p.name));
        CHECK(farthest_from_one(lengths_of(w, p.shape, !rows)) < 1e-6);
        CHECK(farthest_from_one(lengths_of(w, p.shape, rows)) > 1e-2);  // the other way they are free
        ++seen;
      }
      CHECK(seen == (tied ? 13 : 14));
    }
  }
  TinyOptions free = ngpt();
  free.change = [](ModelConfig& c) {
    for (LayerWiring& layer : c.decoder.layers) layer.attention.added = 0;
  };
  Tiny tiny(free);
  const auto farthest = [&](const char* name) {
    const int32_t at = tiny.store->find(name);
    return farthest_from_one(
        lengths_of(tiny.store->read(at), tiny.store->parameters()[static_cast<size_t>(at)].shape, true));
  };
  change(*tiny.store, "L01.attn.wq", [](auto& queries) {
    divide_by_lengths(queries, {24, 24}, Init::Unit::Columns);
  });
  CHECK(farthest("L01.attn.wq") < 1e-6);
  tiny.step(1);
  CHECK(farthest("L01.attn.wq") > 1e-4);  // without the instruction a step changes the lengths
  CHECK(farthest("L01.ffn.w1") < 1e-6);
}

TEST_CASE("ngpt: matrices start as unit vectors") {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  Tape tape(store);
  record_transformer(tape, tiny_config(ngpt(false)), {.batch = 2, .sequence = 11});
  store.materialize(3);
  for (const char* name : {"emb.tokens", "out.w", "L01.attn.wq", "L02.attn.wo", "L02.ffn.w1", "L01.ffn.w2"}) {
    INFO(name);
    const int32_t at = store.find(name);
    const bool rows = std::string(name) == "emb.tokens" || std::string(name).ends_with("wo") ||
                      std::string(name).ends_with("w2");
    CHECK(farthest_from_one(
              lengths_of(store.read(at), store.parameters()[static_cast<size_t>(at)].shape, !rows)) < 1e-6);
  }
}

TEST_CASE("ngpt: the loss is that of the paper's coordinates, in which states have length one") {
  for (const bool tied : {true, false}) {
    Tiny tiny(ngpt(tied));
    change(*tiny.store, "L02.attn.branch", [](auto& alpha) {
      for (size_t i = 0; i < alpha.size(); i += 2) alpha[i] = -0.3f;  // its sign says nothing
    });
    tiny.fill(1);
    const auto loss_of = [&](double spread) {
      return Paper(tiny, spread).loss(tiny.program->tokens("tokens"), tiny.program->tokens("targets"));
    };
    const double paper = loss_of(std::sqrt(24.0)), without = loss_of(1);
    tiny.logits();
    CHECK(std::abs(tiny.program->loss() - paper) <= 2e-6 * paper);
    CHECK(std::abs(without - paper) > 1e-4 * paper);
  }
}

TEST_CASE("ngpt: Adam's first step of each scale is as large as of what the authors store") {
  Tiny tiny(ngpt());
  const double root = std::sqrt(24.0), lr = static_cast<double>(tiny.inputs(1).lr);
  const std::pair<const char*, double> steps[] = {{"L01.attn.branch", 0.05 * root},
                                                  {"L02.ffn.branch", 0.05 * root},
                                                  {"L01.attn.qk_scale", root},
                                                  {"L01.ffn.hidden_scale", 1},
                                                  {"out.scale", root}};
  std::vector<std::vector<float>> before;
  for (const auto& [name, times] : steps) before.push_back(tiny.store->read(tiny.store->find(name)));
  tiny.step(1);
  for (size_t i = 0; i < before.size(); ++i) {
    INFO(steps[i].first);
    const std::vector<float> after = tiny.store->read(tiny.store->find(steps[i].first));
    double most = 0;
    for (size_t j = 0; j < after.size(); ++j)
      most = std::max(most, std::abs(static_cast<double>(after[j]) - static_cast<double>(before[i][j])));
    CHECK(most == Approx(steps[i].second * lr).epsilon(1e-3));
  }
}

TEST_CASE("ngpt: a classifier's bias stands behind the scale of its logits") {
  TinyOptions o = ngpt();
  o.classes = 5;
  Tiny tiny(o);
  tiny.fill(1);
  const std::vector<float> before = tiny.logits();
  change(*tiny.store, "class.b", [](auto& bias) { bias[2] += 3; });
  const std::vector<float> after = tiny.logits();
  for (size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] - before[i] == Approx(i % 5 == 2 ? 3 : 0).margin(1e-5));
}

TEST_CASE("ngpt: what unit vectors do not go with is refused in one line") {
  CHECK(refusal_of([](ModelConfig&) {}).empty());
  CHECK_THAT(refusal_of([](ModelConfig& c) { c.transfer = Transfer::Mup; }),
             Catch::Contains("shares and unit vectors have steps of their own"));
  CHECK_THAT(refusal_of([](ModelConfig& c) { c.embedding_width = 8; }),
             Catch::Contains("unit vectors (sphere) are kept only in plain tables and matrices"));
  CHECK_THAT(refusal_of([](ModelConfig& c) { c.masked_head = true; }),
             Catch::Contains("unit vectors (sphere) are kept only in plain tables and matrices"));
  CHECK_THAT(refusal_of([](ModelConfig& c) {
               c.decoder.layers[0].attention.skip = {Scale::Kind::Constant, 2};
             }),
             Catch::Contains("has a branch with a share, which sets its skip too"));
  CHECK_THAT(refusal_of([](ModelConfig& c) {
               c.decoder.slots.push_back({"second", NormKind::Rms});
             }),
             Catch::Contains("no second stream"));
  CHECK_THAT(refusal_of([](ModelConfig& c) {
               c.architecture = Architecture::EncoderDecoder;
               c.encoder = preset_stack(Placement::Pre, c.norm, context_of(c, false));
               c.decoder = preset_stack(Placement::Ngpt, c.norm, context_of(c, true));
             }),
             Catch::Contains("the table that they share"));
  CHECK_THAT(refusal_of([](ModelConfig& c) { c.decoder.layers[0].attention.branch.value = 1.5f; }),
             Catch::Contains("begins with a share outside of 0 to 1"));
  CHECK_THROWS_WITH(wiring_from("skip=toward:0.05"), Catch::Contains("goes toward a branch"));
}

TEST_CASE("ngpt: its wiring as text and back") {
  const char* text = "after=rms-simple stream=rms-simple branch=toward:0.05 sphere";
  CHECK(to_string(wiring_from(text)) == text);
}

}  // namespace normscope::test_ngpt

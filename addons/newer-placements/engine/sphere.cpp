// nGPT (Loshchilov et al. 2024, arXiv 2410.01131, the authors' code): the vectors of every matrix along the width of
// the model keep the length one, and learned scales of q, k and the hidden layer replace those lengths. Where the last
// feed-forward network has the word, the table of symbols and the output matrix are of unit vectors too, and the
// logits have a scale.
#include <algorithm>

#include "addons/newer-placements/engine/ops.h"
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

bool on_sphere(const Wiring& wiring) { return has_word(wiring, ResidualForm::sphere); }
bool ends_on_sphere(const StackWiring& stack) {
  return !stack.layers.empty() && on_sphere(stack.layers.back().feed_forward);
}

class Sphere : public Part {
 public:
  explicit Sphere(Recorder& recorder) : r_(recorder) {}

  void start(const std::string& matrix, const Wiring& wiring, Init::Unit along, Init& init) override {
    if (!on_sphere(wiring)) return;
    init.unit = along;
    if (std::ranges::find(kept_, matrix, &UnitMatrix::matrix) == kept_.end())
      kept_.push_back({matrix, along});
  }

  void prepare(AttentionInputs& in) override {
    if (!on_sphere(in.wiring)) return;
    const std::string& n = in.name;
    in.keys = for_all_heads(n + ".k_repeated", in.keys);
    in.values = for_all_heads(n + ".v_repeated", in.values);
    in.queries = scaled(n + ".qk", in.queries, r_.root_of_width());
    in.keys = affine(r_.tape, n + ".k_scaled", in.keys, 1.0f, r_.tape.parameter(n + ".qk_scale"), kNone);
  }

  ValueId hidden(const std::string& name, const Wiring& wiring, ValueId h) override {
    return on_sphere(wiring) ? scaled(name, h, 1) : h;
  }

  /// Products of unit vectors times a learned scale each, then a bias.
  ValueId outputs(const std::string& name, const OutputInputs& in) override {
    if (!ends_on_sphere(r_.config.stack())) return kNone;
    const ValueId products = linear(r_.tape, name + ".products", in.hidden, in.matrix, kNone, in.transposed);
    const double root = r_.root_of_width();
    return affine(r_.tape, name, products, static_cast<float>(1 / root),
                  r_.learned_scale("out.scale", r_.tape.shape(products).cols(), 1.0, root), in.bias);
  }

  /// Has the vectors divided by their lengths after every update.
  void end() override {
    for (const UnitMatrix& kept : kept_)
      unit_vectors(r_.tape, kept.matrix + ".unit", r_.tape.parameter(kept.matrix),
                   {kept.along == Init::Unit::Columns});
  }

 private:
  /// Gives x, the output of matrices of unit vectors, a learned scale for each number.
  ValueId scaled(const std::string& name, ValueId x, double unit) {
    return affine(r_.tape, name + "_scaled", x, 1.0f,
                  r_.learned_scale(name + "_scale", r_.tape.shape(x).cols(), 1.0, unit), kNone);
  }

  /// Gives every head of queries its own copy of the keys, because each head scales them itself.
  ValueId for_all_heads(const std::string& name, ValueId x) {
    const int32_t heads = kv_heads(r_.config), times = r_.config.heads / heads;
    return times == 1 ? x : repeat_heads(r_.tape, name, x, heads, times);
  }

  struct UnitMatrix {
    std::string matrix;
    Init::Unit along;
  };
  Recorder& r_;
  std::vector<UnitMatrix> kept_;
};

bool any_on_sphere(const ModelConfig& config) {
  return any_has_word(config.stack(), ResidualForm::sphere) ||
         (has_both(config) && any_has_word(config.encoder, ResidualForm::sphere));
}

std::unique_ptr<Part> record_sphere(Recorder& recorder) {
  if (!any_on_sphere(recorder.config)) return nullptr;
  return std::make_unique<Sphere>(recorder);
}

/// Unit vectors are kept only in plain tables and matrices.
void check_sphere(const ModelConfig& c) {
  if (!any_on_sphere(c)) return;
  if (c.transfer != Transfer::None)
    fail("model.transfer", "shares and unit vectors have steps of their own (toward, sphere): expected none");
  if (row_of(c.positions).own_scores || c.masked_head || c.embedding_width > 0)
    fail(
        "model.placement",
        "unit vectors (sphere) are kept only in plain tables and matrices: expected no relative positions, no masked "
        "head and embedding_width 0");
  if (has_both(c) && c.shared_embedding && ends_on_sphere(c.encoder) != ends_on_sphere(c.decoder))
    fail("model.placement",
         "one of two stacks would keep the table that they share in unit vectors (sphere): expected both, or "
         "model.shared_embedding false");
}

}  // namespace

constinit const PartRow sphere_part{.record = record_sphere, .check = check_sphere};
/// The word of a sub-layer's wiring.
constinit const ResidualRow sphere_residual{.word = "sphere", .unit_vectors = true};

}  // namespace normscope

#include "training/inside/inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "engine/core/error.h"
#include "training/measure/look.h"

namespace normscope {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void require_stack(const ModelConfig& model, const Batch& text) {
  const bool stack =
      model.architecture == Architecture::Decoder || model.architecture == Architecture::Encoder;
  if (!stack || model.gaussian_input)
    fail("inside", "the model has no single stack that reads symbols: expected a decoder or an encoder");
  if (text.B != 1) fail("inside", "{} texts were given: expected one", text.B);
}

/// `norm_of` adds up in double precision.
double norm_of(std::span<const float> row) {
  double square = 0;
  for (const float x : row) square += static_cast<double>(x) * x;
  return std::sqrt(square);
}

/// `row_norms` has |x| of each token.
std::vector<float> row_norms(const std::vector<float>& states, size_t width) {
  std::vector<float> norms;
  for (size_t at = 0; at < states.size(); at += width)
    norms.push_back(static_cast<float>(norm_of(std::span(states).subspan(at, width))));
  return norms;
}

/// `Numbers` finds a live measurement by its name.
class Numbers {
 public:
  explicit Numbers(Look& look) : layout_(look.layout()), numbers_(look.measure()) {}
  double operator()(const std::string& name) const {
    const auto found = std::ranges::find(layout_, name, &StatInfo::name);
    return found == layout_.end() ? kUnknown : numbers_[static_cast<size_t>(found - layout_.begin())];
  }

 private:
  const std::vector<StatInfo>& layout_;
  std::vector<double> numbers_;
};

std::vector<Inside::Sublayer> stream_of(const Look& look, const Numbers& number, size_t width) {
  std::vector<Inside::Sublayer> stream;
  for (const SublayerValues& s : look.values().sublayers) {
    Inside::Sublayer row;
    row.name = s.name;
    row.layer = s.layer;
    row.norms = row_norms(look.read(s.output), width);
    row.branch_variance = number(s.name + ".branch.variance");
    row.input_variance = number(s.name + ".input.variance");
    row.token_cosine = number(s.name + ".token_cosine");
    row.layer_cosine = number(s.name + ".layer_cosine");
    const size_t index = stream.size() + 1;
    for (size_t j = 0; j <= index; ++j) row.shares.push_back(number(fmt::format("beta2.{}.{}", index, j)));
    stream.push_back(std::move(row));
  }
  return stream;
}

std::vector<Inside::Gradient> gradients_of(const Look& look, const Store& store) {
  std::vector<Inside::Gradient> gradients;
  for (const ParameterInfo& p : store.parameters())
    if (p.trainable && p.shape.rank == 2)
      gradients.push_back({p.name, p.layer, norm_of(look.program().read(p.name, true))});
  return gradients;
}

}  // namespace

Inside inside_of(Store& store, const ModelConfig& model, const Batch& text, const InsideAsked& asked) {
  require_stack(model, text);
  Inside inside;
  inside.tokens = text.tokens;
  inside.targets = text.targets;
  const auto width = static_cast<size_t>(model.d_model);
  Look look(store, model, shape_of(text), asked.gradients);
  look.put(text);
  const Numbers number(look);
  inside.loss = look.program().loss();
  inside.embedding = row_norms(look.read(look.values().embedding), width);
  inside.sublayers = stream_of(look, number, width);
  if (asked.gradients) inside.gradients = gradients_of(look, store);
  return inside;
}

}  // namespace normscope

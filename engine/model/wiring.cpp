#include "model/wiring.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "core/error.h"

namespace normscope {
namespace {

constexpr NormKind kNormKinds[] = {
    NormKind::None,   NormKind::LayerNorm,  NormKind::Simple,         NormKind::Rms,
    NormKind::Detach, NormKind::DetachMean, NormKind::DetachVariance, NormKind::AdaNorm};

std::string scale_text(const char* key, const Scale& s) {
  switch (s.kind) {
    case Scale::Kind::One:
      return "";
    case Scale::Kind::Constant:
      return fmt::format(" {}={}", key, s.value);
    case Scale::Kind::LearnedScalar:
      return fmt::format(" {}=scalar:{}", key, s.value);
    case Scale::Kind::LearnedVector:
      return fmt::format(" {}=vector:{}", key, s.value);
  }
  return "";
}

float number_from(std::string_view text, std::string_view word) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    fail("wiring", "'{}' does not hold a number: expected for instance skip=1.5 or branch=scalar:0", word);
  return value;
}

Scale scale_from(std::string_view text, std::string_view word) {
  if (text.starts_with("scalar:")) return {Scale::Kind::LearnedScalar, number_from(text.substr(7), word)};
  if (text.starts_with("vector:")) return {Scale::Kind::LearnedVector, number_from(text.substr(7), word)};
  return {Scale::Kind::Constant, number_from(text, word)};
}

}  // namespace

NormKind& slot(Wiring& w, Slot which) {
  return which == Slot::Before ? w.before : which == Slot::After ? w.after : w.trunk;
}

NormKind slot(const Wiring& w, Slot which) {
  return which == Slot::Before ? w.before : which == Slot::After ? w.after : w.trunk;
}

const char* to_string(Placement placement) {
  switch (placement) {
    case Placement::None:
      return "none";
    case Placement::Post:
      return "post";
    case Placement::Pre:
      return "pre";
    case Placement::Sandwich:
      return "sandwich";
    case Placement::DeepNorm:
      return "deepnorm";
    case Placement::Admin:
      return "admin";
    case Placement::ReZero:
      return "rezero";
    case Placement::Custom:
      return "custom";
  }
  return "?";
}

const char* label(Placement placement) {
  switch (placement) {
    case Placement::None:
      return "No norm";
    case Placement::Post:
      return "Post-LN";
    case Placement::Pre:
      return "Pre-LN";
    case Placement::Sandwich:
      return "Sandwich";
    case Placement::DeepNorm:
      return "DeepNorm";
    case Placement::Admin:
      return "Admin";
    case Placement::ReZero:
      return "ReZero";
    case Placement::Custom:
      return "Custom";
  }
  return "?";
}

Placement placement_from(std::string_view name) {
  std::string known;
  for (Placement p : kPresets) {
    if (name == to_string(p)) return p;
    known += (known.empty() ? "" : ", ") + std::string(to_string(p));
  }
  fail("placement", "'{}' is not a placement: expected one of {}", name, known);
}

const char* short_name(NormKind kind) {
  switch (kind) {
    case NormKind::None:
      return "none";
    case NormKind::LayerNorm:
      return "ln";
    case NormKind::Simple:
      return "simple";
    case NormKind::Rms:
      return "rms";
    case NormKind::Detach:
      return "detach";
    case NormKind::DetachMean:
      return "detach-mean";
    case NormKind::DetachVariance:
      return "detach-var";
    case NormKind::AdaNorm:
      return "adanorm";
  }
  return "?";
}

NormKind norm_from(std::string_view name) {
  for (NormKind kind : kNormKinds)
    if (name == short_name(kind)) return kind;
  std::string known;
  for (NormKind kind : kNormKinds) known += (known.empty() ? "" : ", ") + std::string(short_name(kind));
  fail("norm", "'{}' is not a norm: expected one of {}", name, known);
}

DeepNormConstants deepnorm_constants(const StackContext& c) {
  const double own = c.layers, other = c.other_layers;
  if (c.other_layers == 0) return {std::pow(2 * own, 0.25), std::pow(8 * own, -0.25)};
  if (c.decoder) return {std::pow(3 * own, 0.25), std::pow(12 * own, -0.25)};
  const double n4m = std::pow(own, 4) * other;  // N encoder layers, M decoder layers
  return {0.81 * std::pow(n4m, 1.0 / 16), 0.87 * std::pow(n4m, -1.0 / 16)};
}

Wiring preset(Placement placement, NormKind norm, const StackContext& context) {
  Wiring w;
  switch (placement) {
    case Placement::Post:
      w.trunk = norm;
      break;
    case Placement::Pre:
      w.before = norm;
      break;
    case Placement::Sandwich:
      w.before = w.after = norm;
      break;
    case Placement::DeepNorm: {
      const DeepNormConstants constants = deepnorm_constants(context);
      w.trunk = norm;
      w.skip = {Scale::Kind::Constant, static_cast<float>(constants.alpha)};
      w.init_gain = static_cast<float>(constants.beta);
      break;
    }
    case Placement::Admin:
      w.trunk = norm;
      w.skip = {Scale::Kind::LearnedVector, 1.0f};
      break;
    case Placement::ReZero:
      w.branch = {Scale::Kind::LearnedScalar, 0.0f};
      break;
    case Placement::None:
    case Placement::Custom:
      break;
  }
  return w;
}

StackWiring preset_stack(Placement placement, NormKind norm, const StackContext& context) {
  const Wiring w = preset(placement, norm, context);
  StackWiring stack;
  stack.layers.assign(static_cast<size_t>(context.layers), {w, w, w});
  if (placement == Placement::Pre || placement == Placement::Sandwich) stack.final = norm;
  return stack;
}

Placement placement_of(const StackWiring& stack, const StackContext& context) {
  if (static_cast<size_t>(context.layers) == stack.layers.size())
    for (Placement p : kPresets)
      for (NormKind norm : kNormKinds)
        if (norm != NormKind::None && stack == preset_stack(p, norm, context)) return p;
  return Placement::Custom;
}

std::string to_string(const Wiring& w) {
  std::string text;
  if (w.before != NormKind::None) text += fmt::format(" before={}", short_name(w.before));
  if (w.after != NormKind::None) text += fmt::format(" after={}", short_name(w.after));
  if (w.trunk != NormKind::None) text += fmt::format(" trunk={}", short_name(w.trunk));
  text += scale_text("skip", w.skip) + scale_text("branch", w.branch);
  if (w.init_gain != 1.0f) text += fmt::format(" gain={}", w.init_gain);
  return text.empty() ? "none" : text.substr(1);
}

Wiring wiring_from(std::string_view text) {
  Wiring w;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (word == "none") continue;
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals),
                      value = equals == word.npos ? "" : word.substr(equals + 1);
    if (key == "before")
      w.before = norm_from(value);
    else if (key == "after")
      w.after = norm_from(value);
    else if (key == "trunk")
      w.trunk = norm_from(value);
    else if (key == "skip")
      w.skip = scale_from(value, word);
    else if (key == "branch")
      w.branch = scale_from(value, word);
    else if (key == "gain")
      w.init_gain = number_from(value, word);
    else
      fail("wiring", "'{}' is unknown: expected before=, after=, trunk=, skip=, branch=, gain= or none",
           word);
  }
  return w;
}

}  // namespace normscope

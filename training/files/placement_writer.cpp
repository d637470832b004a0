// The writing half of placement_file.h.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "training/files/config_file.h"
#include "training/files/placement_file.h"
#include "training/io/toml_json.h"

namespace normscope {
namespace {

using Part = Wiring LayerWiring::*;

/// A sub-layer and the key of its layer in a file.
struct SublayerWord {
  Part part;
  std::string_view key;
};
constexpr SublayerWord kSublayerWords[] = {
    {&LayerWiring::attention, "attn"}, {&LayerWiring::cross, "cross"}, {&LayerWiring::feed_forward, "ffn"}};

/// A number of a wiring and the rules that it is tried as.
struct RuledNumber {
  std::string_view key;
  std::array<std::string_view, 2> rules;
  double (*value)(const Wiring& wiring);
  void (*clear)(Wiring& wiring);
};
constexpr RuledNumber kRuledNumbers[] = {
    {"skip",
     {"deepnorm-alpha", "sublayers"},
     [](const Wiring& w) {
       return w.skip.kind == Scale::Kind::Constant ? static_cast<double>(w.skip.value) : 1.0;
     },
     [](Wiring& w) { w.skip = {}; }},
    {"branch",
     {"1/sqrt(2*layer)", ""},
     [](const Wiring& w) {
       return w.branch.kind == Scale::Kind::Constant ? static_cast<double>(w.branch.value) : 1.0;
     },
     [](Wiring& w) { w.branch = {}; }},
    {"gain",
     {"deepnorm-beta", "subln-gain"},
     [](const Wiring& w) { return static_cast<double>(w.init_gain); },
     [](Wiring& w) { w.init_gain = 1; }},
    {"pre_scale",
     {"1/sqrt(layer)", ""},
     [](const Wiring& w) { return static_cast<double>(w.pre_scale); },
     [](Wiring& w) { w.pre_scale = 1; }}};

/// Whether a number is that of the rule at every place, and not 1 at all of them.
bool follows(const StackWiring& stack, const RuledNumber& number, PlacementRow::Number rule,
             const StackContext& context) {
  bool other = false;
  for (size_t i = 0; i < stack.layers.size(); ++i)
    for (const SublayerWord& word : kSublayerWords) {
      const double value = number.value(stack.layers[i].*word.part);
      if (value != static_cast<double>(static_cast<float>(rule(context, static_cast<int>(i) + 1))))
        return false;
      other = other || value != 1;
    }
  return other;
}

/// Takes the numbers that follow a rule out of a stack and returns their lines.
std::string take_rules(StackWiring& stack, const StackContext& context) {
  std::string lines;
  for (const RuledNumber& number : kRuledNumbers)
    for (const PlacementRule& rule : placement_rules()) {
      if (std::find(number.rules.begin(), number.rules.end(), rule.name) == number.rules.end()) continue;
      if (!follows(stack, number, rule.number, context)) continue;
      lines += fmt::format("{} = {}\n", number.key, toml_string(rule.name));
      for (LayerWiring& layer : stack.layers)
        for (const SublayerWord& word : kSublayerWords) number.clear(layer.*word.part);
    }
  return lines;
}

/// What most layers have there, the first of those that are as many.
Wiring usual(const StackWiring& stack, Part part) {
  Wiring best;
  std::ptrdiff_t most = 0;
  for (const LayerWiring& layer : stack.layers) {
    const auto alike = [&](const LayerWiring& other) { return other.*part == layer.*part; };
    const auto count = std::count_if(stack.layers.begin(), stack.layers.end(), alike);
    if (count <= most) continue;
    most = count;
    best = layer.*part;
  }
  return best;
}

/// Calls the model's norm ln, as files do.
void in_model_norm(StackWiring& stack, NormKind norm) {
  for (LayerWiring& layer : stack.layers)
    for (const SublayerWord& word : kSublayerWords)
      for (WiredNorm* at : norms_of(layer.*word.part))
        if (*at == norm) at->kind = NormKind::LayerNorm;
}

std::string layer_lines(const StackWiring& stack, const LayerWiring& all, bool cross) {
  std::string lines;
  for (size_t i = 0; i < stack.layers.size(); ++i)
    for (const SublayerWord& word : kSublayerWords) {
      if (word.part == &LayerWiring::cross && !cross) continue;
      const Wiring& wiring = stack.layers[i].*word.part;
      if (wiring == all.*word.part) continue;
      lines += fmt::format("L{:02}.{} = {}\n", i + 1, word.key, toml_string(to_string(wiring)));
    }
  return lines.empty() ? "" : "\n[layers]\n" + lines;
}

/// A way to write a stack: with rules for numbers that follow one, with a kind of norm of its own.
struct Form {
  bool rules = true;
  NormKind own = NormKind::None;
};

std::string text_of(const std::string& name, const std::string& label, StackWiring stack, NormKind norm,
                    const StackContext& context, const Form& form) {
  const bool own = form.own != NormKind::None;
  in_model_norm(stack, own ? form.own : norm);
  const std::string formula = formula_of(usual(stack, &LayerWiring::attention));
  const std::string ruled = form.rules ? take_rules(stack, context) : "";
  const LayerWiring all{usual(stack, &LayerWiring::attention), usual(stack, &LayerWiring::cross),
                        usual(stack, &LayerWiring::feed_forward)};
  std::string out = "# A placement of normscope: docs/configuration.md says what each key means.\n";
  out += fmt::format("name = {}\n", toml_string(name));
  if (!label.empty()) out += fmt::format("label = {}\n", toml_string(label));
  out += fmt::format("formula = {}\n", toml_string(formula));
  out += fmt::format("sublayer = {}\n", toml_string(to_string(all.attention)));
  if (context.has_cross() && !(all.cross == all.attention))
    out += fmt::format("cross = {}\n", toml_string(to_string(all.cross)));
  Wiring without_heads = all.attention;
  without_heads.inner.query = without_heads.inner.key = without_heads.inner.value = {};
  without_heads.inner.head_scale = false;
  if (!(all.feed_forward == without_heads))
    out += fmt::format("feed_forward = {}\n", toml_string(to_string(all.feed_forward)));
  out += ruled;
  for (const auto& [key, at] : {std::pair("embedding", stack.embedding), std::pair("final", stack.final)})
    if (at != NormKind::None) out += fmt::format("{} = true\n", key);
  for (const StackSlotRow* slot : stack_slots())
    if (!slot->tidied && norm_at(stack, slot->key) != NormKind::None)
      out += fmt::format("{} = true\n", slot->key);
  if (own) out += fmt::format("norm = {}\n", toml_string(short_name(form.own)));
  for (const StackSlotRow* slot : stack_slots())
    if (const std::string_view words = words_at(stack, slot->key); !words.empty())
      out += fmt::format("{} = {}\n", slot->key, toml_string(std::string(words)));
  return out + layer_lines(stack, all, context.has_cross());
}

std::string scaled(const Scale& scale, const char* letter, const std::string& what) {
  switch (scale.kind) {
    case Scale::Kind::Constant:
      return fmt::format("{:.3g}·{}", scale.value, what);
    case Scale::Kind::LearnedScalar:
      return letter + what;
    case Scale::Kind::LearnedVector:
    case Scale::Kind::Toward:
      return fmt::format("{}⊙{}", letter, what);
    default:
      return what;
  }
}

}  // namespace

std::string formula_of(const Wiring& w) {
  const auto normed = [](WiredNorm norm, const std::string& what) {
    return norm == NormKind::None ? what : "N(" + what + ")";
  };
  const std::string x = w.enter == NormKind::None ? "x" : "h";
  std::string in = normed(w.before, w.parallel ? "x₀" : x);
  if (w.pre_scale != 1) in = fmt::format("{:.3g}·{}", w.pre_scale, in);
  const std::string branch = scaled(w.branch, "α", normed(w.after, "f(" + in + ")"));
  const bool normed_sum = w.stream != NormKind::None;
  const ResidualRow* scaled_by = factor_of(w);
  const std::string factor(scaled_by ? scaled_by->factor : ""),
      passed = normed_sum ? factor + x : x,
      carried = w.branch.kind == Scale::Kind::Toward ? "(1 − α)⊙" + passed : scaled(w.skip, "λ", passed);
  const std::string sum = carried + " + " + branch + (w.bottom ? " + x₀" : "");
  return (x == "h" ? "h = N(x); " : "") +
         (scaled_by && !normed_sum ? factor + "(" + sum + ")" : normed(w.stream, sum));
}

std::string placement_text(const std::string& name, const std::string& label, const StackWiring& stack,
                           NormKind norm, const StackContext& context) {
  for (const NormKind own : {NormKind::None, stack.embedding.kind, stack.final.kind})
    for (const bool rules : {true, false}) {
      if (own == NormKind::LayerNorm) continue;
      const std::string text = text_of(name, label, stack, norm, context, {rules, own});
      const PlacementFile read = parse_placement(text, name + ".toml");
      if (preset_stack(read.row(), norm, context) == stack) return text;
    }
  fail("placement",
       "a norm of this wiring is LayerNorm beside another of the model, or one of the whole stack "
       "is not the model's: expected the model's kind there");
}

}  // namespace normscope

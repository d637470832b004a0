// The functions that files of addons/published/families may ask for, and how a config.json becomes a specification.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "addons/published/engine/rotary.h"
#include "addons/published/training/family.h"
#include "engine/core/error.h"
#include "training/io/text.h"
#include "training/spec/spec_text.h"

namespace normscope::published {
namespace {

constexpr size_t kLongestValue = 100, kMostKeys = 10'000;
constexpr int64_t kMaxWords = 2'000'000;
constexpr int32_t kMaxStretches = 256;

[[noreturn]] void refuse(const RuleInput& in, const Message& expected) {
  if (in.value) in.value->refuse(expected);
  fail("family", "the default '{}': expected {}", in.text, expected);
}

/// Translates the library's names.
std::string activation(const RuleInput& in) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"relu", "relu"},
                                                                      {"gelu", "gelu_erf"},
                                                                      {"gelu_new", "gelu"},
                                                                      {"silu", "silu"},
                                                                      {"gelu_pytorch_tanh", "gelu"},
                                                                      {"gelu_fast", "gelu"},
                                                                      {"swish", "silu"},
                                                                      {"relu2", "relu2"}};
  for (const auto& [theirs, ours] : kNames)
    if (in.text == theirs) return std::string(ours);
  refuse(in, "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or relu2");
}

/// Joins the two flags of Llama.
std::string biases_beside_mlp_bias(const RuleInput& in) {
  const auto other = found(in.config, "mlp_bias");
  const bool attention = in.text == "true", network = other && other->flag();
  return attention ? network ? "every" : "attention" : network ? "ffn" : "none";
}

float above_zero(const RuleInput& in) {
  float value = 0;
  if (!parse_real(in.text, value) || value <= 0) refuse(in, "a number above 0");
  return value;
}
std::string inverse(const RuleInput& in) { return real_text(1 / above_zero(in)); }
std::string inverse_root(const RuleInput& in) { return real_text(1 / std::sqrt(above_zero(in))); }

/// Only the largest Gemma 2 and 3 have heads of 128 numbers; they scale as if a head had width / heads numbers.
std::string gemma_scale(const RuleInput& in) {
  const ModelConfig& model = in.spec.model;
  const std::string even = std::to_string(model.d_model / std::max(model.heads, 1));
  return inverse_root({in.config, in.spec, in.value, in.text == "128" ? even : in.text});
}

/// Subtracts the two rows of the table of positions that no symbol uses. The field refuses what is then below its range.
std::string less_two(const RuleInput& in) {
  int64_t value = 0;
  parse_integer(in.text, value);
  return std::to_string(std::max<int64_t>(value, 0) - 2);
}

std::string or_four_widths(const RuleInput& in) {
  return in.text.empty() ? std::to_string(4 * in.spec.model.d_model) : in.text;
}

/// 0 for a table that is as wide as the model.
std::string unless_the_width(const RuleInput& in) {
  return in.text == std::to_string(in.spec.model.d_model) ? "0" : in.text;
}

std::string letters_of(const RuleInput& in) {
  constexpr std::string_view kTypes[] = {"full_attention", "sliding_attention"};
  const auto layers = static_cast<size_t>(in.spec.model.layers);
  std::string letters;
  for (const InputValue& layer : in.value->list(layers, layers))
    letters += "fw"[layer.is_text() ? layer.choice(kTypes) : size_t{layer.flag()}];  // in GGUF: has a window
  return letters;
}

/// Of a GGUF file, by the tensors of its first layer.
std::string biases_there(const RuleInput& in) {
  const auto there = [&](const char* matrix) {
    return found(in.config, fmt::format("has.blk.0.{}.bias", matrix)).has_value();
  };
  const bool queries = there("attn_q") || there("attn_qkv"), output = there("attn_output"),
             network = there("ffn_down");
  if (queries) return network ? "every" : output ? "attention" : "qkv";
  return network ? output ? "but-qkv" : "ffn" : "none";
}

int64_t layers_in(const RuleInput& in, int64_t low) {
  int64_t count = 0;
  parse_integer(in.text, count);
  if (count < low || count > 4096) refuse(in, Message("a whole number from {} to 4096", low));
  return count;
}

/// Without a value in the file: the library's for yarn, otherwise our own defaults.
std::string turns_kept(const RuleInput& in) {
  if (!in.text.empty()) return in.text;
  return in.spec.model.of<RotaryConfig>().scaling == RotaryScaling::Yarn ? "32"
                                                                         : real_text(RotaryConfig().high);
}

/// Refuses a share that leaves a number of a head without a partner, which the library then pairs with a number that
/// does not turn.
std::string whole_pairs(const RuleInput& in) {
  const int32_t width = head_width(in.spec.model);
  float standard = 0;
  parse_real(in.text, standard);
  const double share = in.value ? in.value->number(0, 1) : static_cast<double>(standard);
  if (static_cast<int>(share * width) % 2 != 0)
    refuse(in, Message("a share that is an even number of the {} of a head", width));
  return in.text;
}

/// The numbers of a head that turn as a share; half a number more keeps rounding from losing one.
std::string share_of_numbers(const RuleInput& in) {
  const int32_t width = head_width(in.spec.model);
  int64_t numbers = in.text.empty() ? width : 0;
  parse_integer(in.text, numbers);
  if (numbers < 2 || numbers > width || numbers % 2 != 0)
    refuse(in, Message("an even number, up to the {} of a head", width));
  return numbers == width ? "1" : real_text((static_cast<float>(numbers) + 0.5f) / static_cast<float>(width));
}

/// A list has 1 for each layer that turns queries and keys; a number n: every n-th does not.
std::string turning(const RuleInput& in) {
  const auto layers = static_cast<size_t>(in.spec.model.layers);
  std::string letters;
  if (!in.value || !in.value->is_list())
    return std::string(static_cast<size_t>(layers_in(in, 1) - 1), 'r') + "n";
  for (const InputValue& layer : in.value->list(layers, layers)) letters += "nr"[layer.whole(0, 1)];
  return letters;
}

/// Falcon has one norm for both branches, or two with the newer order of heads.
std::string falcon_norms(const RuleInput& in) {
  const auto is = [&](const char* key, bool otherwise) {
    const auto value = found(in.config, key);
    return value && !value->is_null() ? value->flag() : otherwise;
  };
  const bool newer = is("new_decoder_architecture", false);
  if (!newer && !is("parallel_attn", true)) return "before=ln";
  return newer && (in.text.empty() || in.text == "2") ? "before=ln parallel"
                                                      : "before=ln parallel shared-norm";
}

std::string falcon_heads_of_keys(const RuleInput& in) {
  const auto newer = found(in.config, "new_decoder_architecture"), one = found(in.config, "multi_query");
  if (newer && !newer->is_null() && newer->flag()) return in.text;
  return one && !one->is_null() && !one->flag() ? "0" : "1";
}

/// A list of lists: kinds of layers, and how often they come.
std::string repeated_kinds(const RuleInput& in) {
  constexpr std::string_view kKinds[] = {"global", "local"};
  if (!in.value) return in.text;
  std::string letters;
  for (const InputValue& stretch : in.value->list(1, kMaxStretches)) {
    const std::vector<InputValue> of = stretch.list(2, 2);
    const std::vector<InputValue> kinds = of[0].list(1, kMaxStretches);
    for (int32_t times = of[1].whole(1, kMaxStretches); times > 0; --times)
      for (const InputValue& kind : kinds) letters += "fw"[kind.choice(kKinds)];
  }
  return letters;
}

/// A list has the kind of each layer, with a number n every n-th layer sees all, letters are the pattern.
std::string windows(const RuleInput& in) {
  if (in.value && in.value->is_list()) return letters_of(in);
  if (in.text.find_first_not_of("wf") == in.text.npos) return in.text;
  return std::string(static_cast<size_t>(layers_in(in, 1) - 1), 'w') + "f";
}

/// As windows(), but with a number n the first of every n layers sees all.
std::string windows_behind(const RuleInput& in) {
  std::string letters = windows(in);
  if (!in.value || !in.value->is_list()) std::ranges::rotate(letters, letters.end() - 1);
  return letters;
}

/// Their window spans both sides of a symbol; ours counts one side and the symbol.
std::string half_and_own(const RuleInput& in) {
  int64_t value = 0;
  parse_integer(in.text, value);
  return std::to_string(value / 2 + 1);
}

/// In a model with windows, only the layers with a window turn queries and keys.
std::string turning_in_windows(const RuleInput& in) {
  std::string letters = windows(in);
  if (in.spec.model.attention.window == 0) return "";
  for (char& letter : letters) letter = letter == 'w' ? 'r' : 'n';
  return letters;
}

/// A list has the kind of each layer; a number is how many of the first layers see all.
std::string late_windows(const RuleInput& in) {
  if (in.value && in.value->is_list()) return letters_of(in);
  const auto layers = static_cast<size_t>(in.spec.model.layers);
  const size_t first = std::min(static_cast<size_t>(layers_in(in, 0)), layers);
  return std::string(first, 'f') + std::string(layers - first, 'w');
}

constexpr std::pair<std::string_view, Rule> kRules[] = {{"activation", activation},
                                                        {"biases_there", biases_there},
                                                        {"biases_beside_mlp_bias", biases_beside_mlp_bias},
                                                        {"falcon_heads_of_keys", falcon_heads_of_keys},
                                                        {"falcon_norms", falcon_norms},
                                                        {"gemma_scale", gemma_scale},
                                                        {"half_and_own", half_and_own},
                                                        {"inverse", inverse},
                                                        {"inverse_root", inverse_root},
                                                        {"late_windows", late_windows},
                                                        {"less_two", less_two},
                                                        {"or_four_widths", or_four_widths},
                                                        {"repeated_kinds", repeated_kinds},
                                                        {"share_of_numbers", share_of_numbers},
                                                        {"turning", turning},
                                                        {"turning_in_windows", turning_in_windows},
                                                        {"turns_kept", turns_kept},
                                                        {"unless_the_width", unless_the_width},
                                                        {"whole_pairs", whole_pairs},
                                                        {"windows", windows},
                                                        {"windows_behind", windows_behind}};

/// The text of a setting; nothing: our own default.
std::optional<std::string> value_of(const Setting& setting, const InputValue& config, const RunSpec& spec) {
  if (!setting.when.empty()) {
    const auto when = found(config, setting.when);
    if (!when || when->is_null() || !when->flag()) return std::nullopt;
  }
  std::optional<InputValue> value;
  std::optional<std::string> text = setting.absent;
  for (const std::string& key : setting.keys) {
    auto at = found(config, key);
    if (at && at->is_null() && setting.null) text = setting.null;
    if (!at || at->is_null()) continue;
    value = std::move(at);
    text = value->is_list() ? "" : value->scalar(kLongestValue);
    break;
  }
  if (!setting.take.empty()) return rule_named(setting.take)({config, spec, value, text.value_or("")});
  if (value && value->is_list()) value->refuse("a text, a number, true or false");
  if (text && !setting.words.empty())
    return std::string(setting.words).replace(setting.words.find('*'), 1, *text);
  if (!text || setting.values.empty()) return text;
  if (const auto ours = setting.values.find(*text); ours != setting.values.end()) return ours->second;
  std::vector<std::string> known;
  for (const auto& [theirs, ours] : setting.values) known.push_back(theirs);
  refuse({config, spec, value, *text}, one_of(known));
}

/// Refuses keys that a family has not, if it says which it has, but for those that say no.
void check_only(const std::vector<std::string>& only, const std::string& title, const InputValue& config) {
  if (only.empty()) return;
  for (const auto& [key, value] : config.members(kMostKeys))
    if (std::ranges::find(only, key) == only.end() && !value.is_null() &&
        value.json_text(kLongestValue) != "false")
      value.refuse(Message("{} alone, which is all that {} has", fmt::join(only, ", "), title));
}

/// Refuses what we do not have.
void check_must(const Family& family, const InputValue& config) {
  if (const auto quantized = found(config, "quantization_config"); quantized && !quantized->is_null())
    quantized->refuse("weights as floats, without this key");
  check_only(family.only, family.title, config);
  const auto old = found(config, "rope_scaling"), now = found(config, "rope_parameters");
  if (old && now && !old->is_null() && !now->is_null()) old->refuse("null beside rope_parameters");
  for (const auto& [key, expected] : family.must) {
    const auto value = found(config, key);
    if (!value || value->is_null()) continue;
    const std::string given = value->is_list() || value->is_object() ? "" : value->scalar(kLongestValue);
    float number = 0, wanted = 0;  // 1 may be written as 1.0
    const bool equal = parse_real(given, number) && parse_real(expected, wanted) && number == wanted;
    if (given != expected && !equal) value->refuse(Message("{}, the only one that there is here", expected));
  }
}

/// Requires the numbers that the library requires of each kind of scaling.
void check_scaling(const InputValue& config) {
  constexpr std::pair<std::string_view, std::string_view> kNeeded[] = {{"linear", "factor"},
                                                                       {"yarn", "factor"},
                                                                       {"llama3", "factor"},
                                                                       {"llama3", "low_freq_factor"},
                                                                       {"llama3", "high_freq_factor"}};
  for (const char* place : {"rope_scaling", "rope_parameters", "rope_parameters.full_attention"}) {
    const auto scaling = found(config, place);
    if (!scaling || !scaling->is_object()) continue;
    const auto type = scaling->find(scaling->find("rope_type") ? "rope_type" : "type");
    for (const auto& [kind, key] : kNeeded)
      if (type && type->is(kind) && scaling->at(key).is_null()) scaling->at(key).refuse("a number");
    const auto sharper = scaling->find("attention_factor");
    if (!sharper || sharper->is_null()) continue;
    const bool yarn = type && type->is("yarn");
    if (!yarn ||
        std::abs(sharper->number(0, 1000) - 1 - 0.1 * std::log(scaling->at("factor").number(1, 1e6))) > 1e-6)
      sharper->refuse(Message("{}, the only one that there is here", "null"));
  }
}

}  // namespace

Rule rule_named(std::string_view name) {
  for (const auto& [known, rule] : kRules)
    if (known == name) return rule;
  return nullptr;
}

std::optional<InputValue> found(const InputValue& config, std::string_view key) {
  if (auto whole = config.find(key)) return whole;  // as the keys of GGUF are
  const size_t dot = key.find('.');
  auto value = config.find(key.substr(0, dot));
  if (dot == key.npos || !value || value->is_null()) return value;
  return found(*value, key.substr(dot + 1));
}

RunSpec spec_of(const Family& family, const InputValue& config, std::string_view where, int32_t positions) {
  check_must(family, config);
  check_scaling(config);
  RunSpec spec;
  const auto apply = [&](std::string_view key, const auto& set) {
    const auto at = family.settings.find(std::string(key));
    if (at == family.settings.end()) return;
    if (const auto value = value_of(at->second, config, spec)) try {
        set(*value);
      } catch (const Error& error) {
        const std::string theirs = at->second.keys.empty() ? family.title : at->second.keys.front();
        fail(where, "{}: {}", theirs, error.message);
      }
  };
  set_field(spec, "model.sequence", std::to_string(positions));
  for (const Field& field : spec_fields())
    apply(field.key, [&](const std::string& text) {
      set_field(spec, field.key, text);
      if (field.key == "model.eps" && !(spec.model.eps > 0))
        fail(field.key, "'{}': expected a number above 0", text);
    });
  for (const char* key : {"wiring.embedding", "wiring.L*.attn", "wiring.L*.ffn", "wiring.L01.attn"})
    apply(key, [&](const std::string& text) { set_field(spec, key, text); });
  apply(kVocabulary, [&](const std::string& text) {
    int64_t value = 0;
    if (!parse_integer(text, value) || value < 2 || value > kMaxWords)
      fail("vocabulary", "'{}' words: expected a whole number from 2 to {}", text, kMaxWords);
    spec.model.vocabulary = static_cast<int32_t>(value);
  });
  if (spec.model.sequence < positions)
    fail(where, "the model has {} positions and the text {}: expected at most as many", spec.model.sequence,
         positions);
  complete(spec);
  return spec;
}

}  // namespace normscope::published

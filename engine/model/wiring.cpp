// The text form of a wiring, and the names of the norms. The presets: model/placements.cpp.
#include "engine/model/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "engine/model/residual.h"

namespace normscope {
namespace {

// A learned scale, by the word before the colon.
struct LearnedScale {
  std::string_view word;
  Scale::Kind kind;
  Scale::Profile profile;
};
constexpr LearnedScale kLearnedScales[] = {
    {"scalar:", Scale::Kind::LearnedScalar, Scale::Profile::None},
    {"vector:", Scale::Kind::LearnedVector, Scale::Profile::None},
    {"admin:", Scale::Kind::LearnedVector, Scale::Profile::Sequential},
    {"admin-paper:", Scale::Kind::LearnedVector, Scale::Profile::AtOnce},
    {"toward:", Scale::Kind::Toward, Scale::Profile::None}};

std::string scale_text(const char* key, const Scale& s) {
  if (s.kind == Scale::Kind::One) return "";
  std::string_view word;
  for (const LearnedScale& learned : kLearnedScales)
    if (s.kind == learned.kind && s.profile == learned.profile) word = learned.word;
  return fmt::format(" {}={}{}", key, word, s.value);
}

float number_from(std::string_view text, std::string_view word) {
  float value = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    fail("wiring",
         "'{}' does not hold a number: expected for instance skip=1.5, branch=scalar:0 or before=ln:1e-6",
         word);
  return value;
}

Scale scale_from(std::string_view text, std::string_view word, bool skip) {
  for (const LearnedScale& learned : kLearnedScales)
    if (text.starts_with(learned.word)) {
      if (learned.kind == Scale::Kind::Toward && skip)
        fail("wiring", "'{}' goes toward a branch: expected it on one, as branch=toward:0.05", word);
      if (learned.profile != Scale::Profile::None && !skip)
        fail("wiring", "'{}' profiles a branch: expected it on a skip", word);
      return {learned.kind, number_from(text.substr(learned.word.size()), word), learned.profile};
    }
  return {Scale::Kind::Constant, number_from(text, word)};
}

// A word that names a norm.
struct NormWord {
  std::string_view word;
  WiredNorm& (*at)(Wiring&);
};
constexpr NormWord kNormWords[] = {{"enter", [](Wiring& w) -> WiredNorm& { return w.enter; }},
                                   {"before", [](Wiring& w) -> WiredNorm& { return w.before; }},
                                   {"q", [](Wiring& w) -> WiredNorm& { return w.inner.query; }},
                                   {"k", [](Wiring& w) -> WiredNorm& { return w.inner.key; }},
                                   {"v", [](Wiring& w) -> WiredNorm& { return w.inner.value; }},
                                   {"hidden", [](Wiring& w) -> WiredNorm& { return w.inner.hidden; }},
                                   {"output", [](Wiring& w) -> WiredNorm& { return w.inner.output; }},
                                   {"after", [](Wiring& w) -> WiredNorm& { return w.after; }},
                                   {"stream", [](Wiring& w) -> WiredNorm& { return w.stream; }}};

// A word that stands alone.
struct FlagWord {
  std::string_view word;
  bool& (*at)(Wiring&);
};
constexpr FlagWord kFlagWords[] = {
    {"across-heads", [](Wiring& w) -> bool& { return w.inner.across_heads; }},
    {"v-across-heads", [](Wiring& w) -> bool& { return w.inner.values_across_heads; }},
    {"head-scale", [](Wiring& w) -> bool& { return w.inner.head_scale; }},
    {"shifts", [](Wiring& w) -> bool& { return w.inner.shifts; }},
    {"bottom", [](Wiring& w) -> bool& { return w.bottom; }},
    {"parallel", [](Wiring& w) -> bool& { return w.parallel; }},
    {"shared-norm", [](Wiring& w) -> bool& { return w.shared_norm; }}};

/// The words of residual forms, each with its bit.
std::vector<std::pair<std::string_view, uint32_t>> added_words() {
  std::vector<std::pair<std::string_view, uint32_t>> words;
  uint32_t bit = 1;
  for (const ResidualRow* row : residual_rows()) {
    if (!row->word.empty()) words.emplace_back(row->word, bit);
    bit <<= 1;
  }
  return words;
}

/// Sets the member that a word names; false for an unknown word.
bool set_word(Wiring& w, const std::string& word) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
  for (const FlagWord& flag : kFlagWords)
    if (word == flag.word) return flag.at(w) = true;
  for (const auto& [added, bit] : added_words())
    if (word == added) return (w.added |= bit) != 0;
  for (const NormWord& norm : kNormWords)
    if (key == norm.word ||
        (key == "trunk" && norm.word == "stream")) {  // its word in earlier configurations
      norm.at(w) = wired_norm_from(value);
      return true;
    }
  if (key == "skip")
    w.skip = scale_from(value, word, true);
  else if (key == "branch")
    w.branch = scale_from(value, word, false);
  else if (key == "pre-scale")
    w.pre_scale = number_from(value, word);
  else if (key == "gain")
    w.init_gain = number_from(value, word);
  else
    return false;
  return true;
}

}  // namespace

WiredNorm& slot(Wiring& w, Slot which) {
  return which == Slot::Before ? w.before : which == Slot::After ? w.after : w.stream;
}

WiredNorm slot(const Wiring& w, Slot which) {
  return which == Slot::Before ? w.before : which == Slot::After ? w.after : w.stream;
}

NormKind norm_from(std::string_view name) {
  for (NormKind kind : kNormKinds)
    if (name == short_name(kind)) return kind;
  std::string known;
  for (NormKind kind : kNormKinds) known += (known.empty() ? "" : ", ") + std::string(short_name(kind));
  fail("norm", "'{}' is not a norm: expected one of {}", name, known);
}

std::string to_string(const WiredNorm& norm) {
  return norm.eps > 0 ? fmt::format("{}:{}", short_name(norm), norm.eps) : short_name(norm);
}

WiredNorm wired_norm_from(std::string_view text) {
  const size_t colon = text.find(':');
  const NormKind kind = norm_from(text.substr(0, colon));
  if (colon == text.npos) return kind;
  const float eps = number_from(text.substr(colon + 1), text);
  if (kind == NormKind::None || !traits_of(kind).has_statistics)
    fail("norm", "'{}': {} divides by no deviation: expected no epsilon", text, short_name(kind));
  if (eps <= 0 || eps > 1) fail("norm", "'{}': expected an epsilon above 0, up to 1", text);
  return {kind, eps};
}

std::array<WiredNorm*, 9> norms_of(Wiring& w) {
  return {&w.enter,        &w.before,       &w.inner.query, &w.inner.key, &w.inner.value,
          &w.inner.hidden, &w.inner.output, &w.after,       &w.stream};
}

std::array<WiredNorm, 9> norms_of(const Wiring& w) {
  return {w.enter,        w.before,       w.inner.query, w.inner.key, w.inner.value,
          w.inner.hidden, w.inner.output, w.after,       w.stream};
}

std::vector<WiredNorm*> norms_of(StackWiring& s) {
  std::vector<WiredNorm*> norms{&s.embedding, &s.final};
  for (StackSlot& slot : s.slots)
    if (slot.words.empty()) norms.push_back(&slot.norm);
  return norms;
}

std::vector<WiredNorm> norms_of(const StackWiring& s) {
  std::vector<WiredNorm> norms{s.embedding, s.final};
  for (const StackSlot& slot : s.slots)
    if (slot.words.empty()) norms.push_back(slot.norm);
  return norms;
}

WiredNorm norm_at(const StackWiring& stack, std::string_view slot) {
  const auto at = std::ranges::find(stack.slots, slot, &StackSlot::key);
  return at == stack.slots.end() ? WiredNorm() : at->norm;
}

std::string_view words_at(const StackWiring& stack, std::string_view slot) {
  const auto at = std::ranges::find(stack.slots, slot, &StackSlot::key);
  return at == stack.slots.end() ? std::string_view() : at->words;
}

std::string to_string(const Wiring& wiring) {
  Wiring w = wiring;
  std::string text;
  for (const NormWord& norm : kNormWords)
    if (norm.at(w) != NormKind::None) text += fmt::format(" {}={}", norm.word, to_string(norm.at(w)));
  text += scale_text("skip", w.skip) + scale_text("branch", w.branch);
  if (w.pre_scale != 1.0f) text += fmt::format(" pre-scale={}", w.pre_scale);
  if (w.init_gain != 1.0f) text += fmt::format(" gain={}", w.init_gain);
  for (const FlagWord& flag : kFlagWords)
    if (flag.at(w)) text += fmt::format(" {}", flag.word);
  for (const auto& [word, bit] : added_words())
    if ((w.added & bit) != 0) text += fmt::format(" {}", word);
  return text.empty() ? "none" : text.substr(1);
}

Wiring wiring_from(std::string_view text) {
  Wiring w;
  std::string added;
  for (const auto& [word, bit] : added_words()) added += fmt::format(", {}", word);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;)
    if (word != "none" && !set_word(w, word))
      fail("wiring",
           "'{}' is unknown: expected enter=, before=, q=, k=, v=, output=, after=, stream=, skip=, branch=, "
           "pre-scale=, gain=, across-heads, head-scale, shifts, bottom, parallel, shared-norm{} or none",
           word, added);
  return w;
}

}  // namespace normscope

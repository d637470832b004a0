// The text form of streams. What a stack does with them: several_streams.cpp.
#include "addons/newer-placements/engine/streams.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <sstream>

#include "engine/core/error.h"
#include "engine/model/residual.h"

namespace normscope {
namespace {

constexpr std::array<const char*, 3> kStreamWeights = {"fixed", "learned", "computed"};
constexpr std::array<const char*, 3> kStreamRules = {"", "softmax", "manifold"};

template <typename Enum>
bool set_word_of(const std::array<const char*, 3>& names, std::string_view word, Enum& to) {
  for (size_t i = 0; i < names.size(); ++i)
    if (word == names[i]) {
      to = static_cast<Enum>(i);
      return true;
    }
  return false;
}

int32_t stream_count(std::string_view word) {
  if (word == "depth") return 0;
  int32_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc{} || end != word.data() + word.size() || count < 1 || count > kMostStreams)
    fail("streams", "'{}' is no number of streams: expected 1 to {}, or depth", word, kMostStreams);
  return count;
}

void check_rule(const Streams& s) {
  if (s.rule == Streams::Rule::Softmax && !s.of_depth())
    fail("streams", "a softmax is over what each branch wrote: expected depth");
  if (s.rule == Streams::Rule::Manifold && s.of_depth())
    fail("streams", "what is read over depth has no matrix to carry it: expected free weights or softmax");
  if (s.rule != Streams::Rule::Free && s.weights == Streams::Weights::Fixed)
    fail("streams", "fixed weights follow no rule: expected learned or computed ones");
  if (s.one() && !(s == Streams{})) fail("streams", "one stream has no weights: expected 1 alone");
}

}  // namespace

std::string to_string(const Streams& s) {
  if (s.one()) return "1";
  const char *weights = kStreamWeights[static_cast<size_t>(s.weights)],
             *rule = kStreamRules[static_cast<size_t>(s.rule)];
  return fmt::format("{} {}{}{}", s.of_depth() ? "depth" : std::to_string(s.count), weights, *rule ? " " : "",
                     rule);
}

Streams streams_from(std::string_view text) {
  Streams s;
  std::istringstream words{std::string(text)};
  std::string word;
  if (!(words >> word)) fail("streams", "it is empty: expected for instance 1, 4 computed or depth learned");
  s.count = stream_count(word);
  while (words >> word)
    if (word.empty() ||
        (!set_word_of(kStreamWeights, word, s.weights) && !set_word_of(kStreamRules, word, s.rule)))
      fail("streams", "'{}' is unknown: expected fixed, learned or computed, and softmax or manifold", word);
  check_rule(s);
  return s;
}

Streams streams_of(const StackWiring& stack) {
  const std::string_view words = words_at(stack, "streams");
  return words.empty() ? Streams{} : streams_from(words);
}

}  // namespace normscope

// Copy, reverse, sort. See sequence_task.h.
#include "training/data/sequence_task.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/task_kind.h"
#include "training/data/translation_task.h"

namespace normscope {
namespace {

constexpr std::string_view kNames[] = {"copy", "reverse", "sort"};
constexpr std::string_view kGlyphs =
    "abcdefghijklmnopqrstuvwxyz012345|";  // how the 32 symbols and SEP are written

class SequenceTask final : public Task {
 public:
  // Each target is one of n independent uniform symbols, also after sorting, which keeps the multiset. So the symbols
  // are uniform over the targets, SEP never is a target, and the input determines the answer.
  explicit SequenceTask(SequenceRule rule) : Task("symbol", 0.0), rule_(rule) {
    unigram_.assign(kSequenceSymbols + 1, 1.0 / kSequenceSymbols);
    unigram_[kSeparator] = 0;
    hash_ = hash_bytes(name());
  }

  int32_t vocabulary() const override { return kSequenceSymbols + 1; }

  void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T, std::span<int32_t> tokens,
             std::span<int32_t> targets) const override {
    check_batch(B, T, tokens, targets);
    require_context(T);
    each_row(seed, step, split, T, tokens, targets,
             [&](BatchDraws& draws, auto row, auto answers) { fill_row(draws, row, answers); });
  }

  void require_context(int32_t T) const override {
    if (T < 2)
      fail("data " + std::string(name()), "context {}: expected at least 2, one symbol and its answer", T);
  }

  std::string decode(std::span<const int32_t> tokens) const override {
    std::string text;
    for (int32_t token : tokens) {
      text += token >= 0 && token <= kSeparator ? kGlyphs[static_cast<size_t>(token)] : '?';
    }
    return text;
  }

 private:
  std::string_view name() const { return kNames[static_cast<size_t>(rule_)]; }

  // Writes
  //   tokens  = x1 .. xn SEP y1 .. y(n-1)
  //   targets = -1 .. -1 y1  y2 .. yn
  void fill_row(BatchDraws& draws, std::span<int32_t> tokens, std::span<int32_t> targets) const {
    const size_t n = tokens.size() / 2;
    const std::span<int32_t> answer = targets.subspan(n, n);
    for (size_t i = 0; i < n; ++i) {
      tokens[i] = static_cast<int32_t>(draws.below(kSequenceSymbols));
      targets[i] = -1;
      answer[i] = tokens[i];
    }
    if (rule_ == SequenceRule::Reverse) std::reverse(answer.begin(), answer.end());
    if (rule_ == SequenceRule::Sort) std::sort(answer.begin(), answer.end());
    tokens[n] = kSeparator;
    std::copy(answer.begin(), answer.end() - 1, tokens.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    if (tokens.size() > 2 * n) {  // odd T: the last answer is read, and no target follows
      tokens[2 * n] = answer.back();
      targets[2 * n] = -1;
    }
  }

  SequenceRule rule_;
};

template <SequenceRule kRule>
constexpr TaskKind kind() {
  constexpr std::string_view kName = kNames[static_cast<size_t>(kRule)];
  return {.name = kName,
          .make =
              [](const DataSpec& data) {
                return data.form == TaskForm::Translate ? make_sequence_translation(kRule, data.context)
                                                        : make_sequence_task(kRule, data.context);
              },
          .learners = "decoder encoder-decoder",
          .unit = "symbol",
          .made_up = kName};
}

}  // namespace

constinit const TaskKind kCopyKind = kind<SequenceRule::Copy>(), kReverseKind = kind<SequenceRule::Reverse>(),
                         kSortKind = kind<SequenceRule::Sort>();

std::shared_ptr<const Task> make_sequence_task(SequenceRule rule, int32_t context) {
  auto task = std::make_shared<SequenceTask>(rule);
  task->require_context(context);
  return task;
}

}  // namespace normscope

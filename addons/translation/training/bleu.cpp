// See bleu.h. The rewriting works on bytes: every character that a rule names is ASCII, and any byte of a
// longer one is "not a digit" just as the whole character is.
#include "addons/translation/training/bleu.h"

#include <algorithm>

#include "addons/translation/training/pairs_task.h"
#include "addons/translation/training/translator.h"
#include "training/experiments/run_numbers.h"
#include "training/io/text.h"

namespace normscope {
namespace {

constexpr size_t kOrders = 4;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_mark(char c) { return c == '.' || c == ','; }
bool stands_apart(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// Rewrites every pair of neighbours that the predicate takes, from the left and without overlap.
template <typename Takes, typename Write>
std::string rewrite_pairs(const std::string& text, Takes takes, Write write) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && takes(text[i], text[i + 1])) {
      write(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// White space as Python's str.split() knows it.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words(1);
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = read_code_point(text, at);
    const auto bytes = static_cast<size_t>(std::max(point.bytes, 1));
    if (point.bytes > 0 && is_space(point.value)) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += text.substr(at, bytes);
    }
    at += bytes;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

using Counts = std::map<std::vector<std::string>, int64_t>;

Counts ngrams(const std::vector<std::string>& words, size_t order) {
  Counts counts;
  for (size_t i = 0; i + order <= words.size(); ++i) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[{first, first + static_cast<std::ptrdiff_t>(order)}];
  }
  return counts;
}

struct Matches {
  std::array<int64_t, kOrders> correct = {}, total = {};
  int64_t hypothesis = 0, reference = 0;

  void add(const std::vector<std::string>& h, const std::vector<std::string>& r) {
    hypothesis += static_cast<int64_t>(h.size());
    reference += static_cast<int64_t>(r.size());
    for (size_t n = 1; n <= kOrders; ++n) {
      const Counts known = ngrams(r, n);
      for (const auto& [gram, count] : ngrams(h, n)) {
        const auto at = known.find(gram);
        if (at != known.end()) correct[n - 1] += std::min(count, at->second);
        total[n - 1] += count;
      }
    }
  }
};

Bleu score_of(const Matches& m) {
  Bleu bleu;
  bleu.hypothesis_length = m.hypothesis;
  bleu.reference_length = m.reference;
  if (m.hypothesis < m.reference)
    bleu.brevity_penalty =
        m.hypothesis > 0 ? std::exp(1 - static_cast<double>(m.reference) / static_cast<double>(m.hypothesis))
                         : 0;
  if (std::ranges::all_of(m.correct, [](int64_t c) { return c == 0; })) return bleu;
  double logarithms = 0, smoothing = 1;
  for (size_t n = 0; n < kOrders; ++n) {
    if (m.total[n] == 0) return bleu;  // no n-gram of that order: the geometric mean is 0
    if (m.correct[n] == 0) smoothing *= 2;
    const double matched = m.correct[n] == 0 ? 1 / smoothing : static_cast<double>(m.correct[n]);
    bleu.precisions[n] = 100 * matched / static_cast<double>(m.total[n]);
    logarithms += std::log(bleu.precisions[n]);
  }
  bleu.score = bleu.brevity_penalty * std::exp(logarithms / kOrders);
  return bleu;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_each(text, "<skipped>", "");
  for (const auto& [what, by] : {std::pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    replace_each(text, what, by);
  std::string apart = " ";
  for (char c : text + " ") {
    if (stands_apart(c)) {
      (apart += ' ') += c;
      apart += ' ';
    } else {
      apart += c;
    }
  }
  // Separates a point or comma unless a digit precedes it; then, unless a digit follows it; then a dash after a digit.
  apart = rewrite_pairs(
      apart, [](char a, char b) { return !is_digit(a) && is_mark(b); },
      [](std::string& out, char a, char b) {
        (out += a) += ' ';
        (out += b) += ' ';
      });
  apart = rewrite_pairs(
      apart, [](char a, char b) { return is_mark(a) && !is_digit(b); },
      [](std::string& out, char a, char b) {
        (out += ' ') += a;
        (out += ' ') += b;
      });
  apart = rewrite_pairs(
      apart, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](std::string& out, char a, char b) {
        (out += a) += ' ';
        (out += b) += ' ';
      });
  return split(apart);
}

Bleu corpus_bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references) {
  if (hypotheses.size() != references.size() || hypotheses.empty())
    fail("bleu", "{} translations and {} references: expected as many, and at least one", hypotheses.size(),
         references.size());
  Matches matches;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    matches.add(tokenize_13a(hypotheses[i]), tokenize_13a(references[i]));
  return score_of(matches);
}

std::string to_string(const Bleu& b) {
  return fmt::format("BLEU {:.2f} ({:.1f}/{:.1f}/{:.1f}/{:.1f}, BP {:.3f}, {}/{} tokens)", b.score,
                     b.precisions[0], b.precisions[1], b.precisions[2], b.precisions[3], b.brevity_penalty,
                     b.hypothesis_length, b.reference_length);
}

}  // namespace normscope

namespace normscope::experiments {

// BLEU of a trained run's translations, for studies: of all validation pairs with the beam of normscope translate, or
// of the first rows of made-up data, greedily.

namespace {

constexpr int32_t kTranslated = 48;
constexpr BeamOptions kPairsBeam{.beam = 5, .length_penalty = 1.2};

std::string without_padding(const Task& task, std::span<const int32_t> row) {
  std::vector<int32_t> symbols;
  for (const int32_t symbol : row)
    if (symbol >= 0 && symbol != task.end()) symbols.push_back(symbol);
  return task.decode(symbols);
}

/// The sources, and the expected translations.
struct HeldOut {
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::string> references;
};

HeldOut all_pairs(const PairsTask& task) {
  HeldOut held;
  for (const TsvRow& row : task.validation()) {
    held.sources.push_back(task.tokenizer().encode(row.first));
    held.sources.back().push_back(task.end());
    held.references.push_back(row.second);
  }
  return held;
}

HeldOut first_rows(const Run& run) {
  const Task& task = run.task();
  const int32_t T = run.spec().model.sequence;
  Batch batch(task.shape(run.spec().seed, 1, Split::Validation, kTranslated, T));
  task.fill(run.spec().seed, 1, Split::Validation, kTranslated, T, batch.view());
  const auto rows = static_cast<size_t>(batch.B);
  const size_t width = batch.source.size() / rows;
  HeldOut held;
  for (size_t row = 0; row < rows; ++row) {
    const size_t length = batch.key_lengths.empty() ? width : static_cast<size_t>(batch.key_lengths[row]);
    const auto source = std::span(batch.source).subspan(row * width, length);
    held.sources.emplace_back(source.begin(), source.end());
    held.references.push_back(without_padding(
        task,
        std::span(batch.targets).subspan(row * static_cast<size_t>(batch.T), static_cast<size_t>(batch.T))));
  }
  return held;
}

double bleu_of(Run& run) {
  const Task& task = run.task();
  if (task.form() != TaskForm::Translate) return kUnknown;
  const auto* pairs = dynamic_cast<const PairsTask*>(&task);
  const HeldOut held = pairs ? all_pairs(*pairs) : first_rows(run);
  Translator translator(run.store(), run.spec().model, task.begin(), task.end(),
                        pairs ? kPairsBeam : BeamOptions{.beam = 1, .length_penalty = 1});
  std::vector<std::string> written;
  for (const std::vector<int32_t>& row : translator.translate(held.sources))
    written.push_back(without_padding(task, row));
  return corpus_bleu(written, held.references).score;
}

}  // namespace

constinit const EndNumber kBleuNumber{
    "bleu", "BLEU", "BLEU of translations of held-out rows.", bleu_of, nullptr, 1, 0};

}  // namespace normscope::experiments

// BLEU of what a trained run writes, for studies: of all validation pairs with the beam of normscope translate, or of the
// first rows of made-up data, greedily.
#include <string>
#include <vector>

#include "addons/translation/training/bleu.h"
#include "addons/translation/training/pairs_task.h"
#include "addons/translation/training/translator.h"
#include "training/experiments/run_numbers.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kTranslated = 48;
constexpr BeamOptions kPairsBeam{.beam = 5, .length_penalty = 1.2};

std::string without_padding(const Task& task, std::span<const int32_t> row) {
  std::vector<int32_t> symbols;
  for (const int32_t symbol : row)
    if (symbol >= 0 && symbol != task.end()) symbols.push_back(symbol);
  return task.decode(symbols);
}

/// What is translated, and the translations expected.
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

constinit const EndNumber kBleuNumber{"bleu", bleu_of};

}  // namespace normscope::experiments

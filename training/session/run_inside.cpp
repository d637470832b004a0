#include "training/session/run_inside.h"

#include <algorithm>
#include <vector>

#include "engine/core/error.h"
#include "training/inside/passage.h"
#include "training/run/evaluate.h"

namespace normscope {
namespace {

/// `tokens_of` is the text in the symbols of the run's data.
std::vector<int32_t> tokens_of(const Run& run, const std::string& text) {
  const RunSpec& spec = run.spec();
  if (!text.empty()) return run.task().encode(text);
  if (spec.data.name == "passage") return run.task().encode(spec.data.passage);
  return measured_row(run.task(), spec.model.sequence).tokens;
}

}  // namespace

std::shared_ptr<const RunInside> look_inside(Run& run, const std::string& text, bool left_out,
                                             std::optional<int32_t> spectra_of) {
  const RunSpec& spec = run.spec();
  require_language(spec.model);
  std::vector<int32_t> tokens = tokens_of(run, text);
  const size_t most = std::min(kMostInside, static_cast<size_t>(spec.model.sequence));
  if (text.empty() && tokens.size() > most) tokens.resize(most);
  if (tokens.size() < 2 || tokens.size() > most)
    fail("text", "{} tokens: expected 2 to {}, which this model reads at once", tokens.size(), most);
  auto inside = std::make_shared<RunInside>();
  inside->step = run.steps_done();
  inside->text = text;
  inside->left_out = left_out;
  std::vector<int32_t> types = run.task().types(tokens);
  inside->found =
      inside_of(run.store(), spec.model, passage_batch(spec.model, std::move(tokens), std::move(types)),
                {.gradients = true, .attention = true, .guesses = 3, .left_out = left_out});
  inside->spectra_of = spectra_of;
  if (spectra_of) inside->spectra = next_spectra(run, spectra_of);
  const auto word = [&](int32_t token) { inside->words.try_emplace(token, run.task().label(token)); };
  std::ranges::for_each(inside->found.tokens, word);
  for (const Inside::Lens& lens : inside->found.lens)
    for (const Inside::Guess& guess : lens.guesses) word(guess.token);
  return inside;
}

}  // namespace normscope

#include "addons/inside/training/run_inside.h"

#include <algorithm>

#include "addons/published/training/passage.h"
#include "addons/published/training/token_task.h"
#include "engine/core/error.h"
#include "training/run/evaluate.h"

namespace normscope {
namespace {

/// The text in the symbols of the run's data.
std::vector<int32_t> tokens_of(const Run& run, const std::string& text) {
  const RunSpec& spec = run.spec();
  if (!text.empty()) return run.task().encode(text);
  if (spec.data.name == "passage") return run.task().encode(passage_of(spec.data));
  return measured_row(run.task(), spec.model.sequence).tokens;
}

}  // namespace

InsideLook::InsideLook(Run& run, std::unique_ptr<Run> then, const std::string& text, bool left_out,
                       std::optional<int32_t> spectra_of)
    : then_(std::move(then)), run_(&run), spectra_of_(spectra_of) {
  const RunSpec& spec = run.spec();
  require_language(spec.model);
  std::vector<int32_t> tokens = tokens_of(run, text);
  const size_t most = std::min(kMostInside, static_cast<size_t>(spec.model.sequence));
  if (text.empty() && tokens.size() > most) tokens.resize(most);
  if (tokens.size() < 2 || tokens.size() > most)
    fail("text", "{} tokens: expected 2 to {}, which this model reads at once", tokens.size(), most);
  found_.step = run.steps_done();
  found_.text = text;
  found_.left_out = left_out;
  std::vector<int32_t> types = run.task().types(tokens);
  work_.emplace(run.store(), spec.model, passage_batch(spec.model, std::move(tokens), std::move(types)),
                InsideQuestion{.guesses = 3, .left_out = left_out});
}

/// The spectra come before what is left out: they take a single step.
bool InsideLook::next() {
  if (!work_->quick_done() || !spectra_of_ || found_.spectra_of) return work_->next();
  found_.spectra = next_spectra(*run_, spectra_of_);
  found_.spectra_of = spectra_of_;
  return true;
}

bool InsideLook::worth_showing() const {
  return done() == parts() || work_->done() == 1 || (work_->quick_done() && work_->found().left_out.empty());
}

std::shared_ptr<const RunInside> InsideLook::found() const {
  auto inside = std::make_shared<RunInside>(found_);
  inside->found = work_->found();
  inside->whole = done() == parts();
  const auto word = [&](int32_t token) { inside->words.try_emplace(token, run_->task().label(token)); };
  std::ranges::for_each(inside->found.tokens, word);
  for (const Inside::Lens& lens : inside->found.lens)
    for (const Inside::Guess& guess : lens.guesses) word(guess.token);
  return inside;
}

session::Inquire look_command(const InsideRequest& asked) {
  return {.run = asked.run,
          .step = asked.step,
          .copies = asked.spectra_of ? 1 : 0,
          .begin = [asked](Run& run, std::unique_ptr<Run> then) -> std::unique_ptr<Inquiry> {
            return std::make_unique<InsideLook>(run, std::move(then), asked.text, asked.left_out,
                                                asked.spectra_of);
          }};
}

const RunInside* inside_of(const RunView& run) { return dynamic_cast<const RunInside*>(run.inquiry.get()); }

}  // namespace normscope

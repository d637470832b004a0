#include "training/data/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "training/data/batch_draws.h"
#include "training/data/byte_tasks.h"
#include "training/data/corpus.h"
#include "training/io/text.h"

namespace normscope {
namespace {

// Consecutive text is cut into tracks. A split is divided into B tracks of equal length, one for each row. A pass reads
// each track from a place near its beginning, drawn from (seed, pass, row), T symbols a step. Within a pass the segment
// of step s + 1 begins where the segment of step s ends, in every row at once, and no row leaves its track.
struct Tracks {
  uint64_t length = 0;    // symbols of a track
  uint64_t segments = 1;  // of T symbols in a pass
  uint64_t width = 0;     // T

  static uint64_t before(uint64_t step) { return step > 0 ? step - 1 : 0; }
  uint64_t pass(uint64_t step) const { return before(step) / segments; }
  uint64_t segment(uint64_t step) const { return before(step) % segments; }
  // Where the row's segment of the step begins; `draws` belong to (seed, pass, split, row). A pass leaves
  // room for one segment at least, and may begin anywhere in what it leaves.
  size_t begin(int32_t row, uint64_t step, BatchDraws& draws) const {
    const uint64_t first = static_cast<uint64_t>(row) * length + draws.below(length - segments * width);
    return static_cast<size_t>(first + segment(step) * width);
  }
};

// The symbols that a track needs: a segment, the room for its beginning, and the last target.
uint64_t least_track(int32_t T) { return 2 * static_cast<uint64_t>(T) + 1; }

class TextTask final : public Task {
 public:
  TextTask(std::shared_ptr<const TextSource> source, std::string unit, bool consecutive)
      : Task(std::move(unit)), kept_(std::move(source)), source_(*kept_), consecutive_(consecutive) {
    unigram_.assign(source_.unigram().begin(), source_.unigram().end());
    hash_ = source_.hash();
  }

  // For a text with a known grammar: its exact letter frequencies and its true entropy rate.
  void set_grammar(const Grammar& grammar) {
    const auto& symbols = source_.vocabulary().symbols();
    for (size_t i = 0; i < symbols.size(); ++i) unigram_[i] = grammar.letter_frequencies()[symbols[i]];
    entropy_rate_ = grammar.entropy_rate();
  }

  int32_t vocabulary() const override { return source_.vocabulary().size(); }

  void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T, std::span<int32_t> tokens,
             std::span<int32_t> targets) const override {
    check_batch(B, T, tokens, targets);
    const std::span<const uint16_t> text = source_.tokens(split);
    const size_t window = static_cast<size_t>(T) + 1;
    if (text.size() < window) source_.require_context(T);  // throws, with the numbers
    const Tracks tracks = consecutive_ ? tracks_of(split, B, T) : Tracks{};
    for (int32_t row = 0; row < B; ++row) {
      BatchDraws draws(seed, consecutive_ ? tracks.pass(step) : step, split, row);
      const size_t at = consecutive_ ? tracks.begin(row, step, draws) : draws.below(text.size() - window + 1);
      const uint16_t* from = text.data() + at;
      for (int32_t t = 0; t < T; ++t) {
        const size_t at = static_cast<size_t>(row) * static_cast<size_t>(T) + static_cast<size_t>(t);
        tokens[at] = from[t];
        targets[at] = from[t + 1];
      }
    }
  }

  bool goes_on(uint64_t step, Split split, int32_t B, int32_t T) const override {
    return consecutive_ && tracks_of(split, B, T).segment(step) > 0;
  }

  int32_t consecutive_rows(Split split, int32_t T) const override {
    return consecutive_ ? static_cast<int32_t>(source_.tokens(split).size() / least_track(T)) : 0;
  }

  // Consecutive: as many as a pass has, but no more than tell runs apart with a memory that fills slowly.
  int32_t validation_batches(int32_t B, int32_t T) const override {
    constexpr uint64_t kMax = 8;
    if (!consecutive_) return Task::validation_batches(B, T);
    return static_cast<int32_t>(std::min(tracks_of(Split::Validation, B, T).segments, kMax));
  }

  void require_context(int32_t T) const override { source_.require_context(T); }
  void require_batch(int32_t B, int32_t T) const override {
    require_context(T);
    if (!consecutive_) return;
    for (const Split split : {Split::Train, Split::Validation}) tracks_of(split, B, T);
  }
  std::string decode(std::span<const int32_t> tokens) const override {
    return source_.vocabulary().decode(tokens);
  }
  std::vector<int32_t> encode(std::string_view text) const override {
    const std::vector<uint16_t> symbols = source_.vocabulary().encode(text);
    return {symbols.begin(), symbols.end()};
  }

 private:
  // Called at every step, so it builds a message only where it fails.
  Tracks tracks_of(Split split, int32_t B, int32_t T) const {
    const uint64_t symbols = source_.tokens(split).size(), length = symbols / static_cast<uint64_t>(B);
    if (length < least_track(T))
      fail({"text {}", source_.name()},
           "{} {} are {} for each of {} consecutive rows: expected at least {}, two segments of {} "
           "and one more, or fewer rows or a shorter context",
           symbols, split == Split::Train ? "symbols to learn" : "symbols to validate", length, B,
           least_track(T), T);
    const auto width = static_cast<uint64_t>(T);
    return {length, (length - 1) / width - 1, width};
  }

  std::shared_ptr<const TextSource> kept_;
  const TextSource& source_;
  bool consecutive_;
};

// Keeps the built-in text that was asked for last: most runs read the same one, and to write and encode
// its two million letters takes longer than a short run.
std::shared_ptr<const TextSource> corpus_source(uint64_t seed) {
  static std::mutex guard;
  static std::pair<uint64_t, std::shared_ptr<const TextSource>> last;
  const std::lock_guard lock(guard);
  if (!last.second || last.first != seed)
    last = {seed, std::make_shared<TextSource>(corpus_text(seed, kCorpusLetters), "of the built-in corpus")};
  return last.second;
}

std::shared_ptr<const Task> make_corpus_task(const DataSpec& spec) {
  if (spec.form == TaskForm::Masked) return make_masked_task(spec);
  auto task = std::make_shared<TextTask>(corpus_source(spec.data_seed), "letter", spec.consecutive);
  task->set_grammar(corpus_grammar());
  task->require_context(spec.context);
  return task;
}

std::shared_ptr<const Task> make_file_task(const DataSpec& spec) {
  if (spec.text_path.empty()) fail("data", "the task \"text\" needs a file: give the path of a UTF-8 text");
  if (spec.form == TaskForm::Masked) return make_masked_task(spec);
  return make_text_task(TextSource::load(spec.text_path), spec.context, spec.consecutive);
}

}  // namespace

constinit const TaskKind kCorpusKind{.name = "corpus",
                                     .make = make_corpus_task,
                                     .learners = "decoder encoder",
                                     .unit = "letter",
                                     .masked_unit = "byte",
                                     .made_up = "built-in sentences",
                                     .seeded = true,
                                     .goes_on = true};
constinit const TaskKind kTextKind{
    .name = "text",
    .make = make_file_task,
    .learners = "decoder encoder",
    .unit = "character",
    .masked_unit = "byte",
    .file = "data.text",
    .path = [](const DataSpec& spec) -> const std::string& { return spec.text_path; },
    .takes_tokenizer = true,
    .goes_on = true};

Batch::Batch(int32_t rows, int32_t positions)
    : B(rows),
      T(positions),
      tokens(static_cast<size_t>(rows) * static_cast<size_t>(positions)),
      targets(tokens.size()) {}

Batch::Batch(const BatchShape& shape) : Batch(shape.rows, shape.length) {
  const auto rows = static_cast<size_t>(shape.rows);
  source.resize(rows * static_cast<size_t>(shape.source_length));
  if (shape.one_target) targets.resize(rows);
  if (shape.typed) types.resize(tokens.size());
  if (!shape.padded) return;
  key_lengths.resize(rows);
  if (shape.source_length > 0) target_lengths.resize(rows);
}

void Task::batch(uint64_t, uint64_t, Split, int32_t, int32_t, std::span<int32_t>, std::span<int32_t>) const {
  fail("data", "this data has more than tokens and targets: expected an encoder or an encoder-decoder");
}

BatchShape Task::shape(uint64_t, uint64_t, Split, int32_t B, int32_t T) const { return {B, T, 0, false}; }

void Task::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T, const BatchView& to) const {
  batch(seed, step, split, B, T, to.tokens, to.targets);
}

std::vector<int32_t> Task::encode(std::string_view) const {
  fail("text", "these data are no running text: expected data.name corpus, text or passage");
}

Batch Task::draw(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const {
  Batch batch(shape(seed, step, split, B, T));
  fill(seed, step, split, B, T, batch.view());
  return batch;
}

double Task::unigram_entropy() const { return entropy_of(unigram()); }

std::shared_ptr<const Task> make_text_task(TextSource source, int32_t context, bool consecutive) {
  source.require_context(context);
  return std::make_shared<TextTask>(std::make_shared<TextSource>(std::move(source)), "character",
                                    consecutive);
}

std::vector<Score> scores_of(Store& store, const ModelConfig& model, const Task& task) {
  const std::unique_ptr<Scoring> scoring = task.scoring();
  if (!scoring) return {};
  while (!scoring->advance(store, model, [] { return true; })) continue;
  return scoring->scores();
}

std::string to_string(const std::vector<Score>& scores) {
  std::string text;
  for (const Score& score : scores)
    text += fmt::format("{}{} {:.2f}", text.empty() ? "" : "  ", score.name, score.value);
  return text;
}

double unigram_cross_entropy(const Task& task, uint64_t seed, uint64_t first_step, uint64_t last_step,
                             int32_t B, int32_t T, double smoothing) {
  const double V = static_cast<double>(task.unigram().size());
  std::vector<double> cost;  // by symbol, under the smoothed frequencies
  double even = 0;           // for the share of every target that goes to all symbols alike
  for (double p : task.unigram()) {
    cost.push_back(-std::log(smoothing > 0 ? (1 - smoothing) * p + smoothing / V : p));
    if (smoothing > 0) even += smoothing * cost.back() / V;
  }
  double sum = 0;
  uint64_t count = 0;
  for (uint64_t step = first_step; step < last_step; ++step)
    for (const Batch batch = task.draw(seed, step, Split::Train, B, T); int32_t target : batch.targets) {
      if (target < 0) continue;
      sum += (1 - smoothing) * cost[static_cast<size_t>(target)] + even;
      ++count;
    }
  if (count == 0) fail("data", "no targets between the steps {} and {}", first_step, last_step);
  return sum / static_cast<double>(count);
}

// See task.h. The rows of texts are next to make_task.

std::span<const TaskKind* const> task_kinds() {
  static constexpr const TaskKind* kKinds[] = {
#define TASK(kind) &kind,
#include "training/data/tasks.def"
#undef TASK
  };
  return kKinds;
}

const TaskKind* find_kind(std::string_view name) {
  const auto kinds = task_kinds();
  const auto found = std::ranges::find(kinds, name, [](const TaskKind* kind) { return kind->name; });
  return found == kinds.end() ? nullptr : *found;
}

const TaskKind& kind_of(const DataSpec& data) {
  for (const TaskKind* kind : task_kinds())
    if (kind->also && kind->also(data)) return *kind;
  if (const TaskKind* kind = find_kind(data.name)) return *kind;
  std::vector<std::string_view> names;
  for (const TaskKind* kind : task_kinds()) names.push_back(kind->name);
  fail("data", "unknown task \"{}\": expected one of {}", data.name, fmt::join(names, ", "));
}

bool learns(std::string_view architecture, const TaskKind& kind) {
  return std::ranges::count(split(kind.learners, ' '), architecture) > 0;
}

std::string path_of(const DataSpec& data) {
  const TaskKind* const kind = find_kind(data.name);
  return kind && kind->path ? kind->path(data) : "";
}

std::shared_ptr<const Task> make_task(const DataSpec& data) {
  if (data.context < 1) fail("data", "context {}: expected at least 1", data.context);
  return kind_of(data).make(data);
}

std::shared_ptr<const Task> task_in(MadeTasks& made, const DataSpec& data, size_t most) {
  for (const auto& [spec, task] : made)
    if (spec == data) return task;
  const auto task = make_task(data);
  if (made.size() >= most) made.erase(made.begin());
  return made.emplace_back(data, task).second;
}

bool is_labelled(std::string_view name) {
  const TaskKind* const kind = find_kind(name);
  return kind && kind->labelled;
}

std::string made_up_name(const DataSpec& data) {
  if (!path_of(data).empty()) return "";
  const TaskKind* const kind = find_kind(data.name);
  return kind && !kind->made_up.empty() ? std::string(kind->made_up) : data.name;
}

std::string data_name(const DataSpec& data) {
  const std::string path = path_of(data);
  return path.empty() ? made_up_name(data) : std::filesystem::path(path).filename().string();
}

DataIdentity identity_of(const DataSpec& spec, const Task& task) {
  return {data_name(spec), fmt::format("{:016x}", task.hash()), task.vocabulary(), task.unit()};
}

std::string unit_of(const DataSpec& spec) {
  const TaskKind& kind = kind_of(spec);
  return std::string(spec.form == TaskForm::Masked && !kind.masked_unit.empty() ? kind.masked_unit
                                                                                : kind.unit);
}

std::string frequencies_of(const std::string& unit) {
  return (unit.empty() ? "symbol" : unit) + " frequencies";
}

Message nats_per(const std::string& unit) { return {"nats per {}", unit.empty() ? "symbol" : unit}; }

}  // namespace normscope

// The data of a run: batches of tokens and targets, and the reference lines of its loss curve.
//
// Promises: a batch is a pure function of (seed, step, split, B, T), consecutive batches too. So runs that share a
// seed see the same data whatever else differs, and any step can be replayed. batch() allocates nothing. Called by
// the trainer, by the sampled text and by the plots.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/added_settings.h"
#include "training/data/text_source.h"

namespace normscope {

/// The inputs of a network and the outputs that it learns for them. Architecture and data decide it (spec/spec.h).
enum class TaskForm : uint8_t {
  NextSymbol,  // decoder: the row shifted by one
  Masked,      // encoder: the symbols that were hidden (masked language model)
  Classify,    // encoder: the class of a row, predicted at its first position
  Translate,   // encoder-decoder: a target row from a source row
};

/// The shape of a batch. A program is sealed for one shape, so a run seals one for each shape that occurs.
struct BatchShape {
  int32_t rows = 0, length = 0;
  int32_t source_length = 0;  // positions of the source rows, or pixels of an image
  bool padded = false;        // rows differ in length: key_lengths (and target_lengths) are read
  bool one_target = false;    // targets are (rows), one for each row
  bool typed = false;         // each symbol has a kind: types are read
  auto operator<=>(const BatchShape&) const = default;
};

/// The memory that a batch is written to: the inputs of a program, or a Batch. Spans that a shape lacks are empty.
struct BatchView {
  std::span<int32_t> tokens, targets;  // (rows, length), or targets (rows); the loss ignores a target of -1
  std::span<int32_t> source;           // (rows, source_length)
  std::span<int32_t> key_lengths;      // (rows): visible positions of the source, or of a single stack's row
  std::span<int32_t> target_lengths;   // (rows): unpadded positions of the target row
  std::span<int32_t> types;  // (rows, length): rows of the table of types (ModelConfig::token_types)
};

/// The tokens and targets of one batch, (B,T) row-major, or targets (B). The loss ignores a target of -1.
struct Batch {
  int32_t B = 0, T = 0;
  std::vector<int32_t> tokens, targets, source, key_lengths, target_lengths, types;
  std::vector<float> x;  // (B,T,D): what a model with a Gaussian input reads instead of tokens

  Batch() = default;
  Batch(int32_t rows, int32_t positions);
  explicit Batch(const BatchShape& shape);
  BatchView view() { return {tokens, targets, source, key_lengths, target_lengths, types}; }
};

struct DataSpec {
  std::string name = "corpus";  // TaskKind::name of a row of data/tasks.def
  std::string text_path;        // for name == "text"
  std::string labels_path;      // for name == "labels": label<TAB>text, one a line
  std::string valid_path;       // data of the same kind for validation; empty: the end of the file
  /// The tokenizer. text, passage: the folder of a published model; pairs: a file of pieces.
  std::string tokenizer_path;
  TaskForm form = TaskForm::NextSymbol;  // as the architecture requires it
  uint64_t data_seed = 1;                // of data that the program makes up
  bool consecutive =
      false;             // corpus and text of a decoder: each row continues where it ended in the step before
  int32_t context = 64;  // the T that the data must be long enough for
  int32_t token_types = 0;  // the kinds of symbols that the model tells apart
  AddedSettings added;      // of further kinds of data

  bool operator==(const DataSpec&) const = default;
};

/// Whether each row of that data has a class: labels of a file, and the made-up sets of byte_tasks.h.
bool is_labelled(std::string_view name);

class Store;
struct ModelConfig;

/// One number that says how good a model's answers are, {"uas", "UAS", 91.2, "%"}.
struct Score {
  std::string key;  // in logs and files
  std::string name;
  double value = 0;
  std::string unit = {};
};

/// Measures the scores of a task in portions, so that its thread can do other work between two portions.
class Scoring {
 public:
  virtual ~Scoring() = default;
  /// Measures at least one portion, and further ones until all is measured or `may_go_on` returns false; true when all
  /// is measured. The weights and the model must be the same each time.
  virtual bool advance(Store& store, const ModelConfig& model, const std::function<bool()>& may_go_on) = 0;
  /// The scores, the main score first. Valid once advance() has returned true.
  virtual std::vector<Score> scores() const = 0;
};

class Task {
 public:
  virtual ~Task() = default;

  /// Begins to measure scores of the task's own on the validation data (a parser's UAS); null: validation loss and
  /// accuracy suffice.
  virtual std::unique_ptr<Scoring> scoring() const { return nullptr; }
  /// A warning about the data, to be read before a run trains on them; empty: none.
  virtual std::string note() const { return {}; }
  /// Writes the tokenizer that was learned because data.tokenizer names no file yet.
  virtual void save_tokenizer(const std::string&) const {}

  virtual int32_t vocabulary() const = 0;
  virtual TaskForm form() const { return TaskForm::NextSymbol; }
  virtual int32_t classes() const { return 0; }  // Classify; 0 otherwise
  virtual std::string class_name(int32_t) const { return {}; }
  /// Fills B*T tokens and targets, for forms that have nothing else. Throws Error only if the data cannot give
  /// windows of T + 1 symbols, or if the spans have another size than B*T.
  virtual void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
                     std::span<int32_t> tokens, std::span<int32_t> targets) const;
  /// Shape and contents of a batch of about B*T tokens in rows of at most T.
  virtual BatchShape shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const;
  virtual void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
                    const BatchView& to) const;
  /// Returns such a batch.
  Batch draw(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const;
  /// Whether the rows of a step's batch begin where the rows of the step before ended; otherwise a memory of earlier
  /// segments does not belong to them. False for step 1.
  virtual bool goes_on(uint64_t, Split, int32_t, int32_t) const { return false; }
  /// The most rows that can go on in this way over segments of T symbols; 0 where nothing goes on.
  virtual int32_t consecutive_rows(Split, int32_t) const { return 0; }
  /// How many batches (steps 1, 2, ...) are measured: enough to tell runs apart, or all there are.
  virtual int32_t validation_batches(int32_t, int32_t) const { return 2; }
  /// Translate: the symbols that begin and end a target row (-1: all rows are full).
  virtual int32_t begin() const { return -1; }
  virtual int32_t end() const { return -1; }
  /// Throws Error if the data is too short to be split and drawn from in windows of T + 1 symbols.
  virtual void require_context(int32_t T) const = 0;
  /// Checks the same. Where rows go on from batch to batch, it also throws, naming the split, unless
  /// each split is long enough for B rows.
  virtual void require_batch(int32_t, int32_t T) const { require_context(T); }

  /// The probability of each symbol among the targets. Its entropy, in nats per symbol, is the loss of a
  /// model that knows frequencies only.
  std::span<const double> unigram() const { return unigram_; }
  double unigram_entropy() const;
  /// Nats per symbol that no model can go below on average; nothing where that is unknown.
  std::optional<double> entropy_rate() const { return entropy_rate_; }

  virtual std::string decode(std::span<const int32_t> tokens) const = 0;
  /// The row to be classified, as text.
  virtual std::string question(const Batch& row) const { return decode(row.tokens); }
  /// Turns the user's text into symbols. Throws Error, also for data that are not running text.
  virtual std::vector<int32_t> encode(std::string_view text) const;
  /// The kind of each symbol, for models with a table of types; empty where all symbols are of one kind.
  virtual std::vector<int32_t> types(std::span<const int32_t>) const { return {}; }
  /// One symbol as text.
  virtual std::string label(int32_t token) const { return decode(std::span(&token, 1)); }
  uint64_t hash() const { return hash_; }            // of the data: another hash means other data
  const std::string& unit() const { return unit_; }  // name of a token: "letter", "character", "symbol"
  /// Whether a token is a character: then bits per token are bits per character.
  bool of_characters() const { return unit() == "letter" || unit() == "character"; }

 protected:
  explicit Task(std::string unit, std::optional<double> entropy_rate = std::nullopt)
      : unit_(std::move(unit)), entropy_rate_(entropy_rate) {}

  /// A task's constructor fills them.
  std::string unit_;
  std::optional<double> entropy_rate_;
  std::vector<double> unigram_;
  uint64_t hash_ = 0;
};

/// The scores of a model on the task, the main score first; empty where the task has none.
std::vector<Score> scores_of(Store& store, const ModelConfig& model, const Task& task);
/// "UAS 91.20  LAS 88.05"
std::string to_string(const std::vector<Score>& scores);

/// Throws Error for an unknown name and for a text that cannot be used.
std::shared_ptr<const Task> make_task(const DataSpec& spec);

/// Tasks that were made, the oldest first.
using MadeTasks = std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>>;
/// The task of the data, made and added to `made` if missing; with `most` tasks in `made`, the oldest is dropped.
std::shared_ptr<const Task> task_in(MadeTasks& made, const DataSpec& data, size_t most = SIZE_MAX);

/// Makes the task of a text in memory (a file that was dropped on the window, a test).
std::shared_ptr<const Task> make_text_task(TextSource source, int32_t context, bool consecutive = false);

/// The mean of -ln p(target) under the task's unigram distribution over exactly the
/// training targets of the steps first_step <= step < last_step, in nats: what a run stuck at letter frequencies must
/// show on them. With label smoothing s the frequencies become (1 - s) p + s / V, the best answer of a model that
/// knows nothing else, and each target counts as in the loss: 1 - s for itself and s / V for every symbol.
double unigram_cross_entropy(const Task& task, uint64_t seed, uint64_t first_step, uint64_t last_step,
                             int32_t B, int32_t T, double smoothing = 0);

// A row of tasks.def: the properties of a kind of data (a data.name) that are known before the data are read. A new
// kind of data is one constant next to its Task, and a row. Read by the specification, by the settings and by links.

struct TaskKind {
  std::string_view name;  ///< a value of data.name
  std::shared_ptr<const Task> (*make)(const DataSpec&) = nullptr;
  /// The architectures that learn it, as model.architecture names them, separated by blanks: "encoder decoder".
  std::string_view learners;
  std::string_view unit;              ///< "letter", as Task::unit()
  std::string_view masked_unit = {};  ///< the same for an encoder that fills in; empty: no other
  /// The name of data that the program makes itself; empty: they are read from a file alone.
  std::string_view made_up = {};
  std::string_view file = {};  ///< the field that names the file, "data.text"; empty: there is none
  const std::string& (*path)(const DataSpec&) = nullptr;  ///< the value of that field
  bool seeded = false;                                    ///< data.seed decides which data are made up
  bool labelled = false;                                  ///< each row of text has a class
  bool takes_tokenizer = false;                           ///< data.tokenizer splits its text into tokens
  bool learns_tokenizer = false;    ///< it is learned where data.tokenizer names no file
  bool takes_validation = false;    ///< data.valid is read, with data from a file
  bool by_content = false;          ///< the key of a result has the hash of its files, not their paths
  bool goes_on = false;             ///< data.consecutive may be set
  std::string_view flag_help = {};  ///< of normscope train --NAME FILE; empty: there is no such flag
  std::string_view preset = "pre";  ///< the run that --NAME trains without --preset and --run
  void (*check)(const DataSpec&) = nullptr;  ///< throws Error where the settings do not suffice
  /// Whether this kind makes the task of data with another name: of a text in the tokens of a published model.
  bool (*also)(const DataSpec&) = nullptr;
};

#define TASK(kind) extern const TaskKind kind;
#include "training/data/tasks.def"
#undef TASK

/// All kinds, in the order of tasks.def.
std::span<const TaskKind* const> task_kinds();
/// nullptr for an unknown name.
const TaskKind* find_kind(std::string_view name);
/// The kind that makes the task of these data. Throws Error for an unknown name.
const TaskKind& kind_of(const DataSpec& data);
/// Whether an architecture learns such data.
bool learns(std::string_view architecture, const TaskKind& kind);
/// The file that the data are read from; empty for data that the program makes.
std::string path_of(const DataSpec& data);

// Identifies the data that a run reads, as far as they are known. A view, a log and a saved run carry it, so that
// losses on different data are never compared silently.

struct DataIdentity {
  std::string name;     ///< "built-in sentences", "corpus.txt"; empty: unknown
  std::string hash;     ///< Task::hash() in 16 hexadecimal digits; empty: unknown
  int32_t symbols = 0;  ///< size of the vocabulary; 0: unknown
  std::string unit;     ///< name of a symbol, "letter"; empty: unknown
  /// Whether nothing tells these data from others.
  bool unknown() const { return name.empty() && hash.empty(); }
  bool operator==(const DataIdentity&) const = default;
};

DataIdentity identity_of(const DataSpec& spec, const Task& task);

/// "built-in sentences", or the name of the file.
std::string data_name(const DataSpec& spec);
/// The name of data that the program makes itself, which the name identifies; else empty.
std::string made_up_name(const DataSpec& spec);

/// The name of a symbol of the data ("letter", "piece", "class"), as Task::unit() of its task, but without reading the
/// data. Used in texts about stored results.
std::string unit_of(const DataSpec& spec);

/// The name of the unigram entropy's line, "letter frequencies", for every plot and table. An empty (unknown) `unit`
/// gives "symbol frequencies".
std::string frequencies_of(const std::string& unit);
/// The unit of a loss: "nats per letter".
Message nats_per(const std::string& unit);

}  // namespace normscope

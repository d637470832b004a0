// A run is specification + seed + events. `RunSpec` is the whole specification as one value. The table of its fields
// gives each field a key, a unit and a help text: the TOML file, --set key=value, --edit, the settings of the Lab and
// the session file all use this table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/model_config.h"
#include "training/data/task.h"
#include "training/spec/schedule.h"
#include "training/spec/update_rule.h"

namespace normscope {

struct TrainConfig {
  int32_t batch = 16;
  int32_t steps = 300;  ///< budget
  Schedule schedule;    ///< peak rate, warm-up, decay
  Optimizer optimizer = Optimizer::Adam;
  float beta1 = 0.9f, beta2 = 0.98f, eps = 1e-9f, momentum = 0.9f, weight_decay = 0.0f;
  float update_bound = 0.004f;  ///< largest step of a matrix as a share of it, by spectral norms
  bool bias_correction = true;  ///< Adam, AdamW: divide the moments by 1 - beta^t
  float clip = 0.0f;            ///< global gradient norm; 0 = off
  float label_smoothing = 0.0f;
  bool reuse_gradients = true;  ///< gradients of activations share memory; see SealOptions
  int32_t critical_every = 0;   ///< steps between measurements of the critical rate; 0 = never
  std::string init_from;        ///< saved run or foreign model whose weights the run starts with; empty: none
  AddedSettings added;          ///< of add-ons, for training
};

/// The defaults of `RunSpec` are the default model: decoder, L=6, d=64, 4 heads, F=4D, ReLU, T=64, B=16, tied output,
/// Adam (0.9, 0.98), rate 3e-3, constant after warm-up, 300 steps, Post-LN.
struct RunSpec {
  RunSpec();
  std::string name;  ///< "Post-LN, no warm-up"; empty: default_name()
  ModelConfig model;
  TrainConfig train;
  DataSpec data;
  uint64_t seed = 1;
};

/// Changes a running experiment: at the start of step `step` (before its update), key takes value.
struct Edit {
  int32_t step = 0;
  std::string key, value;
  bool operator==(const Edit&) const = default;
};

enum class FieldType : uint8_t { Integer, Real, Choice, Flag, Text };

struct Field {
  std::string_view key;                     ///< "train.lr"
  std::string_view label;                   ///< "learning rate"
  std::string_view unit;                    ///< "features", "" when it has none
  std::string_view help;                    ///< one or two sentences
  std::vector<std::string_view> more_help;  ///< from add-ons, a sentence or two each
  FieldType type = FieldType::Real;
  bool live = false;         ///< can change while the run goes on; another field restarts or forks it
  bool file = false;         ///< Text: the name of one of the user's files or folders
  bool added = false;        ///< comes from an add-on
  double low = 0, high = 0;  ///< Integer, Real: the possible range (inclusive)
  std::vector<std::string_view> choices;  ///< Choice; choices_of() has the added placements too
  std::string (*get)(const RunSpec&) = nullptr;
  void (*set)(RunSpec&, std::string_view value) = nullptr;  ///< for set_field, which checks the text first
  /// A run reads the field where all of `conditions` hold.
  struct Condition {
    bool (*read)(const RunSpec&) = nullptr;
    std::string_view because = {};   ///< the field that decides
    std::string_view expected = {};  ///< of that field; empty: the choices under which the setting is read
  };
  std::vector<Condition> conditions;
};

/// The fields of the core, and between them the add-ons': rows SETTINGS(a function that inserts them) of
/// settings.def. In the order in which they must be set: model.layers, model.d_model, model.heads,
/// model.feed_forward, model.sequence, model.norm, model.placement, model.init, model.activation, model.tied,
/// model.dropout_*, train.batch, train.steps, train.lr, train.warmup, train.schedule, train.optimizer, train.beta1
/// ..., data.text, data.name, run.name, run.seed. Custom wirings have further keys, always structural: wiring.final,
/// wiring.embedding, wiring.L03.attn, wiring.L03.ffn, wiring.L*.attn for all layers, and a key for each slot of a stack
/// (model/residual.h), as wiring.streams.
const std::vector<Field>& spec_fields();
const Field* find_field(std::string_view key);  ///< nullptr when unknown, and for wiring.*
/// The fields that name the user's files, and whether `key` is one of them.
const std::vector<const Field*>& file_fields();
bool names_file(std::string_view key);
/// The values of a Choice, with the placements that were added.
std::vector<std::string_view> choices_of(const Field& field);
/// Whether the key can change while the run goes on. Throws Error for an unknown key.
bool is_live(std::string_view key);
/// Sets one field by key, wiring.* included. Throws Error naming key, value and the expected values, and then leaves
/// the spec unchanged: "[train.warmup] 'abc' is not a whole number: expected 0 to 100000".
void set_field(RunSpec& spec, std::string_view key, std::string_view value);
std::string get_field(const RunSpec& spec, std::string_view key);
/// Lists the wiring.* keys of a spec at its depth.
std::vector<std::string> wiring_keys(const RunSpec& spec);
/// The whole spec as text: every field in table order, and the wiring.* keys when no preset
/// of placements.def describes the wiring. Set in this order on any RunSpec, they give the same spec, on a machine that
/// has other placements of its own too.
std::vector<std::pair<std::string, std::string>> field_values(const RunSpec& spec);
bool operator==(const RunSpec& a, const RunSpec& b);
/// Lists the edits that turn one spec into another, all at one step; empty when they are equal.
std::vector<Edit> edits_between(const RunSpec& from, const RunSpec& to, int32_t step);
/// Edits with the same effect on a run that begins as `from`, for a machine without the added placements: an added
/// placement becomes its wiring. Sorted by step where this machine has added placements.
std::vector<Edit> portable_edits(const RunSpec& from, std::vector<Edit> edits);
/// Throws Error for a field of the data: no run goes on with other data.
void require_editable(std::string_view key);
/// Reads "214:train.lr=1e-3", as on the command line. Throws Error, for a field of the data too.
Edit edit_from(std::string_view text);
std::string to_string(const Edit& edit);
/// Fills in the fields that follow from others. Without cross-attention, its wiring equals attention's, as in the
/// presets, so that equal models are equal values. The form of the data follows the architecture.
void complete(RunSpec& spec);
/// Sets vocabulary, classes and further sizes of the architecture by the data, then completes the spec.
void fit_to_data(RunSpec& spec, const Task& task);
/// Checks combinations that no single field can see. Throws Error.
void validate(const RunSpec& spec);
std::string default_name(const RunSpec& spec);  ///< "Post-LN, warm-up 200"
/// The number of inputs in a step: symbols for a transformer, else rows.
double units_of_step(const RunSpec& spec);

/// The most forward passes of a measurement of the critical rate (run/critical_rate.h).
inline constexpr int32_t kCriticalPasses = 6;
/// Says "6 forward passes every 10 steps: about 20 % more time", for train.critical_every > 0. A
/// forward pass is a third of a step's arithmetic.
std::string critical_cost_text(int32_t every);
/// The fewest steps between two measurements of the critical rate, by the spec or after one of the edits; 0: never
/// measured.
int32_t critical_every(const RunSpec& spec, const std::vector<Edit>& edits);

/// Three runs: A Post-LN without warm-up, B Post-LN with warm-up 200, C Pre-LN without.
std::vector<RunSpec> default_comparison(const DataSpec& data = {}, uint64_t seed = 1);
/// Three runs of an architecture on its own data; of a transformer the default comparison.
std::vector<RunSpec> comparison_of(std::string_view architecture);
/// Lists the single presets of `normscope train --preset`: "post", "post-warmup", "pre", "admin", ...
/// Add-ons have rows PRESET("name", function that makes the run) of presets.def.
#define PRESET(name, make) RunSpec make();
#include "chosen/presets.def"
#undef PRESET
inline constexpr int32_t kDefaultWarmup = 200;  ///< of presets with a warm-up
std::vector<std::string> preset_names();
/// These presets, and the placements that were added.
std::vector<std::string> offered_presets();
RunSpec preset_run(std::string_view name);

// The upper limits of a run, wherever its numbers come from; docs/files.md says the same.

/// The longest budget, and the last step that a run can have.
inline constexpr int32_t kMaxSteps = 10'000'000;
/// The last step that an edit or a milestone may name; `kMaxEdits` is how many edits a run may have.
inline constexpr int32_t kLastEdit = 100'000'000;
inline constexpr size_t kMaxEdits = 100'000;
/// The most bytes in the value of a field: a path, a name, a list of steps.
inline constexpr size_t kLongestText = 4096;

/// Roughly the bytes that training takes: see require_bytes in core/machine.h.
int64_t estimated_bytes(const RunSpec& spec);

// The loss window: every number that is called a run's loss at a step is a mean over this window. Cards, plots,
// tables, logs and stored results share this definition, so that one run has one loss at one step everywhere.
//
// The verdict's own mean of 20 (measure/verdict.h) decides when a run learns and is shown nowhere.

/// The number of losses in the mean. Stored results contain such means: a change here requires a new kMeasurement
/// (experiments/run_numbers.h).
inline constexpr int32_t kLossWindow = 25;

/// The number of losses, up to the loss of `step`, in the mean that is the run's loss at that step:
/// kLossWindow, or fewer where the run began or its network was last changed more recently. Losses before such a change
/// belong to another network.
int32_t loss_window(int32_t step, const std::vector<Edit>& edits);

// Unused settings are settings that a run does not read: a momentum under Adam, an encoder's depth in a decoder. Used
// by the command line, which refuses them, and by the code that writes a command line for a run.

/// Why this run does not read the field, as "train.optimizer is adam: expected momentum". It is
/// empty where the run does, and for wiring.*. An edit or another data set may make the run read it later.
Message unused_reason(const RunSpec& spec, std::string_view key);

}  // namespace normscope

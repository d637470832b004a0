// The field table as one, and the functions that use it. See spec.h.
#include "training/spec/spec.h"

#include <algorithm>
#include <optional>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "training/data/task.h"
#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/spec/spec_fields.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

constexpr std::string_view kWiring = "wiring.";
constexpr size_t kLongestKey = 60;

// One place of a spec's wiring, by key: a sub-layer, one of the single norms, or a slot of a stack.
struct WiringPlace {
  Wiring* sublayer = nullptr;
  WiredNorm* norm = nullptr;
  StackWiring* stack = nullptr;
  const StackSlotRow* slot = nullptr;
};

std::string key_of(std::string_view stack, size_t layer, std::string_view sublayer) {
  return fmt::format("wiring.{}L{:02}.{}", stack, layer + 1, sublayer);
}

// A stack under the prefix of its keys: none for a single stack, "enc." and "dec." in an
// encoder-decoder.
struct NamedStack {
  std::string_view prefix;
  StackWiring* wiring;
  bool cross;
};
std::vector<NamedStack> stacks_of(ModelConfig& model) {
  if (model.architecture != Architecture::EncoderDecoder) return {{"", &model.stack(), false}};
  return {{"enc.", &model.encoder, false}, {"dec.", &model.decoder, true}};
}

// Reads "L012.attn": the layer's place and what follows its dot; nothing for another form or depth.
std::optional<std::pair<size_t, std::string_view>> layer_of(std::string_view rest, size_t layers) {
  const size_t dot = rest.find('.');
  int64_t number = 0;
  if (!rest.starts_with('L') || dot == rest.npos || !parse_integer(rest.substr(1, dot - 1), number) ||
      number < 1 || static_cast<uint64_t>(number) > layers ||
      rest.substr(0, dot) != fmt::format("L{:02}", number))
    return std::nullopt;
  return std::pair(static_cast<size_t>(number) - 1, rest.substr(dot + 1));
}

WiringPlace place_in(const NamedStack& s, std::string_view rest) {
  StackWiring& stack = *s.wiring;
  if (rest == "final") return {nullptr, &stack.final};
  if (rest == "embedding") return {nullptr, &stack.embedding};
  for (const StackSlotRow* slot : stack_slots())
    if (rest == slot->key) return {nullptr, nullptr, &stack, slot};
  const auto layer = layer_of(rest, stack.layers.size());
  if (!layer) return {};
  LayerWiring& wiring = stack.layers[layer->first];
  if (layer->second == "attn") return {&wiring.attention, nullptr};
  if (s.cross && layer->second == "cross") return {&wiring.cross, nullptr};
  if (layer->second == "ffn") return {&wiring.feed_forward, nullptr};
  return {};
}

WiringPlace find_wiring(RunSpec& spec, std::string_view key) {
  const std::string_view rest = key.substr(kWiring.size());
  for (const NamedStack& s : stacks_of(spec.model)) {
    if (!rest.starts_with(s.prefix)) continue;
    const WiringPlace place = place_in(s, rest.substr(s.prefix.size()));
    if (place.sublayer || place.norm || place.slot) return place;
  }
  Message expected;
  for (const NamedStack& s : stacks_of(spec.model)) {
    std::string slots = fmt::format("wiring.{0}embedding, wiring.{0}final", s.prefix);
    for (const StackSlotRow* slot : stack_slots()) slots += fmt::format(", wiring.{}{}", s.prefix, slot->key);
    const Message own("{}, or wiring.{}L01.attn to wiring.{}L{:02}.ffn", slots, s.prefix, s.prefix,
                      s.wiring->layers.size());
    expected = expected.empty() ? own : Message("{}; or {}", expected, own);
  }
  fail(key, "no such place: expected {}", expected);
}

[[noreturn]] void fail_unknown(std::string_view key) {
  if (key.size() > kLongestKey) fail("run", "there is no setting {}", shown_text(key));
  std::vector<std::string_view> keys;
  for (const Field& field : spec_fields()) keys.push_back(field.key);
  fail(key, "no such setting: did you mean {}?", nearest(key, keys));
}

// Lists the places that a key names: itself, or with a star ("wiring.L*.attn") all that fit.
std::vector<std::string> places_of(const RunSpec& spec, std::string_view key) {
  const size_t star = key.find('*');
  if (star == key.npos) return {std::string(key)};
  const std::string_view head = key.substr(0, star), tail = key.substr(star + 1);
  std::vector<std::string> places = wiring_keys(spec);
  std::erase_if(places, [&](std::string_view place) {
    return place.size() < head.size() + tail.size() || !place.starts_with(head) || !place.ends_with(tail);
  });
  if (places.empty()) fail(key, "no place of the wiring fits: expected such as wiring.L*.attn");
  return places;
}

void set_wiring(RunSpec& spec, std::string_view key, std::string_view value) {
  for (const std::string& name : places_of(spec, key)) {
    const WiringPlace place = find_wiring(spec, name);
    try {
      if (place.norm)
        *place.norm = wired_norm_from(trimmed(value));
      else if (place.slot)
        set_slot(*place.stack, *place.slot, trimmed(value));
      else
        *place.sublayer = wiring_from(trimmed(value));
    } catch (const Error& error) {
      fail(key, "'{}': {}", trimmed(value), error.message);
    }
  }
  complete(spec);
}

// Lists what several places hold, each value once.
std::string get_wiring(const RunSpec& spec, std::string_view key) {
  std::vector<std::string> values;
  for (const std::string& name : places_of(spec, key)) {
    const WiringPlace place = find_wiring(const_cast<RunSpec&>(spec), name);  // only read
    std::string value = place.norm   ? to_string(*place.norm)
                        : place.slot ? slot_text(*place.stack, *place.slot)
                                     : to_string(*place.sublayer);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return fmt::format("{}", fmt::join(values, " | "));
}

// Reads texts that are values only as a whole.
void check_text(const Field& field, std::string_view value) {
  std::vector<int32_t> steps;
  if (field.key == "train.milestones" && !parse_steps(value, steps))
    fail(field.key, "'{}' is no list of steps: expected whole numbers from 1, ascending, such as 100,200",
         trimmed(value));
}

constexpr const ArchitectureRuns* kAdded[] = {
    nullptr,
#define ARCHITECTURE(Name, name) &name##_runs,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};

}  // namespace

const ArchitectureRuns* added_runs(Architecture architecture) {
  if (is_transformer(architecture)) return nullptr;
  return kAdded[static_cast<size_t>(architecture) - static_cast<size_t>(Architecture::EncoderDecoder)];
}

std::span<const ArchitectureRuns* const> added_architectures() { return std::span(kAdded).subspan(1); }

RunSpec::RunSpec() { set_placement(model, Placement::Post); }

const std::vector<Field>& spec_fields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all;
    add_model_fields(all);
    add_train_fields(all);
    add_data_fields(all);
#define SETTINGS(add) add(all);
#include "chosen/settings.def"
#undef SETTINGS
    return all;
  }();
  return fields;
}

void add_help(std::vector<Field>& fields, std::string_view key, std::string_view help) {
  std::ranges::find(fields, key, &Field::key)->more_help.push_back(help);
}

void insert_behind(std::vector<Field>& fields, std::string_view key, const std::vector<Field>& rows) {
  auto at = std::ranges::find(fields, key, &Field::key);
  if (at != fields.end()) ++at;
  for (auto row = fields.insert(at, rows.begin(), rows.end()), end = row + std::ssize(rows); row != end;
       ++row)
    row->added = true;
}

const Field* find_field(std::string_view key) {
  for (const Field& field : spec_fields())
    if (field.key == key) return &field;
  return nullptr;
}

const std::vector<const Field*>& file_fields() {
  static const std::vector<const Field*> files = [] {
    std::vector<const Field*> all;
    for (const Field& field : spec_fields())
      if (field.file) all.push_back(&field);
    return all;
  }();
  return files;
}

bool names_file(std::string_view key) {
  const Field* const field = find_field(key);
  return field && field->file;
}

bool is_live(std::string_view key) {
  if (key.size() > kLongestKey) fail_unknown(key);
  if (key.starts_with(kWiring)) return false;
  const Field* field = find_field(key);
  if (!field) fail_unknown(key);
  return field->live;
}

void set_field(RunSpec& spec, std::string_view key, std::string_view value) {
  if (key.size() > kLongestKey) fail_unknown(key);
  if (value.size() > kLongestText)
    fail(key, "a value of {} bytes: expected at most {}", value.size(), kLongestText);
  if (key.starts_with(kWiring)) return set_wiring(spec, key, value);
  const Field* field = find_field(key);
  if (!field) fail_unknown(key);
  check_value(*field, value);
  check_text(*field, value);
  field->set(spec, value);
}

std::string get_field(const RunSpec& spec, std::string_view key) {
  if (key.starts_with(kWiring)) return get_wiring(spec, key);
  const Field* field = find_field(key);
  if (!field) fail_unknown(key);
  return field->get(spec);
}

std::vector<std::string> wiring_keys(const RunSpec& spec) {
  std::vector<std::string> keys;
  for (const NamedStack& s : stacks_of(const_cast<ModelConfig&>(spec.model))) {  // only read
    keys.push_back(fmt::format("wiring.{}embedding", s.prefix));
    for (size_t i = 0; i < s.wiring->layers.size(); ++i)
      for (std::string_view sublayer : {"attn", "cross", "ffn"})
        if (s.cross || sublayer != "cross") keys.push_back(key_of(s.prefix, i, sublayer));
    keys.push_back(fmt::format("wiring.{}final", s.prefix));
    for (const StackSlotRow* slot : stack_slots())
      keys.push_back(fmt::format("wiring.{}{}", s.prefix, slot->key));
  }
  return keys;
}

void require_editable(std::string_view key) {
  if (key.starts_with("data."))
    fail(std::string(key),
         "no run goes on with other data: expected it as a setting from the start, not as an edit");
}

Edit edit_from(std::string_view text) {
  const size_t colon = text.find(':'), equals = text.find('=');
  int64_t step = 0;
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon ||
      !parse_integer(text.substr(0, colon), step) || step < 1 || step > kLastEdit)
    fail("edit", "'{}' is no edit: expected STEP:KEY=VALUE such as 214:train.lr=1e-3", text);
  const std::string key(trimmed(text.substr(colon + 1, equals - colon - 1)));
  require_editable(key);
  return {static_cast<int32_t>(step), key, std::string(trimmed(text.substr(equals + 1)))};
}

std::string to_string(const Edit& edit) { return fmt::format("{}:{}={}", edit.step, edit.key, edit.value); }

void complete(RunSpec& spec) {
  const Architecture architecture = spec.model.architecture;
  const bool both = architecture == Architecture::EncoderDecoder;
  for (LayerWiring& layer : spec.model.encoder.layers) layer.cross = layer.attention;
  if (!both)
    for (LayerWiring& layer : spec.model.decoder.layers) layer.cross = layer.attention;
  const ArchitectureRuns* const added = added_runs(architecture);
  spec.data.form = both                                    ? TaskForm::Translate
                   : architecture == Architecture::Decoder ? TaskForm::NextSymbol
                   : added || is_labelled(spec.data.name)  ? TaskForm::Classify
                                                           : TaskForm::Masked;
  spec.data.token_types = spec.model.token_types;
  if (added && added->complete) added->complete(spec);
}

void fit_to_data(RunSpec& spec, const Task& task) {
  spec.model.vocabulary = task.vocabulary();
  spec.model.classes = task.classes();
  if (const ArchitectureRuns* added = added_runs(spec.model.architecture); added && added->fit)
    added->fit(spec.model, task);
  complete(spec);
}

namespace {

// Checks which data the architecture can learn: one line that names the way out.
void check_data_fits(const RunSpec& spec) {
  const ArchitectureRow& architecture = row_of(spec.model.architecture);
  if (const TaskKind* const kind = find_kind(spec.data.name); kind && learns(architecture.name, *kind))
    return;
  std::vector<std::string_view> names;
  for (const TaskKind* kind : task_kinds())
    if (learns(architecture.name, *kind)) names.push_back(kind->name);
  fail("data.name", "{} cannot learn {}: expected data.name {}, or another model.architecture",
       architecture.learner, spec.data.name, fmt::join(names, ", "));
}

// Checks that the settings of the data's kind suffice.
void check_data(const RunSpec& spec) {
  const TaskKind& kind = *find_kind(spec.data.name);
  if (kind.made_up.empty() && kind.path && kind.path(spec.data).empty())
    fail(kind.file, "no file is named: expected a path, because data.name is {}", kind.name);
  if (kind.check) kind.check(spec.data);
}

// Allows rows that go on only for a text that a decoder reads.
void check_consecutive(const RunSpec& spec) {
  if (spec.data.consecutive &&
      (!find_kind(spec.data.name)->goes_on || spec.model.architecture != Architecture::Decoder))
    fail("data.consecutive",
         "only a text that a decoder reads goes on: expected data.name corpus or text, and "
         "model.architecture decoder, or data.consecutive = false");
  if (spec.model.memory > 0 && !spec.data.consecutive)
    fail("model.memory",
         "{} positions of another place would be remembered: expected data.consecutive = true",
         spec.model.memory);
}

}  // namespace

void validate(const RunSpec& spec) {
  ModelConfig model = spec.model;
  if (model.vocabulary <= 0) model.vocabulary = 2;  // unknown before the data is
  validate(model);
  check_transfer(model, spec.train.optimizer);
  const Schedule& schedule = spec.train.schedule;
  if (row_of(schedule.kind).has_end && schedule.target <= 0 && schedule.end <= schedule.warmup)
    fail("train.decay_end", "{} lies within the warm-up: expected more than {} steps", schedule.end,
         schedule.warmup);
  check_data_fits(spec);
  check_consecutive(spec);
  check_data(spec);
  if (spec.model.pooling == Pooling::Mean && !is_labelled(spec.data.name))
    fail("model.pooling",
         "mean is for a classifier: expected data.name labels, word-order or mood, or pooling first");
  if (spec.data.name == "translation" && spec.model.sequence % 4 != 0)
    fail("model.sequence", "{} is not a multiple of 4: expected whole clauses of four words",
         spec.model.sequence);
  if (spec.data.context != spec.model.sequence)
    fail("model.sequence", "{} differs from the data's context {}", spec.model.sequence, spec.data.context);
}

double units_of_step(const RunSpec& spec) {
  const double rows = spec.train.batch;
  return is_transformer(spec.model.architecture) ? rows * spec.model.sequence : rows;
}

int32_t critical_every(const RunSpec& spec, const std::vector<Edit>& edits) {
  constexpr std::string_view kKey = "train.critical_every";
  int32_t least = spec.train.critical_every;
  RunSpec then = spec;
  for (const Edit& edit : edits) {
    if (edit.key != kKey) continue;
    set_field(then, edit.key, edit.value);
    const int32_t every = then.train.critical_every;
    if (every > 0) least = least == 0 ? every : std::min(least, every);
  }
  return least;
}

int64_t estimated_bytes(const RunSpec& spec) {
  ModelConfig model = spec.model;
  model.vocabulary = std::max(model.vocabulary, 2);  // unknown before the data is
  const int64_t bytes = estimated_bytes(model, spec.train.batch);
  return spec.train.reuse_gradients ? bytes / 2 : bytes;
}

int32_t loss_window(int32_t step, const std::vector<Edit>& edits) {
  int32_t first = 1;
  for (const Edit& edit : edits) {
    // A log may name a key that this program does not have: such an edit shortens nothing.
    const Field* field = find_field(edit.key);
    const bool network = edit.key.starts_with("wiring.") || (field && !field->live);
    if (network && edit.step <= step) first = std::max(first, edit.step);
  }
  return std::clamp(step - first + 1, 1, kLossWindow);
}

}  // namespace normscope

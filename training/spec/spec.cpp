#include "training/spec/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "engine/core/real_text.h"
#include "engine/model/residual.h"
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

// A stack under the prefix of its keys: none for a single stack, "enc." and "dec." in an encoder-decoder.
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
  // The window and the manual call a setting by its label: model.d_model is "width", so model.width is near.
  const std::vector<Field>& fields = spec_fields();
  std::vector<std::string> names;
  for (const Field& field : fields) names.emplace_back(field.key);
  for (const Field& field : fields) {
    names.push_back(fmt::format("{}{}", field.key.substr(0, field.key.find('.') + 1), field.label));
    std::ranges::replace(names.back(), ' ', '_');
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto at = static_cast<size_t>(std::ranges::find(views, nearest(key, views)) - views.begin());
  const Field& meant = fields[at % fields.size()];
  if (at < fields.size()) fail(key, "no such setting: did you mean {}?", meant.key);
  fail(key, "no such setting: did you mean {}, the {}?", meant.key, meant.label);
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

template <typename T>
bool parse_whole(std::string_view text, T& value) {
  text = trimmed(text);
  const char* end = text.data() + text.size();
  T read{};
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<T>)
    result = read_real(text.data(), end, read);
  else
    result = std::from_chars(text.data(), end, read);
  if (result.ec != std::errc{} || result.ptr != end || text.empty()) return false;
  value = read;
  return true;
}

Message range_text(const Field& field) { return {"{} to {}", field.low, field.high}; }

// Compares in the precision of the value: 0.99 as a float exceeds 0.99 as a double, and a whole number may
// be one that no double is. NaN fails.
template <typename Value>
void check_range(const Field& field, std::string_view text, Value value) {
  if (!(value >= static_cast<Value>(field.low) && value <= static_cast<Value>(field.high)))
    fail(field.key, "{} is out of range: expected {}", trimmed(text), range_text(field));
}

constexpr std::string_view kBetweenValues = " | ";  // of a key with a star, see get_field

bool names_placement(std::string_view key) { return key.ends_with("placement"); }

/// Whether one of the stacks is a placement that was added.
bool is_own(const RunSpec& spec) {
  const ModelConfig& model = spec.model;
  const bool both = model.architecture == Architecture::EncoderDecoder;
  const bool decodes = model.architecture != Architecture::Encoder;
  return is_added(placement_of(model.stack(), context_of(model, decodes))) ||
         (both && is_added(placement_of(model.encoder, context_of(model, false))));
}

/// Whether a setting fills in whole stacks, as their placement has it.
bool fills_wiring(std::string_view key) {
  return names_placement(key) || key == "model.layers" || key == "model.encoder_layers" ||
         key == "model.architecture";
}

bool is_own_name(std::string_view value) {
  const std::vector<Placement> own = added_placements();
  return std::ranges::any_of(own, [&](Placement p) { return value == to_string(p); });
}

/// Turns "wiring.enc.L03.attn" into "wiring.enc.L*.attn"; other keys stay.
std::string with_star(const std::string& key) {
  const size_t layer = key.find(".L");
  if (layer == key.npos) return key;
  return key.substr(0, layer + 2) + "*" + key.substr(key.find('.', layer + 1));
}

/// Adds edits that set the whole wiring, with one edit for all layers where they are alike.
void add_wiring(std::vector<Edit>& edits, const RunSpec& spec, int32_t step) {
  for (const std::string& key : wiring_keys(spec)) {
    const std::string all = with_star(key);
    const std::string value = get_field(spec, all);
    const bool alike = value.find(kBetweenValues) == value.npos;
    const std::string& named = alike ? all : key;
    const bool said =
        std::ranges::any_of(edits, [&](const Edit& e) { return e.step == step && e.key == named; });
    if (!said || !alike) edits.push_back({step, named, alike ? value : get_field(spec, key)});
  }
}

RunSpec placed(Placement placement, int32_t warmup, InitRule init = InitRule::Xavier) {
  RunSpec spec;
  set_placement(spec.model, placement);
  spec.model.init = init;
  spec.train.schedule.warmup = warmup;
  return spec;
}

// Every placement is a preset under its own name with Xavier's initialisation and no warm-up; a row here overrides
// that, or names another combination.
struct RunPreset {
  std::string_view name;
  Placement placement;
  InitRule init = InitRule::Xavier;
  int32_t warmup = 0;
};
constexpr RunPreset kRunPresets[] = {
    {"post-warmup", Placement::Post, InitRule::Xavier, kDefaultWarmup},
    {"post-normal002", Placement::Post, InitRule::Normal002},
    {"post-theory", Placement::Post, InitRule::Theory},
    {"looklinear", Placement::Post, InitRule::LookLinear},
    {"t-fixup", Placement::None, InitRule::TFixup},
    {"fixup", Placement::FixUp, InitRule::FixUp},
    {"b2t-init", Placement::B2T, InitRule::B2T},
};

/// As in Vaswani et al. (2017), with this program's sizes and rate.
RunSpec transformer_of_2017() {
  RunSpec spec = placed(Placement::Post, kDefaultWarmup);
  spec.model.positions = Positions::Sinusoidal;
  return spec;
}

/// A preset that is more than a placement.
struct NamedRun {
  std::string_view name;
  RunSpec (*make)();
};
std::vector<NamedRun> named_runs() {
  std::vector<NamedRun> all{
      {"2017", transformer_of_2017},
#define PRESET(name, make) {name, make},
#include "chosen/presets.def"
#undef PRESET
  };
  for (const ArchitectureRuns* added : added_architectures()) all.push_back({added->preset, added->run});
  return all;
}

bool has_row(std::string_view name) {
  return std::any_of(std::begin(kRunPresets), std::end(kRunPresets),
                     [&](const RunPreset& preset) { return preset.name == name; });
}

const std::string* value_of(const NamedSettings& run, const std::string& key) {
  const auto at =
      std::ranges::find_if(run.settings, [&](const auto& setting) { return setting.first == key; });
  return at == run.settings.end() ? nullptr : &at->second;
}

/// Leaves out fields that are not settings of the experiment, and wirings, which are not words.
bool tells(const std::string& key) {
  return key != "run.name" && key != "train.steps" && !key.starts_with("wiring.");
}

std::string said(const std::string& key, const std::string& value) {
  const Field* field = find_field(key);
  return fmt::format("{} {}", field ? std::string(field->label) : key, value);
}

/// Goes through the settings in their order and adds each that distinguishes runs whose names are still the same.
void tell_apart(std::vector<std::string>& names, const std::vector<NamedSettings>& runs,
                const std::vector<size_t>& alike) {
  std::vector<std::string> told(runs.size());
  for (const auto& [key, first] : runs[alike.front()].settings) {
    if (!tells(key)) continue;
    const auto parts = [&, &key = key](size_t one, size_t other) {
      const std::string *a = value_of(runs[one], key), *b = value_of(runs[other], key);
      return told[one] == told[other] && a && b && *a != *b;
    };
    const bool useful = std::ranges::any_of(alike, [&](size_t one) {
      return std::ranges::any_of(alike, [&](size_t other) { return parts(one, other); });
    });
    for (size_t one : alike)
      if (const std::string* value = value_of(runs[one], key); useful && value)
        told[one] += ", " + said(key, *value);
  }
  for (size_t one : alike) names[one].insert(std::min(names[one].find(", "), names[one].size()), told[one]);
}

/// The value as a file keeps it: "custom" for a placement that was added.
std::string portable_value(const RunSpec& spec, std::string_view key) {
  std::string value = get_field(spec, key);
  if (!names_placement(key)) return value;
  // The encoder has the same placement only where that is known.
  const bool both = spec.model.architecture == Architecture::EncoderDecoder;
  const bool unknown = is_own_name(value) || (both && value == "same" && is_own(spec));
  return unknown ? to_string(Placement::Custom) : value;
}

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
  // Screens ask for fields by the hundred in every frame.
  static const auto by_key = [] {
    std::unordered_map<std::string_view, const Field*> all;
    for (const Field& field : spec_fields()) all.emplace(field.key, &field);
    return all;
  }();
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : found->second;
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

bool parse_integer(std::string_view text, int64_t& value) { return parse_whole(text, value); }

bool parse_real(std::string_view text, float& value) {
  float read = 0;
  if (!parse_whole(text, read) || !std::isfinite(read)) return false;
  value = read;
  return true;
}

bool parse_flag(std::string_view text, bool& value) {
  text = trimmed(text);
  const bool yes = text == "true" || text == "on" || text == "yes";
  const bool no = text == "false" || text == "off" || text == "no";
  if (yes || no) value = yes;
  return yes || no;
}

bool parse_steps(std::string_view text, std::vector<int32_t>& steps) {
  std::vector<int32_t> read;
  if (!trimmed(text).empty())
    for (const std::string_view part : split(text, ',')) {
      int64_t step = 0;
      if (!parse_integer(part, step) || step < 1 || step > kLastEdit) return false;
      if (!read.empty() && step <= read.back()) return false;
      read.push_back(static_cast<int32_t>(step));
    }
  steps = std::move(read);
  return true;
}

std::string steps_text(const std::vector<int32_t>& steps) { return fmt::format("{}", fmt::join(steps, ",")); }

std::string real_text(float value) { return fmt::format("{}", value); }

void check_value(const Field& field, std::string_view text) {
  const std::string_view shown = trimmed(text);
  switch (field.type) {
    case FieldType::Integer: {
      int64_t value = 0;
      if (!parse_integer(text, value))
        fail(field.key, "'{}' is not a whole number: expected {}", shown, range_text(field));
      check_range(field, text, value);
      return;
    }
    case FieldType::Real: {
      float value = 0;
      if (!parse_real(text, value))
        fail(field.key, "'{}' is not a number: expected {}", shown, range_text(field));
      check_range(field, text, value);
      return;
    }
    case FieldType::Flag: {
      bool value = false;
      if (!parse_flag(text, value)) fail(field.key, "'{}' is neither: expected true or false", shown);
      return;
    }
    case FieldType::Choice: {
      const std::vector<std::string_view> choices = choices_of(field);
      for (std::string_view choice : choices)
        if (choice == shown) return;
      fail(field.key, "'{}' is unknown: {}", shown, expected(shown, choices));
    }
    case FieldType::Text:
      return;
  }
}

std::string critical_cost_text(int32_t every) {
  constexpr double kForwardShare = 1.0 / 3;
  const double percent = 100 * kCriticalPasses * kForwardShare / every;
  return fmt::format("{} forward passes {}: {} % more time", kCriticalPasses,
                     every == 1 ? "every step" : fmt::format("every {} steps", every),
                     percent < 1 ? "less than 1" : fmt::format("about {:.0f}", percent));
}

std::vector<std::string_view> choices_of(const Field& field) {
  std::vector<std::string_view> all = field.choices;
  if (names_placement(field.key))
    for (const Placement own : added_placements()) all.emplace_back(to_string(own));
  return all;
}

std::vector<Edit> portable_edits(const RunSpec& from, std::vector<Edit> edits) {
  if (added_placements().empty()) return edits;
  std::ranges::stable_sort(edits, {}, &Edit::step);
  std::vector<Edit> out;
  RunSpec now = from;
  for (size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const bool fills = fills_wiring(edit.key);
    const bool own_before = fills && is_own(now);
    try {
      set_field(now, edit.key, edit.value);
    } catch (const Error&) {  // whoever makes the edits says so
      out.insert(out.end(), edits.begin() + static_cast<std::ptrdiff_t>(i), edits.end());
      return out;
    }
    if (!(names_placement(edit.key) && is_own_name(edit.value))) out.push_back(edit);
    if (own_before || (fills && is_own(now))) add_wiring(out, now, edit.step);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> field_values(const RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Field& field : spec_fields()) values.emplace_back(field.key, portable_value(spec, field.key));
  // The presets fill in model.norm; any other wiring is written place by place.
  RunSpec preset = spec;
  bool custom = false;
  for (const char* key : {"model.placement", "model.encoder_placement"}) {
    const std::string placement = portable_value(spec, key);
    custom = custom || placement == to_string(Placement::Custom);
    set_field(preset, key, placement);
  }
  if (custom || !same_wiring(preset.model, spec.model))
    for (const std::string& key : wiring_keys(spec)) values.emplace_back(key, get_field(spec, key));
  return values;
}

bool operator==(const RunSpec& a, const RunSpec& b) { return field_values(a) == field_values(b); }

std::vector<Edit> edits_between(const RunSpec& from, const RunSpec& to, int32_t step) {
  std::vector<Edit> edits;
  RunSpec now = from;
  const auto change = [&](std::string_view key) {
    const std::string value = portable_value(to, key);
    if (portable_value(now, key) == value) return;
    set_field(now, key, value);
    // The wiring.* keys describe a custom wiring.
    if (names_placement(key) && value == to_string(Placement::Custom)) return;
    edits.push_back({step, std::string(key), value});
  };
  for (const Field& field : spec_fields()) change(field.key);
  if (!same_wiring(now.model, to.model))  // it has forty keys and more
    for (const std::string& key : wiring_keys(to)) change(key);
  return portable_edits(from, std::move(edits));
}

std::string default_name(const RunSpec& spec) {
  const ModelConfig& model = spec.model;
  const Placement placement =
      placement_of(model.stack(), context_of(model, model.architecture != Architecture::Encoder));
  const ArchitectureRuns* added = added_runs(model.architecture);
  std::string name = added ? added->name(placement) : label(placement);
  if (model.norm != NormKind::LayerNorm && (placement == Placement::Custom || has_norms(placement)))
    name += fmt::format(" ({})", short_name(model.norm));
  if (model.init != InitRule::Xavier && (!added || added->started))
    name += fmt::format(", {}", kInitRules[static_cast<size_t>(model.init)]);
  if (const auto said = row_of(model.positions).said; !said.empty()) name += fmt::format(", {}", said);
  if (model.gated) name += ", gated";
  if (kv_heads(model) != model.heads && is_transformer(model.architecture)) name += ", grouped";
  if (model.memory > 0) name += fmt::format(", memory {}", model.memory);
  const int32_t warmup = spec.train.schedule.warmup;
  if (const float target = spec.train.schedule.target; target > 0)
    return name + fmt::format(", warm-up to a loss {}", target);
  return name + (warmup > 0 ? fmt::format(", warm-up {}", warmup) : ", no warm-up");
}

std::vector<std::string> told_apart(const std::vector<NamedSettings>& runs) {
  std::vector<std::string> names;
  for (const NamedSettings& run : runs) names.push_back(run.name);
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<size_t> alike;
    for (size_t other = 0; other < runs.size(); ++other)
      if (runs[other].name == runs[i].name) alike.push_back(other);
    if (alike.size() > 1 && alike.front() == i) tell_apart(names, runs, alike);
  }
  return names;
}

std::vector<RunSpec> default_comparison(const DataSpec& data, uint64_t seed) {
  std::vector<RunSpec> runs{placed(Placement::Post, 0), placed(Placement::Post, kDefaultWarmup),
                            placed(Placement::Pre, 0)};
  for (RunSpec& run : runs) {
    run.data = data;
    run.data.context = run.model.sequence;
    run.seed = seed;
  }
  return runs;
}

std::vector<RunSpec> comparison_of(std::string_view architecture) {
  const ArchitectureRuns* added = added_runs(architecture_from(architecture));
  if (!added) return default_comparison();
  std::vector<RunSpec> runs = added->comparison();
  for (RunSpec& run : runs) complete(run);
  return runs;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (Placement placement : kPresets) {
    if (!has_row(to_string(placement))) names.emplace_back(to_string(placement));
    if (placement == Placement::Post) names.emplace_back("post-warmup");
  }
  for (const RunPreset& preset : kRunPresets)
    if (preset.name != "post-warmup") names.emplace_back(preset.name);
  for (const NamedRun& run : named_runs()) names.emplace_back(run.name);
  return names;
}

std::vector<std::string> offered_presets() {
  std::vector<std::string> names = preset_names();
  for (Placement own : added_placements()) names.emplace_back(to_string(own));
  return names;
}

RunSpec preset_run(std::string_view name) {
  for (const NamedRun& run : named_runs())
    if (name == run.name) return run.make();
  for (const RunPreset& preset : kRunPresets)
    if (name == preset.name) return placed(preset.placement, preset.warmup, preset.init);
  for (Placement placement : placements())
    if (name == to_string(placement)) return placed(placement, 0);
  const std::vector<std::string> all = offered_presets();
  fail("preset", "'{}' is unknown: {}", name,
       expected(name, std::vector<std::string_view>(all.begin(), all.end())));
}

}  // namespace normscope

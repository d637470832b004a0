// Functions that make the rows of the field table, in training/spec and in add-ons; spec.cpp joins the rows.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope {

void add_model_fields(std::vector<Field>& fields);
void add_attention_fields(std::vector<Field>& fields);
void add_train_fields(std::vector<Field>& fields);
void add_data_fields(std::vector<Field>& fields);

/// The words of every row.
struct FieldWords {
  std::string_view key, label, unit, help;
  bool live = false;
  Field::Condition when{};  ///< a run must read it; none: every run does
};

inline Field field_of(FieldType type, const FieldWords& words, double low = 0, double high = 0) {
  Field field;
  field.key = words.key;
  field.label = words.label;
  field.unit = words.unit;
  field.help = words.help;
  field.live = words.live;
  field.type = type;
  if (words.when.read) field.conditions.push_back(words.when);
  field.low = low;
  field.high = high;
  return field;
}

// Reads a field of a const RunSpec through its captureless accessor RunSpec& -> T&.
template <auto At>
const auto& peek(const RunSpec& spec) {
  if constexpr (std::is_invocable_v<decltype(At), const RunSpec&>)
    return At(spec);
  else
    return At(const_cast<RunSpec&>(spec));  // the accessors only name a member
}

/// The accessors of a member: member<&TrainConfig::clip> of a part of the specification, member<&ImageConfig::window>
/// of an add-on's settings of the model, of_data<&ImageData::images> and of_train of its settings of data and of
/// training.
template <typename T, typename Value>
T owner_of(Value T::*);
template <typename T, typename Spec>
auto& part_of(Spec& spec) {
  if constexpr (std::is_same_v<T, RunSpec>)
    return spec;
  else if constexpr (std::is_same_v<T, ModelConfig>)
    return spec.model;
  else if constexpr (std::is_same_v<T, AttentionConfig>)
    return spec.model.attention;
  else if constexpr (std::is_same_v<T, TrainConfig>)
    return spec.train;
  else if constexpr (std::is_same_v<T, Schedule>)
    return spec.train.schedule;
  else if constexpr (std::is_same_v<T, DataSpec>)
    return spec.data;
  else
    return spec.model.template of<T>();
}
template <auto Member>
constexpr auto member = [](auto& spec) -> auto& {
  return part_of<decltype(owner_of(Member))>(spec).*Member;
};
template <auto Member>
constexpr auto of_train = [](auto& spec) -> auto& {
  return spec.train.added.template of<decltype(owner_of(Member))>().*Member;
};
template <auto Member>
constexpr auto of_data = [](auto& spec) -> auto& {
  return spec.data.added.template of<decltype(owner_of(Member))>().*Member;
};

/// Adds an add-on's sentence to the help of a core setting.
void add_help(std::vector<Field>& fields, std::string_view key, std::string_view help);

/// Inserts the rows of an add-on after the field `key`: fields are set in table order, fields of data before data.name.
void insert_behind(std::vector<Field>& fields, std::string_view key, const std::vector<Field>& rows);

#define SETTINGS(add) void add(std::vector<Field>& fields);
#include "chosen/settings.def"
#undef SETTINGS

template <auto At>
void set_integer(RunSpec& spec, std::string_view text) {
  int64_t value = 0;
  if (parse_integer(text, value)) At(spec) = static_cast<std::decay_t<decltype(At(spec))>>(value);
}
template <auto At>
Field integer(const FieldWords& words, double low, double high) {
  Field field = field_of(FieldType::Integer, words, low, high);
  field.get = [](const RunSpec& spec) { return std::to_string(peek<At>(spec)); };
  field.set = set_integer<At>;
  return field;
}

template <auto At>
Field real(const FieldWords& words, double low, double high) {
  Field field = field_of(FieldType::Real, words, low, high);
  field.get = [](const RunSpec& spec) { return real_text(peek<At>(spec)); };
  field.set = [](RunSpec& spec, std::string_view text) { parse_real(text, At(spec)); };
  return field;
}

template <auto At>
Field flag(const FieldWords& words) {
  Field field = field_of(FieldType::Flag, words);
  field.get = [](const RunSpec& spec) { return std::string(peek<At>(spec) ? "true" : "false"); };
  field.set = [](RunSpec& spec, std::string_view text) { parse_flag(text, At(spec)); };
  return field;
}

template <auto At>
Field text(const FieldWords& words) {
  Field field = field_of(FieldType::Text, words);
  field.get = [](const RunSpec& spec) { return peek<At>(spec); };
  field.set = [](RunSpec& spec, std::string_view value) { At(spec) = trimmed(value); };
  return field;
}

template <auto At>
Field file(const FieldWords& words) {
  Field field = text<At>(words);
  field.file = true;
  return field;
}

/// The file that the task `kName` learns from: naming a file selects that task; data.name follows this field and
/// overrides it. With kGivesWay, clearing the file selects the built-in sentences; without it the task stays, and its
/// check reports the missing file.
template <auto At, const char* kName, bool kGivesWay = false>
Field source(const FieldWords& words) {
  Field field = file<At>(words);
  field.set = [](RunSpec& spec, std::string_view path) {
    At(spec) = trimmed(path);
    if (!At(spec).empty()) spec.data.name = kName;
    if (kGivesWay && At(spec).empty() && spec.data.name == kName) spec.data.name = "corpus";
    complete(spec);
  };
  return field;
}

/// The field, read only by the runs that `read` accepts, as the field `because` decides.
inline Field read_if(bool (*read)(const RunSpec&), std::string_view because, Field field,
                     std::string_view expected = {}) {
  field.conditions.push_back({read, because, expected});
  return field;
}

/// From and To translate between the choice's name and the value.
template <auto At, auto To, auto From>
Field choice(const FieldWords& words, std::vector<std::string_view> choices) {
  Field field = field_of(FieldType::Choice, words);
  field.choices = std::move(choices);
  field.get = [](const RunSpec& spec) { return std::string(To(peek<At>(spec))); };
  field.set = [](RunSpec& spec, std::string_view name) { At(spec) = From(trimmed(name)); };
  return field;
}

/// A choice of an enumeration whose values count up from zero in the order of their names.
template <auto At, const auto& kNames>
Field choice_of(const FieldWords& words) {
  using Enum = std::decay_t<decltype(At(std::declval<RunSpec&>()))>;
  return choice<At, [](Enum value) { return kNames[static_cast<size_t>(value)]; },
                [](std::string_view name) {
                  return static_cast<Enum>(std::ranges::find(kNames, name) - std::begin(kNames));
                }>(words, {std::begin(kNames), std::end(kNames)});
}

// The runs of a network that is not a transformer; add-ons define one for each of their rows of architectures.def.

struct ArchitectureRuns {
  void (*complete)(RunSpec&) = nullptr;              ///< see complete() in spec.h
  void (*fit)(ModelConfig&, const Task&) = nullptr;  ///< see fit_to_data()
  std::string (*name)(Placement) = nullptr;          ///< how default_name begins
  std::string_view wiring = {};                      ///< for tables; empty: they show the placement
  std::string_view preset = {};                      ///< a name of `train --preset`
  RunSpec (*run)() = nullptr;                        ///< the run of `preset`
  std::vector<RunSpec> (*comparison)() = nullptr;    ///< see comparison_of
  bool sized = true;    ///< reads model.layers, model.d_model, model.feed_forward, model.dropout_activation
  bool started = true;  ///< reads model.init
};

#define ARCHITECTURE(Name, name) extern const ArchitectureRuns name##_runs;
#include "chosen/architectures.def"
#undef ARCHITECTURE

const ArchitectureRuns* added_runs(Architecture architecture);  ///< null for a transformer
std::span<const ArchitectureRuns* const> added_architectures();

}  // namespace normscope

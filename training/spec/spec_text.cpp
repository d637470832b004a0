#include "training/spec/spec_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "engine/core/real_text.h"
#include "training/io/text.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

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

}  // namespace

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
  text = trimmed(text);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    int64_t step = 0;
    if (!parse_integer(text.substr(0, comma), step)) return false;
    if (step < 1 || step > kLastEdit || (!read.empty() && step <= read.back())) return false;
    read.push_back(static_cast<int32_t>(step));
    if (comma == std::string_view::npos) break;
    text = trimmed(text.substr(comma + 1));
    if (text.empty()) return false;
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

namespace {

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

/// Adds edits that say all of a wiring, with one for all layers where they are alike.
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

}  // namespace

std::vector<std::string_view> choices_of(const Field& field) {
  std::vector<std::string_view> all = field.choices;
  if (names_placement(field.key))
    for (const Placement own : added_placements()) all.emplace_back(to_string(own));
  return all;
}

std::string portable_value(const RunSpec& spec, std::string_view key) {
  std::string value = get_field(spec, key);
  if (!names_placement(key)) return value;
  // The encoder has the same placement only where that is known.
  const bool both = spec.model.architecture == Architecture::EncoderDecoder;
  const bool unknown = is_own_name(value) || (both && value == "same" && is_own(spec));
  return unknown ? to_string(Placement::Custom) : value;
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
    // The wiring keys say it.
    if (names_placement(key) && value == to_string(Placement::Custom)) return;
    edits.push_back({step, std::string(key), value});
  };
  for (const Field& field : spec_fields()) change(field.key);
  if (!same_wiring(now.model, to.model))  // it has forty keys and more
    for (const std::string& key : wiring_keys(to)) change(key);
  return portable_edits(from, std::move(edits));
}

}  // namespace normscope

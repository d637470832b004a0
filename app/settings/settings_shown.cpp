// How fields are shown: which come first, and over what range their handles move. See settings_rows.h.
#include <fmt/format.h>
#include <set>
#include <string>

#include <algorithm>
#include <array>

#include "app/settings/settings_rows.h"
#include "app/words/words.h"

namespace normscope::settings {
namespace {

// The fields that are touched most, with range, step and scale of the slider; words are in assets/words/settings.toml.
constexpr std::array<FieldLabel, 11> kFirst{{
    {"model.layers", "", "", 1, 24, 1, false},
    {"train.lr", "", "", 1e-5, 1e-1, 0, true},
    {"model.d_model", "", "", 16, 512, 16, true},
    {"train.batch", "", "", 1, 256, 1, true},
    {"model.heads", "", "", 1, 16, 1, true},
    {"train.optimizer", "", ""},
    {"model.feed_forward", "", "", 16, 2048, 16, true},
    {"model.init", "", ""},
    {"model.sequence", "", nullptr, 8, 512, 8, true},
    {"data.name", "", ""},
    {"run.seed", "", "", 0, 100, 1, false},
}};

// Fields whose useful range is narrower than the possible one.
constexpr std::array<FieldLabel, 13> kOthers{{
    {"model.init_scale", "", "", 0.0625, 4, 0, true},
    {"train.warmup", "", "", 0, 1000, 10, false},
    {"train.warmup_target", "", "", 0, 10, 0.1, false},
    {"model.head_width", "", "", 0, 128, 1, false},
    {"model.kv_heads", "", "", 0, 16, 1, false},
    {"model.attention_window", "", nullptr, 0, 128, 1, false},
    {"model.attention_scale", "", "", 0, 2, 0.01, false},
    {"model.attention_cap", "", "", 0, 100, 1, false},
    {"model.logit_scale", "", "", 0.01, 10, 0, true},
    {"model.logit_cap", "", "", 0, 100, 1, false},
    {"model.embedding_scale", "", "", 0, 32, 0.5, false},
    {"model.rotary_base", "", "", 10, 1e6, 0, true},
    {"model.rotary_factor", "", "", 1, 64, 1, false},
}};

}  // namespace

std::string spoken_help(const Field& field) {
  std::string text = words::spoken(field.help);
  for (const std::string_view more : field.more_help) text += " " + words::spoken(more);
  return text;
}

std::vector<const Field*> first_fields() {
  std::vector<const Field*> fields;
  for (const FieldLabel& shown : kFirst)
    if (const Field* field = find_field(shown.key)) fields.push_back(field);
  return fields;
}

namespace {

/// Keeps a text as long as the program, because the rows point to their words.
const char* lasting(std::string text) {
  static std::set<std::string> all;
  return all.insert(std::move(text)).first->c_str();
}

}  // namespace

FieldLabel shown_as(const Field& field) {
  const auto own = [&](std::string_view what, const char* otherwise) {
    const std::string* said = words::of_window().find(fmt::format("settings.shown.{}.{}", field.key, what));
    return said ? said->c_str() : otherwise;
  };
  for (const FieldLabel& first : kFirst)
    if (field.key == first.key) {
      FieldLabel shown = first;
      shown.label = own("label", shown.label);
      shown.unit = own("unit", shown.unit);
      return shown;
    }
  FieldLabel shown{field.key.data(), own("label", lasting(words::spoken(field.label))),
                   lasting(words::spoken(field.unit))};
  for (const FieldLabel& other : kOthers)
    if (field.key == other.key) {
      shown.lo = other.lo;
      shown.hi = other.hi;
      shown.step = other.step;
      shown.log = other.log;
      return shown;
    }
  shown.lo = field.low;
  shown.hi = field.type == FieldType::Real ? std::min(field.high, 1.0) : field.high;
  if (field.type == FieldType::Real) shown.step = 0.01;
  return shown;
}

}  // namespace normscope::settings

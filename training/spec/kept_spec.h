// Rules of kept specifications and edits, see training/spec/codec.h: checkpoints and the undo log of a session hold them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"
#include "training/spec/spec.h"

namespace normscope {

inline constexpr size_t kMostFields = 4096;  ///< the table's, and three wirings a layer of two stacks

/// The key of a setting; one of an older version is read as that of today.
struct SettingKey {
  codec::Json write(const std::string& key) const { return key; }
  void read(const InputValue& json, std::string& key) const { key = current_key(json.text(kLongestText)); }
};

/// A setting and its value, as [key, value].
inline constexpr auto kSetting = codec::row(2, [](auto& io, auto& setting) {
  io("key", setting.first, codec::Text{kLongestText});
  io("value", setting.second, codec::Text{kLongestText});
});

/// A specification as the list of its settings.
struct WholeSpec {
  static constexpr codec::List kSettings{0, kMostFields, kSetting};
  codec::Json write(const RunSpec& spec) const { return kSettings.write(field_values(spec)); }
  void read(const InputValue& json, RunSpec& spec) const {
    std::vector<std::pair<std::string, std::string>> settings;
    kSettings.read(json, settings);
    spec = {};
    for (const auto& [key, value] : settings) set_field(spec, key, value);
  }
};

}  // namespace normscope

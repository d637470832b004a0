// The rules (training/io/codec.h) by which checkpoints keep a specification and its settings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "training/io/codec.h"
#include "training/io/input_value.h"
#include "training/spec/spec.h"

namespace normscope {

inline constexpr size_t kMaxFields = 4096;  ///< the table's, and three wirings for each layer of two stacks

/// Keeps a setting and its value as [key, value].
inline constexpr auto kSetting = codec::row(2, [](auto& io, auto& setting) {
  io("key", setting.first, codec::Text{kLongestText});
  io("value", setting.second, codec::Text{kLongestText});
});

/// Keeps a specification as the list of its settings.
struct WholeSpec {
  static constexpr codec::List kSettings{0, kMaxFields, kSetting};
  codec::Json write(const RunSpec& spec) const { return kSettings.write(field_values(spec)); }
  void read(const InputValue& json, RunSpec& spec) const {
    std::vector<std::pair<std::string, std::string>> settings;
    kSettings.read(json, settings);
    spec = {};
    for (const auto& [key, value] : settings) set_field(spec, key, value);
  }
};

}  // namespace normscope

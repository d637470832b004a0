// The mapping file is TOML that names tensors which no rule of tensor_names.cpp knows.
//
//   first_layer = 1                                    # what their first layer is called; 0 if left out
//   "net.stage.{layer}.att.query" = "L{layer}.attn.wq"
//   "net.stage.{layer}" = "L{layer}.ffn.out"           # a module: its output is the layer's
//   "net.table" = "emb.tokens"
//
// Their name is on the left, ours on the right; their layer 0 is our L01. A line precedes every built-in rule. Called
// by read_recorded, `normscope record` and, for the lines in a log's own header, log_reader.cpp.
#pragma once

#include <string>
#include <string_view>

#include "addons/recorded/training/tensor_names.h"
#include "training/io/input_file.h"

namespace normscope::records {

inline constexpr InputKind kNamesFile{"", "names of tensors in TOML", 1'000'000};
inline constexpr size_t kMostNameRules = 10'000;
inline constexpr size_t kLongestName = 1000;  ///< bytes, of theirs

/// Throws Error as "FILE:LINE: ...", with the line, its content and what was expected.
NameMapping read_name_mapping(const std::string& path);
NameMapping parse_name_mapping(std::string_view text, const std::string& file);

/// Reads one line of a mapping. Throws Error without a place.
NameRule name_rule(std::string_view theirs, std::string_view ours);

}  // namespace normscope::records

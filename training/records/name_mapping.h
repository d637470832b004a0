// The mapping file: what tensors are called that no rule of tensor_names.cpp knows, as TOML.
//
//   first_layer = 1                                    # what their first layer is called; 0 if left out
//   "net.stage.{layer}.att.query" = "L{layer}.attn.wq"
//   "net.stage.{layer}" = "L{layer}.ffn.out"           # a module: its output is the layer's
//   "net.table" = "emb.tokens"
//
// Theirs on the left, ours on the right; a layer 0 of theirs is our L01. A line goes before every built-in rule.
// Called by read_recorded, `normscope record` and, for the lines that a log's own header has, log_reader.cpp.
#pragma once

#include <string>
#include <string_view>

#include "training/records/tensor_names.h"

namespace normscope::records {

inline constexpr size_t kMostNameRules = 10'000;
inline constexpr size_t kLongestName = 1000;  ///< bytes, of theirs

/// Throws Error as "FILE:LINE: ...", with the line, what stands there and what was expected.
NameMapping read_name_mapping(const std::string& path);
NameMapping parse_name_mapping(std::string_view text, const std::string& file);

/// One line of a mapping. Throws Error without a place.
NameRule name_rule(std::string_view theirs, std::string_view ours);

}  // namespace normscope::records

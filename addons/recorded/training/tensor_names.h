// Our name for a tensor of another model: "model.layers.3.self_attn.q_proj.weight" is layer 4's
// "attn.wq", which the engine calls "L04.attn.wq".
//
// Promises: the rules are a table (tensor_names.cpp) over the names of PyTorch's own modules, of the usual families of
// Hugging Face and of Flax. A mapping precedes them; our own names stay as they are; a name without a rule is reported
// as unknown, never guessed. Called by log_reader.cpp and `normscope record`.
#pragma once

#include <map>

#include "engine/io/input_file.h"

namespace normscope::records {

/// The stack of a layer, in a model that has both an encoder and a decoder.
enum class Stack : uint8_t { Only, Encoder, Decoder };

struct TensorName {
  std::string part = {};  ///< "attn.wq", "ffn.out"; outside the layers "emb.tokens"; empty: unknown
  int32_t layer = 0;      ///< from 1; 0: outside the layers
  Stack stack = Stack::Only;
  bool ours = false;    ///< the engine's own name, which includes the stack
  bool output = false;  ///< the output of a whole layer
  bool known() const { return !part.empty(); }
  bool operator==(const TensorName&) const = default;
};

/// The kind of a tensor: a parameter, or the output of a module.
enum class NameOf : uint8_t { Parameter, Output };

/// A line of a mapping. A name that begins with `before`, a layer's number and `after` is `target` in that layer;
/// without a layer, the name is `before`.
struct NameRule {
  std::string before, after;
  bool layered = false;
  TensorName target;
};

struct NameMapping {
  std::vector<NameRule> rules;
  int32_t first_layer = 0;  ///< the number of their first layer
  std::string step;         ///< their name of the step; empty: one that is known
  std::map<std::string, std::string, std::less<>> series;  ///< their name -> "loss", "lr" or "validation"
};

inline const NameMapping kNoMapping;
inline constexpr int32_t kMaxLayers = 10'000;  ///< a higher number in a name is not a layer

/// The tensor of a name. An unknown name has an empty part, and its layer if that can be read from it.
TensorName resolve(std::string_view name, NameOf of, const NameMapping& mapping = {});

/// Reads a name of ours: "enc.L03.attn.wq", "emb.tokens". The result is unknown for any other name.
TensorName parse_own_name(std::string_view name);

/// The engine's name for it. `both`: the model has an encoder and a decoder.
std::string engine_name(const TensorName& name, bool both);

// ---- the mapping file: TOML that names tensors which no rule of tensor_names.cpp knows
//
//   first_layer = 1                                    # what their first layer is called; 0 if left out
//   "net.stage.{layer}.att.query" = "L{layer}.attn.wq"
//   "net.stage.{layer}" = "L{layer}.ffn.out"           # a module: its output is the layer's
//   "net.table" = "emb.tokens"
//   "loss" = "my/name"                                 # and "lr", "validation" and "step": a scalar's name, a column's
//
// Their name of a tensor is on the left, ours on the right; their layer 0 is our L01. A line precedes every built-in rule. Called
// by read_recorded, `normscope record` and, for the lines in a log's own header, log_reader.cpp.
inline constexpr InputKind kNamesFile{"", "names of tensors in TOML", 1'000'000};
inline constexpr size_t kMaxNameRules = 10'000;
inline constexpr size_t kLongestName = 1000;  ///< bytes, of theirs

/// Throws Error as "FILE:LINE: ...", with the line, its content and what was expected.
NameMapping read_name_mapping(const std::string& path);
NameMapping parse_name_mapping(std::string_view text, const std::string& file);

/// Reads one line of a mapping. Throws Error without a place.
NameRule name_rule(std::string_view theirs, std::string_view ours);

}  // namespace normscope::records

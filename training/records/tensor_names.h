// What a tensor of somebody else's model is called here: "model.layers.3.self_attn.q_proj.weight" is layer 4's
// "attn.wq", which the engine calls "L04.attn.wq".
//
// Promises: the rules are a table (tensor_names.cpp) over the names of PyTorch's own modules, of the usual
// families of Hugging Face and of Flax; a mapping (name_mapping.h) goes first; our own names stay as they are;
// what no rule knows is said to be unknown and never guessed. Called by run_builder.cpp and `normscope record`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::records {

/// Where a layer stands in a model that has both an encoder and a decoder.
enum class Stack : uint8_t { Only, Encoder, Decoder };

struct TensorName {
  std::string part = {};  ///< "attn.wq", "ffn.out"; outside the layers "emb.tokens"; empty: not known
  int32_t layer = 0;      ///< from 1; 0: outside the layers
  Stack stack = Stack::Only;
  bool ours = false;    ///< named as the engine does: where it has a stack, that is part of its name
  bool output = false;  ///< what a whole layer gives out
  bool known() const { return !part.empty(); }
  bool operator==(const TensorName&) const = default;
};

/// What is named: a parameter, or the output of a module.
enum class NameOf : uint8_t { Parameter, Output };

/// A line of a mapping: names that begin with `before`, a layer's number and `after` (without a layer: that are
/// `before`) are `target`, in that layer.
struct NameRule {
  std::string before, after;
  bool layered = false;
  TensorName target;
};

struct NameMapping {
  std::vector<NameRule> rules;
  int32_t first_layer = 0;  ///< what their first layer is called
};

inline constexpr int32_t kMostLayers = 10'000;  ///< a higher number is none of a layer

/// The tensor of a name. What no rule knows has an empty part, and its layer where one can be read off it.
TensorName resolve(std::string_view name, NameOf of, const NameMapping& mapping = {});

/// A name of ours: "enc.L03.attn.wq", "emb.tokens". Not known where it is none.
TensorName parse_own_name(std::string_view name);

/// As the engine calls it. `both`: the model has an encoder and a decoder.
std::string engine_name(const TensorName& name, bool both);

}  // namespace normscope::records

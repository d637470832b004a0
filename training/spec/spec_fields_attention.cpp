// The field table, second part: what attention has beside its number of heads.
#include "training/spec/spec_fields.h"

namespace normscope {

void add_attention_fields(std::vector<Field>& fields) {
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.attention.head_width; }>(
      {"model.head_width", "head width", "features",
       "How many numbers a head's queries and keys have. 0 cuts the width evenly among the heads."},
      0, 1024));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.attention.kv_heads; }>(
      {"model.kv_heads", "heads of keys", "",
       "How many heads of keys and values there are; the heads of queries share them evenly (grouped-query "
       "attention). 0 gives every head its own."},
      0, 128));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.attention.scale; }>(
      {"model.attention_scale", "attention scale", "",
       "What the scores of attention are multiplied by. 0 is one over the root of the head width."},
      0, 100));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.attention.cap; }>(
      {"model.attention_cap", "attention cap", "",
       "Bends the scores of attention with a tanh, so that none exceeds this (Gemma 2). 0 is no cap."},
      0, 1000));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.attention.window; }>(
      {"model.attention_window", "attention window", "symbols",
       "A decoder's symbol attends to this many symbols, the last of which is itself. 0 is all before it."},
      0, 4096));
  fields.push_back(text<[](RunSpec& s) -> std::string& { return s.model.attention.pattern; }>(
      {"model.attention_pattern", "window pattern", "",
       "Which layers have the window, a letter a layer and from the start again: w has it, f sees all. wf is "
       "Gemma 2's, wwwwwf Gemma 3's; nothing gives all of them the window."}));
}

}  // namespace normscope

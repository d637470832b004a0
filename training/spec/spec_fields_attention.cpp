// The field table, second part: what attention and its positions have beside their number of heads.
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

void add_head_fields(std::vector<Field>& fields) {
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

void add_turn_fields(std::vector<Field>& fields) {
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.rotary.base; }>(
      {"model.rotary_base", "rotary base", "",
       "Pair i of the n numbers of a head that turn does so by base^(-2i/n) radians a symbol: the larger the "
       "base, the slower the last pairs."},
      1.001, 1e9));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.rotary.local_base; }>(
      {"model.rotary_local_base", "rotary base in windows", "",
       "The rotary base of the layers whose attention has a window (Gemma 3). 0 is that of the others."},
      0, 1e9));
  fields.push_back(real<[](RunSpec& s) -> float& {
    return s.model.rotary.share;
  }>({"model.rotary_share", "rotary share", "",
      "The share of a head's numbers that turn, from the first on; the others know no place (Pythia: 0.25)."},
     0, 1));
  fields.push_back(
      choice<[](RunSpec& s) -> RotaryPairing& { return s.model.rotary.pairing; },
             [](RotaryPairing p) { return kRotaryPairings[static_cast<size_t>(p)]; },
             [](std::string_view name) { return enum_from<RotaryPairing>(kRotaryPairings, name); }>(
          {"model.rotary_pairing", "rotary pairs", "",
           "Which two numbers turn together: halves pairs the first half with the second (Llama), neighbours "
           "each with the next (GPT-J)."},
          all(kRotaryPairings)));
  fields.push_back(choice<[](RunSpec& s) -> RotaryScaling& { return s.model.rotary.scaling; },
                          [](RotaryScaling r) { return kRotaryScalings[static_cast<size_t>(r)]; },
                          [](std::string_view name) {
                            return enum_from<RotaryScaling>(kRotaryScalings, name);
                          }>(
      {"model.rotary_scaling", "rotary scaling", "",
       "How turning is slowed for texts longer than those trained on: linear slows every pair, llama3 and yarn "
       "only the slow ones; yarn sharpens attention too."},
      all(kRotaryScalings)));
}

void add_scaling_fields(std::vector<Field>& fields) {
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.rotary.factor; }>(
      {"model.rotary_factor", "rotary factor", "", "By how much the scaling slows the pairs."}, 1, 1000));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& {
    return s.model.rotary.trained;
  }>({"model.rotary_trained", "rotary positions", "symbols",
      "The length of the texts before the scaling, in which a pair's turns are counted. 0 is model.sequence."},
     0, 10'000'000));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.rotary.low; }>(
      {"model.rotary_low", "rotary low", "turns",
       "Pairs that turn less often are slowed by the whole factor."},
      0.001, 1000));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.rotary.high; }>(
      {"model.rotary_high", "rotary high", "turns",
       "Pairs that turn more often are not slowed: 4 is usual for llama3, 32 for yarn."},
      0.001, 1000));
}

}  // namespace

void add_attention_fields(std::vector<Field>& fields) {
  add_head_fields(fields);
  add_turn_fields(fields);
  add_scaling_fields(fields);
}

}  // namespace normscope

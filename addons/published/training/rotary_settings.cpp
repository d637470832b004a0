// The settings of rotary positions, and the transformer of 2026, which has them.
#include "addons/published/engine/rotary.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

bool rotates(const RunSpec& s) {
  return is_transformer(s.model.architecture) && s.model.positions == Positions::Rotary;
}
bool stretches(const RunSpec& s) {
  return rotates(s) && s.model.of<RotaryConfig>().scaling != RotaryScaling::None;
}
bool stretches_by_turns(const RunSpec& s) {
  return stretches(s) && s.model.of<RotaryConfig>().scaling != RotaryScaling::Linear;
}
bool rotates_in_windows(const RunSpec& s) { return rotates(s) && s.model.attention.window > 0; }
constexpr std::string_view kInWindows = "a window, and rotary positions",
                           kStretched = "linear, llama3 or yarn, with rotary positions",
                           kByTurns = "llama3 or yarn, with rotary positions";

}  // namespace

void add_rotary_settings(std::vector<Field>& fields) {
  add_help(
      fields, "model.positions",
      "rotary adds nothing to the symbols: queries and keys turn with their place, so that attention compares "
      "distances.");
  const auto turning = [](const Field& field) { return read_if(rotates, "model.positions", field); };
  const auto stretched_by_turns = [](const Field& field) {
    return read_if(stretches_by_turns, "model.rotary_scaling", field, kByTurns);
  };
  insert_behind(
      fields, "model.attention_pattern",
      {turning(real<member<&RotaryConfig::base>>(
           {"model.rotary_base", "rotary base", "",
            "Pair i of the n numbers of a head that turn does so by base^(-2i/n) radians a symbol: the larger the "
            "base, the slower the last pairs."},
           1.001, 1e9)),
       read_if(
           rotates_in_windows, "model.attention_window",
           real<member<&RotaryConfig::local_base>>(
               {"model.rotary_local_base", "rotary base in windows", "",
                "The rotary base of the layers whose attention has a window (Gemma 3). 0 is that of the others."},
               0, 1e9),
           kInWindows),
       turning(real<member<&RotaryConfig::share>>(
           {"model.rotary_share", "rotary share", "",
            "The share of a head's numbers that turn, from the first on; the others know no place (Pythia: 0.25)."},
           0, 1)),
       turning(choice_of<member<&RotaryConfig::pairing>, kRotaryPairings>(
           {"model.rotary_pairing", "rotary pairs", "",
            "Which two numbers turn together: halves pairs the first half with the second (Llama), neighbours "
            "each with the next (GPT-J)."})),
       turning(text<member<&RotaryConfig::pattern>>(
           {"model.rotary_pattern", "rotary pattern", "",
            "Which layers turn queries and keys, a letter a layer and from the start again: r does, n does not and knows "
            "no places. rrrn is SmolLM3's; nothing has all of them turn."})),
       turning(choice_of<member<&RotaryConfig::scaling>, kRotaryScalings>(
           {"model.rotary_scaling", "rotary scaling", "",
            "How turning is slowed for texts longer than those trained on: linear slows every pair, llama3 and yarn "
            "only the slow ones; yarn sharpens attention too."})),
       read_if(stretches, "model.rotary_scaling",
               real<member<&RotaryConfig::factor>>(
                   {"model.rotary_factor", "rotary factor", "", "By how much the scaling slows the pairs."},
                   1, 1000),
               kStretched),
       stretched_by_turns(integer<member<&RotaryConfig::trained>>(
           {"model.rotary_trained", "rotary positions", "symbols",
            "The length of the texts before the scaling, in which a pair's turns are counted. 0 is model.sequence."},
           0, 10'000'000)),
       stretched_by_turns(
           real<member<&RotaryConfig::low>>({"model.rotary_low", "rotary low", "turns",
                                             "Pairs that turn less often are slowed by the whole factor."},
                                            0.001, 1000)),
       stretched_by_turns(real<member<&RotaryConfig::high>>(
           {"model.rotary_high", "rotary high", "turns",
            "Pairs that turn more often are not slowed: 4 is usual for llama3, 32 for yarn."},
           0.001, 1000))});
}

/// What Llama, Qwen and their successors share: Pre-LN with RMSNorm, rotary positions, SwiGLU,
/// two heads of queries to one of keys and values, and no biases. Two thirds of the hidden width, 8/3 d, make up for
/// the gate's matrix, and are rounded to whole vectors.
RunSpec transformer_of_2026() {
  RunSpec spec;
  spec.model.norm = NormKind::Rms;
  set_placement(spec.model, Placement::Pre);
  spec.model.positions = Positions::Rotary;
  spec.model.activation = Activation::Silu;
  spec.model.gated = true;
  spec.model.feed_forward = 176;
  spec.model.attention.kv_heads = spec.model.heads / 2;
  spec.model.biases = Biases::None;
  spec.train.schedule.warmup = kDefaultWarmup;
  return spec;
}

}  // namespace normscope

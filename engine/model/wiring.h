// Wiring is data. Every published placement of normalization is a filling of one form; for a sub-layer f
// (attention, cross-attention or feed-forward) with input x:
//
//     y = N_trunk( skip * x + branch * N_after( f( N_before(x) ) ) )
//
// (LayerNorm Scaling's factor after N_before and the norms inside f will be further members of Wiring.)
// The tape builder, the config file, the diagram in the app and the tests all read this one type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tape/tape.h"

namespace normscope {

/// How a residual stream is scaled where it meets the sum.
struct Scale {
  enum class Kind : uint8_t { One, Constant, LearnedScalar, LearnedVector } kind = Kind::One;
  float value = 1.0f;  ///< Constant: the factor; learned: where it starts
  bool operator==(const Scale&) const = default;
};

/// One sub-layer's placement. Post-LN: trunk. Pre-LN: before. Sandwich / Peri-LN: before and after.
struct Wiring {
  NormKind before = NormKind::None;
  NormKind after = NormKind::None;
  NormKind trunk = NormKind::None;
  Scale skip, branch;
  float init_gain = 1.0f;  ///< DeepNorm's beta: W_V, W_O, W_1 and W_2 of this sub-layer start times this
  bool operator==(const Wiring&) const = default;
};

enum class Slot : uint8_t { Before, After, Trunk };
NormKind& slot(Wiring& wiring, Slot which);
NormKind slot(const Wiring& wiring, Slot which);

/// A layer of a stack; cross is used by the decoder of an encoder-decoder only.
struct LayerWiring {
  Wiring attention, cross, feed_forward;
  bool operator==(const LayerWiring&) const = default;
};

struct StackWiring {
  std::vector<LayerWiring> layers;
  NormKind embedding = NormKind::None;  ///< norm on the embedding (Peri-LN)
  NormKind final = NormKind::None;      ///< norm after the last layer
  bool operator==(const StackWiring&) const = default;
};

enum class Placement : uint8_t { None, Post, Pre, Sandwich, DeepNorm, Admin, ReZero, Custom };
inline constexpr Placement kPresets[] = {Placement::None,     Placement::Post,     Placement::Pre,
                                         Placement::Sandwich, Placement::DeepNorm, Placement::Admin,
                                         Placement::ReZero};
const char* to_string(Placement placement);       ///< "post"
const char* label(Placement placement);           ///< "Post-LN"
Placement placement_from(std::string_view name);  ///< throws Error listing the names

/// What a stack is for: DeepNorm's constants depend on it (Wang et al. 2022, Table 1 of "DeepNet").
struct StackContext {
  bool decoder = true;
  int layers = 6;        ///< layers of this stack
  int other_layers = 0;  ///< layers of the other stack of an encoder-decoder, 0 when there is none
};

/// The preset for one sub-layer / a whole stack (final norm included).
Wiring preset(Placement placement, NormKind norm, const StackContext& context);
StackWiring preset_stack(Placement placement, NormKind norm, const StackContext& context);

/// The preset that a stack equals, or Custom. Two Post layers and four Pre layers are Custom.
Placement placement_of(const StackWiring& stack, const StackContext& context);

/// DeepNorm: skip scale alpha and init gain beta (for W_V, W_O, W_1, W_2).
struct DeepNormConstants {
  double alpha = 1, beta = 1;
};
DeepNormConstants deepnorm_constants(const StackContext& context);

/// "trunk=ln", "before=ln after=ln", "none", "trunk=ln skip=vector:1", "branch=scalar:0", "trunk=ln skip=1.86
/// gain=0.38".
std::string to_string(const Wiring& wiring);
Wiring wiring_from(std::string_view text);  ///< throws Error naming the word that is wrong

const char* short_name(NormKind kind);      ///< "ln", "simple", "rms", "detach", "detach-mean", ...
NormKind norm_from(std::string_view name);  ///< throws Error listing the names

}  // namespace normscope

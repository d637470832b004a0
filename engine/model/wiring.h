// Wiring is data. Every published placement of normalization fills in one form; for a sub-layer f
// (attention, cross-attention or feed-forward) of a layer with input x_0, on a stream x:
//
//     h = N_enter(x)
//     y = N_stream( skip * h + branch * N_after( f( pre_scale * N_before(h) ) ) + [bottom] x_0 )
//
// with norms inside f too (Inner). A parallel sub-layer's branch reads x_0 in place of h. A stack adds a norm on the
// embedding and one at its end. Other forms of residual streams are add-ons' (model/residual.h). The tape builder, the
// config file, the diagram in the app and the tests all read this one type. The placements themselves are rows of
// model/placements.def: a new placement is a new row.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/ops.h"

namespace normscope {

/// The scale of a summand, skip or branch, in the residual sum.
struct Scale {
  /// Toward: only for a branch, a learned vector |a|; the skip is then 1 - |a| (nGPT, Loshchilov et al. 2024).
  enum class Kind : uint8_t { One, Constant, LearnedScalar, LearnedVector, Toward } kind = Kind::One;
  float value = 1.0f;  ///< Constant: the factor; learned: the initial value
  /// A skip that is a learned vector may get its initial value from a profiling pass (Liu et al. 2020): Sequential is
  /// the rule of the authors' code, AtOnce the paper's. See profile_admin in model/transformer.h.
  enum class Profile : uint8_t { None, Sequential, AtOnce } profile = Profile::None;
  bool operator==(const Scale&) const = default;
};

/// A norm of a wiring. It converts to and from its kind; assigning a kind resets the epsilon to the model's.
struct WiredNorm {
  NormKind kind = NormKind::None;
  float eps = 0;  ///< 0: the model's, ModelConfig::eps
  WiredNorm() = default;
  WiredNorm(NormKind of) : kind(of) {}
  WiredNorm(NormKind of, float epsilon) : kind(of), eps(epsilon) {}
  operator NormKind() const { return kind; }
  bool operator==(const WiredNorm&) const = default;
  bool operator==(NormKind other) const { return kind == other; }
};

/// The norms inside f.
struct Inner {
  WiredNorm query = {}, key = {}, value = {};  ///< attention: of each head
  /// The norms of query and key are over all heads of a row together, each with a gain of its own (OLMo 2).
  bool across_heads = false;
  bool values_across_heads = false;  ///< the same for value (SimpleNorm)
  /// Feed-forward: after W_1, and after the gate's matrix, before the activation (SimpleNorm).
  WiredNorm hidden = {};
  WiredNorm output = {};    ///< before the last matrix of f, W_O or W_2 (Sub-LN, NormFormer)
  bool head_scale = false;  ///< attention: a learned scale for each head, from 1 (NormFormer)
  /// Scalar shifts from 0 before each matrix and the activation, instead of biases (FixUp).
  bool shifts = false;
  bool operator==(const Inner&) const = default;
};

/// The forms of residual streams that add-ons bring, see model/residual.h.
enum class ResidualForm : uint8_t {
#define RESIDUAL(name) name,
#include "chosen/residuals.def"
#undef RESIDUAL
};
constexpr uint32_t word_of(ResidualForm form) { return uint32_t{1} << static_cast<uint32_t>(form); }

/// One sub-layer's placement. Post-LN: stream. Pre-LN: before. Sandwich / Peri-LN: before and after.
struct Wiring {
  WiredNorm before = {}, after = {};
  WiredNorm stream = {};
  Scale skip = {}, branch = {};
  float init_gain = 1.0f;  ///< DeepNorm's beta: factor of this sub-layer's initial W_V, W_O, W_1, W_2
  WiredNorm enter = {};    ///< on the residual stream where the sub-layer begins (HybridNorm)
  float pre_scale = 1.0f;  ///< LayerNorm Scaling: a constant factor after N_before
  bool bottom = false;     ///< B2T: the layer's input joins the sum
  /// The branch reads the layer's input, as attention does, in place of h (GPT-J, Pythia).
  bool parallel = false;
  bool shared_norm = false;  ///< N_before shares gain and bias with attention's N_before (GPT-J, Phi)
  uint32_t added = 0;        ///< for other forms of residual streams: bits word_of(form)
  Inner inner = {};
  bool operator==(const Wiring&) const = default;
};

enum class Slot : uint8_t { Before, After, Stream };
WiredNorm& slot(Wiring& wiring, Slot which);
WiredNorm slot(const Wiring& wiring, Slot which);

/// All norms of a sub-layer, None included: enter, before, query, key, value, hidden, output, after, stream.
std::array<WiredNorm*, 9> norms_of(Wiring& wiring);
std::array<WiredNorm, 9> norms_of(const Wiring& wiring);

/// A layer of a stack; only the decoder of an encoder-decoder uses cross.
struct LayerWiring {
  Wiring attention, cross, feed_forward;
  bool operator==(const LayerWiring&) const = default;
};

/// A slot of a stack for one form of residual streams: a norm, or words of its own.
struct StackSlot {
  std::string key;  ///< "second"
  WiredNorm norm = {};
  std::string words = {};
  bool operator==(const StackSlot&) const = default;
};

struct StackWiring {
  std::vector<LayerWiring> layers;
  WiredNorm embedding = {};           ///< norm on the embedding (Peri-LN)
  WiredNorm final = {};               ///< norm after the last layer
  std::vector<StackSlot> slots = {};  ///< of forms of residual streams, without empty slots
  bool operator==(const StackWiring&) const = default;
};

WiredNorm norm_at(const StackWiring& stack, std::string_view slot);          ///< None where it is empty
std::string_view words_at(const StackWiring& stack, std::string_view slot);  ///< "" where it is empty

/// The norms of a stack outside its layers: embedding and final, None included, and the norms in slots.
std::vector<WiredNorm*> norms_of(StackWiring& stack);
std::vector<WiredNorm> norms_of(const StackWiring& stack);

/// The placements of model/placements.def, and Custom for any other wiring. Added placements follow Custom.
enum class Placement : uint8_t {
#define PLACEMENT(Name, ...) Name,
#include "engine/model/placements.def"
#undef PLACEMENT
  Custom
};
inline constexpr Placement kPresets[] = {
#define PLACEMENT(Name, ...) Placement::Name,
#include "engine/model/placements.def"
#undef PLACEMENT
};

/// The role and depth of a stack: DeepNorm's constants depend on them (Wang et al. 2022, Table 1 of "DeepNet").
struct StackContext {
  bool decoder = true;
  int layers = 6;        ///< layers of this stack
  int other_layers = 0;  ///< layers of the other stack of an encoder-decoder, 0 when there is none
  bool has_cross() const { return decoder && other_layers > 0; }
};

/// A sub-layer that a placement wires differently from all others.
struct SingleSublayer {
  int layer = 1;  ///< from 1; a stack with fewer layers ignores it
  Wiring LayerWiring::*sublayer = &LayerWiring::attention;
  Wiring wiring = {};
  bool operator==(const SingleSublayer&) const = default;
};

/// A row of placements.def or of add_placement(). Kind LayerNorm means the norm that the model uses.
struct PlacementRow {
  using Number = double (*)(const StackContext& context, int layer);  ///< layer from 1

  const char* name = "";         ///< "post": on the command line and in files
  const char* label = "";        ///< "Post-LN"
  const char* short_label = "";  ///< "Post": for a button
  Wiring sublayer = {};
  std::optional<Wiring> cross = {}, feed_forward = {};  ///< where they differ (feed-forward: no heads)
  std::optional<Wiring> early = {};                     ///< of every sub-layer in the first layers
  Number early_layers = nullptr;                        ///< the number of these layers; null: first_layers
  bool embedding = false, final = false;                ///< the norms of the stack
  const char* slots = "";               ///< "second=ln; joined=ln", "streams=4 computed": StackWiring::slots
  NormKind norm = NormKind::LayerNorm;  ///< the kind of N; LayerNorm: the norm that the model uses
  /// Numbers that depend on stack or layer: a constant skip or branch, init_gain, pre_scale. They are written into
  /// `sublayer` or `early` where it is used.
  Number skip = nullptr, branch = nullptr, gain = nullptr, pre_scale = nullptr;
  const char* formula = "";
  const char* source = "";
  int first_layers = 0;
  std::span<const SingleSublayer> single = {};
};
const PlacementRow& row_of(Placement placement);  ///< Custom has a row with names only

const char* to_string(Placement placement);       ///< "post"
const char* label(Placement placement);           ///< "Post-LN"
Placement placement_from(std::string_view name);  ///< throws Error listing the names

/// Copies a row for the life of the program and offers it as a placement from now on; any thread may call it. An equal
/// row again is the same placement. Throws Error for a name or label that is taken, for a name that is not of small
/// letters, digits and hyphens, and beyond 64 placements.
Placement add_placement(const PlacementRow& row);
/// The added placements; and all placements, presets first.
std::vector<Placement> added_placements();
std::vector<Placement> placements();
inline bool is_added(Placement placement) { return placement > Placement::Custom; }
/// For the end of a test; the rows stay in memory.
void forget_added_placements();

/// A function for the numbers of a PlacementRow, by its name in files.
struct PlacementRule {
  std::string_view name;
  PlacementRow::Number number = nullptr;
};
std::span<const PlacementRule> placement_rules();

/// The preset for one sub-layer (attention of the first layer), a layer (from 1), a whole stack.
Wiring preset(Placement placement, NormKind norm, const StackContext& context);
LayerWiring preset_layer(Placement placement, NormKind norm, const StackContext& context, int layer);
StackWiring preset_stack(Placement placement, NormKind norm, const StackContext& context);
StackWiring preset_stack(const PlacementRow& row, NormKind norm, const StackContext& context);

/// The preset that a stack equals, an added placement where no row of placements.def does, or Custom.
/// Two Post layers and four Pre layers are Custom.
Placement placement_of(const StackWiring& stack, const StackContext& context);
/// Whether a placement has any norm of the model's kind: ReZero has none, nGPT norms of its own.
bool has_norms(Placement placement);

/// Skip scale alpha and init gain beta (for W_V, W_O, W_1, W_2).
struct DeepNormConstants {
  double alpha = 1, beta = 1;
};
DeepNormConstants deepnorm_constants(const StackContext& context);
/// The init gain of the same matrices (Wang et al. 2023); cross-attention keeps 1.
double subln_gain(const StackContext& context);

/// Writes "stream=ln", "before=ln after=ln", "none", "stream=ln skip=admin:1", "branch=scalar:0", "stream=ln
/// skip=1.86 gain=0.38", "before=ln output=ln", "enter=ln", "q=ln k=ln v=ln head-scale", "q=ln k=ln across-heads",
/// "stream=ln bottom", "before=ln parallel", "before=rms:1e-06", "after=rms stream=rms branch=toward:0.05 sphere".
std::string to_string(const Wiring& wiring);
Wiring wiring_from(std::string_view text);  ///< throws Error naming the word that is wrong

NormKind norm_from(std::string_view name);  ///< throws Error listing the names
/// These write and read "ln" or, with an epsilon of its own, "ln:1e-06".
std::string to_string(const WiredNorm& norm);
WiredNorm wired_norm_from(std::string_view text);

}  // namespace normscope

// The structure of a run's network, all of it: sizes, wiring, norm, initialisation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/added_settings.h"
#include "engine/model/wiring.h"
#include "engine/ops/ops.h"

namespace normscope {

// The architectures: three arrangements of a transformer's stacks, and the networks that add-ons define as rows
// ARCHITECTURE(Enumerator, name) of architectures.def. Such a network defines name_architecture for the engine,
// name_runs for runs (training/spec/spec_fields.h) and name_chain for the app (app/view/diagram_model.h).

class Tape;
struct ModelConfig;
struct ModelValues;
struct RecordOptions;

enum class Architecture : uint8_t {
  Decoder,
  Encoder,
  EncoderDecoder,
#define ARCHITECTURE(Name, name) Name,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};
inline bool is_transformer(Architecture a) { return a <= Architecture::EncoderDecoder; }

struct ArchitectureRow {
  std::string_view name;     ///< "convolutional": in files
  std::string_view learner;  ///< "a convolutional network": in sentences
  ModelValues (*record)(Tape&, const ModelConfig&, const RecordOptions&);
  void (*validate)(const ModelConfig&);
  int64_t (*bytes)(const ModelConfig&, int32_t batch);  ///< see estimated_bytes
  double (*flop)(const ModelConfig&, int32_t batch);    ///< see step_flop
  /// A network without a residual stream: the matrix of its layer l is L0l.PART.w, and the last one class.w.
  std::string_view part = {};  ///< "conv"
  int32_t (*source)(const ModelConfig&) =
      nullptr;              ///< numbers in a row of an input "source"; null: no such input
  bool one_target = false;  ///< "targets" is (B), whatever the length of a row
  void (*fit_usual_data)(ModelConfig&) = nullptr;  ///< sets the usual number of classes where no data does
};
const ArchitectureRow& row_of(Architecture architecture);

#define ARCHITECTURE(Name, name) extern const ArchitectureRow name##_architecture;
#include "chosen/architectures.def"
#undef ARCHITECTURE

std::vector<Architecture> architectures();
std::vector<std::string_view> architecture_names();
Architecture architecture_from(std::string_view name);  ///< throws Error listing the names

// Initialisation as data: the factor by which each rule multiplies each matrix of a sub-layer, and how initial values
// and steps scale with the size of a model (Transfer). The tape builder (model/transformer.cpp) reads them; the gain
// of the wiring (DeepNorm, Sub-LN) is applied on top.

/// The rules of `InitRule`:
/// Xavier: normal, variance 2/(fan_in+fan_out) (Glorot and Bengio 2010, as in Xiong et al. 2020, section 3.1).
/// Theory: Xavier with W_Q = W_K = 0 (Xiong et al. 2020, section 3.2).
/// Normal002: matrices N(0, 0.02^2) (BERT).
/// FixUp (Zhang et al. 2019) with B branches in the model: W_O = W_2 = 0, W_1 times B^(-1/2), W_Q, W_K, W_V B^(-1/6).
/// TFixup (Huang et al. 2020) with N layers: W_V, W_O, W_1, W_2 and the embeddings times 0.67 N^(-1/4) in an encoder,
/// (9N)^(-1/4) in a decoder.
/// LookLinear (Balduzzi et al. 2017): W_1 = [A, -A], W_2 = [B; -B]; feed-forward networks start as the linear map AB.
/// B2T (Takase et al. 2023, the authors' code) with L layers: every matrix of the layers times L^(-1/2).
/// Always: token table N(0,1/D) times sqrt(D), learned positions N(0,1), gains 1, biases 0.
enum class InitRule : uint8_t {
#define INIT_RULE(Name, text, gains) Name,
#include "engine/model/init_rules.def"
#undef INIT_RULE
};
inline constexpr std::string_view kInitRules[] = {
#define INIT_RULE(Name, text, gains) text,
#include "engine/model/init_rules.def"
#undef INIT_RULE
};

/// The gains by which a rule multiplies the matrices of a sub-layer in a stack.
struct InitGains {
  double query = 1, key = 1, value = 1, output = 1, first = 1, second = 1;  ///< W_Q W_K W_V W_O W_1 W_2
  double embedding = 1;   ///< token table and learned positions
  double deviation = 0;   ///< of every matrix; 0: Xavier's, by its shape
  bool mirrored = false;  ///< the second half of W_1's columns and W_2's rows is minus the first
};
InitGains init_gains(InitRule rule, const StackContext& context);

/// Transfers the best settings of a small model to a larger one. With `width` times the base's width and `depth` times
/// its layers, initial values and steps of Adam and related rules become
///                  branch        rate, layers          and matrices   epsilon
///   Mup            1             1                     1 / width      1 / width
///   DepthMup       depth^(-1/2)  depth^(-1/2)          1 / width      1 / width depth^(-1/2)
///   CompleteP      1 / depth     1                     1 / width      1 / width / depth
/// the weight decay of the layers' matrices is multiplied by width, and the last state is divided by it before the
/// output layer (Yang et al. 2021, arXiv 2203.03466; with depth Yang et al. 2023, arXiv 2310.02244; Dey et al. 2025,
/// arXiv 2505.01618, table 1, read in programs that cite it). Heads keep their width: 1 / sqrt(head width) stays.
enum class Transfer : uint8_t { None, Mup, DepthMup, CompleteP };
inline constexpr std::string_view kTransfers[] = {"none", "mup", "depth-mup", "completep"};

/// The ratio of a stack's size to the base's, as far as its transfer uses it, and the factors that follow.
struct Growth {
  double width = 1, depth = 1;
  double branch = 1;  ///< every branch is multiplied by it
  double rate = 1;    ///< of all parameters of the layers
  double eps = 1;
  double matrix_rate() const { return rate / width; }
};
Growth growth_of(Transfer transfer, double width, double depth);

/// How a model encodes positions: by vectors added to the symbols, or in its attention, by add-ons with a row
/// POSITIONS(Enumerator, .name = "in files", ...) of positions.def.
enum class Positions : uint8_t {
  Learned,
  Sinusoidal,
  None,
#define POSITIONS(Name, ...) Name,
#include "chosen/positions.def"
#undef POSITIONS
};
struct PositionsRow {
  std::string_view name;
  std::string_view said = "";  ///< in a run's name and in the diagram
  bool own_scores = false;     ///< attention has other scores than products of queries and keys
  bool alibi = false;          ///< of a decoder: AttentionSpec::alibi
};
inline constexpr PositionsRow kPositions[] = {
    {"learned"},
    {"sinusoidal"},
    {"none"},
#define POSITIONS(Name, ...) {__VA_ARGS__},
#include "chosen/positions.def"
#undef POSITIONS
};
constexpr const PositionsRow& row_of(Positions p) { return kPositions[static_cast<size_t>(p)]; }
constexpr bool are_in_attention(Positions p) { return p > Positions::None; }
/// Which matrices of the layers have a bias: Qkv is W_Q, W_K, W_V (Qwen 2), FeedForward W_1, W_2 (GPT-J), Attention
/// W_Q, W_K, W_V, W_O, ButQkv W_O, W_1, W_2 (GPT-Neo).
enum class Biases : uint8_t { All, Qkv, FeedForward, None, Attention, ButQkv };
inline constexpr std::string_view kBiases[] = {"every", "qkv", "ffn", "none", "attention", "but-qkv"};
/// The settings of attention, in addition to the number of heads.
struct AttentionConfig {
  int32_t head_width = 0;  ///< 0: d_model / heads
  /// Heads of keys and values, each read by an equal group of heads of queries (Ainslie et al. 2023); 0: heads.
  int32_t kv_heads = 0;
  int32_t window = 0;  ///< AttentionSpec::window; the encoder of an encoder-decoder has none
  /// A letter for each layer, repeated: "w" has the window, "f" sees all keys; empty: all layers have the window.
  std::string pattern = {};
  float scale = 0;  ///< of the scores; 0: 1 / sqrt(head width)
  float cap = 0;    ///< c: scores become c tanh(score / c) (Gemma 2); 0: no cap
  /// Of self-attention: the share of its heads in what W_O reads, where the rest is the token's own values; 1: no rest.
  float mixing = 1;
  float start = 1;  ///< of self-attention: a factor on the first values of W_O, on top of all others
  bool operator==(const AttentionConfig&) const = default;
};
/// The input of a classifier's head: the state of the first position (BERT's [CLS]) or the mean over
/// all unpadded positions.
enum class Pooling : uint8_t { First, Mean };

struct ModelConfig {
  Architecture architecture = Architecture::Decoder;
  int32_t encoder_layers = 0;  ///< encoder-decoder: 0 = as many as the decoder's `layers`
  int32_t layers = 6, d_model = 64, heads = 4, feed_forward = 256;
  int32_t sequence = 64;  ///< T: positions of the training batches
  /// M: attention also reads the states of each layer's input at this many positions before the segment, without a
  /// gradient. Only with positions that reach back so far; 0: none.
  int32_t memory = 0;
  int32_t vocabulary = 0;  ///< V: comes from the data
  /// Encoder: logits (B,T,classes) from a head of its own instead of symbols; 0 = none. For networks
  /// other than transformers: the number of classes.
  int32_t classes = 0;
  AttentionConfig attention;
  Pooling pooling = Pooling::First;  ///< with classes only
  Activation activation = Activation::Relu;
  bool gated = false;  ///< feed-forward: W_2 (act(W_g x) * (W_1 x)), a third matrix (Shazeer 2020)
  Biases biases = Biases::All;
  Positions positions = Positions::Learned;
  float embedding_scale = 0;  ///< of the token rows; 0: sqrt(d_model)
  /// E: width of the token table. A matrix (E,D) widens its rows, and a matrix (D,E) narrows states before the output
  /// layer (OPT-350m); 0: d_model, and no matrices.
  int32_t embedding_width = 0;
  /// Rows of a table of segment types, which an input "types" (B,T) gives for each symbol (BERT); 0: none.
  int32_t token_types = 0;
  float logit_scale = 1;    ///< of the logits, before their cap (Granite)
  float logit_cap = 0;      ///< c: logits become c tanh(logit / c) (Gemma 2); 0: no cap
  bool tied_output = true;  ///< logits = h E^T; otherwise out.w (D,V), no bias
  bool output_bias =
      false;  ///< a bias for each symbol in the output layer (GPT-J); BERT's head always has it
  /// Encoder: before the output layer a matrix, the activation and a norm, and a bias for each symbol (BERT's head).
  bool masked_head = false;
  /// Encoder-decoder: both stacks read one token table and one table of positions; otherwise enc.emb.* and dec.emb.*,
  /// and a tied output is the decoder's.
  bool shared_embedding = true;
  bool output_projection = true;  ///< W_O of attention; the theory setting has none
  bool gaussian_input = false;  ///< theory setting: x_0 is a batch input "x" (B,T,D) instead of the embedding
  InitRule init = InitRule::Xavier;
  float init_scale =
      1;  ///< transformer: factor of the initial values of the sub-layers' matrices, on top of the rule's gains
  Transfer transfer = Transfer::None;
  int32_t base_width = 64, base_layers = 6;  ///< d_model and layers of the model that `transfer` starts from
  NormKind norm = NormKind::LayerNorm;       ///< the kind that presets fill in
  float eps = 1e-5f;
  bool gain_offset = false;  ///< a norm's gain is stored minus 1, so it starts at 0 (Gemma)
  float adanorm_scale = 1.0f, adanorm_slope = 0.1f;  ///< AdaNorm's C and k (Xu et al. 2019)
  float dyt_alpha = 0.5f;                            ///< initial alpha of DyT and Derf
  float dropout_residual = 0, dropout_attention = 0, dropout_activation = 0;
  StackWiring encoder, decoder;  ///< only the stacks that the architecture has are read
  AddedSettings added;

  /// An add-on's own settings of the model: `config.of<ImageConfig>()`.
  template <typename T>
  const T& of() const {
    return added.of<T>();
  }
  template <typename T>
  T& of() {
    return added.of<T>();
  }
  /// The only stack of a single-stack architecture; the decoder of an encoder-decoder.
  StackWiring& stack() { return architecture == Architecture::Encoder ? encoder : decoder; }
  const StackWiring& stack() const { return architecture == Architecture::Encoder ? encoder : decoder; }
};

inline constexpr int32_t kMaxMemory = 4096;

/// The values that a zero in AttentionConfig means.
int32_t head_width(const ModelConfig& config);
int32_t kv_heads(const ModelConfig& config);
/// Whether the model has an encoder and a decoder.
inline bool has_both(const ModelConfig& config) {
  return config.architecture == Architecture::EncoderDecoder;
}
/// Whether both have the same stacks, wired alike.
bool same_wiring(const ModelConfig& a, const ModelConfig& b);
/// Whether x_0 is sqrt(D) E[token] + P[t] and nothing else.
bool has_plain_embedding(const ModelConfig& config);
/// Whether the attention of a layer, from 1, has the window.
bool has_window(const ModelConfig& config, int32_t layer);
StackContext context_of(const ModelConfig& config, bool decoder);
/// The number of attentions of all layers together.
int64_t attentions_of(const ModelConfig& config);
/// The ratio of a stack's size to the transfer's base, and its factors.
Growth growth_of(const ModelConfig& config, bool decoder);
/// Fills both stacks with a preset at the config's depth and norm kind.
void set_placement(ModelConfig& config, Placement placement);
/// Throws Error for an impossible combination (width not a multiple of heads, no layers, wiring of another depth ...).
void validate(const ModelConfig& config);
/// Parts of `validate` for networks with layers of the same sizes: the sizes, and the wiring of a stack.
void check_sizes(const ModelConfig& config);
void check_stack(const char* what, const ModelConfig& config, const StackWiring& stack, int32_t layers);
/// Estimates a training program's bytes: parameters, moments, activations and gradients for a batch.
int64_t estimated_bytes(const ModelConfig& config, int32_t batch);
/// The FLOP of a training step, for a transformer with attention counted dense:
///   6 (L (4 d^2 + 2 d f) + d V) B T + 12 L B T^2 d
/// An encoder-decoder sums both stacks; a decoder layer has a second attention (4 d^2 and 12 B T^2 d more). With
/// relative positions over a memory M, attention takes 18 L B T (T+M) d in place of 12 L B T^2 d, and keys and values
/// of the memory take 8 L B M d^2 (their inputs have no gradient).
/// Heads of another width or number take their own widths in place of d; a gated network takes 3 d f in place of 2 d f.
double step_flop(const ModelConfig& config, int32_t batch);

}  // namespace normscope

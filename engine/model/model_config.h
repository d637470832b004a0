// `ModelConfig` is what a model is: sizes, wiring, norm, initialisation. It holds everything structural of a run's
// network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/model/init_rule.h"
#include "engine/model/wiring.h"

namespace normscope {

/// `Architecture`: two are no transformers, the network of model/convolutions.h and the transition classifier of
/// model/parser.h.
enum class Architecture : uint8_t { Decoder, Encoder, EncoderDecoder, Convolutional, Parser };
inline bool is_transformer(Architecture a) {
  return a != Architecture::Convolutional && a != Architecture::Parser;
}
/// `ImageConfig` is read by the convolutional network only: see convolutions.h.
struct ImageConfig {
  int32_t channels = 20, channels_2 = 50;  ///< outputs of the convolutions (Xu et al. 2019)
  int32_t window = 5;                      ///< height and width of their windows
  int32_t height = 0, width = 0;           ///< of the images, from the data
};
/// `Activation` has the activations of ops/activations/activations.def.
enum class Activation : uint8_t {
#define ACTIVATION(Name, op) Name,
#include "engine/ops/activations/activations.def"
#undef ACTIVATION
};
inline constexpr std::string_view kActivations[] = {
#define ACTIVATION(Name, op) #op,
#include "engine/ops/activations/activations.def"
#undef ACTIVATION
};
/// `Positions`. Relative: nothing is added to the symbols; attention compares queries with the distance of each key
/// (Transformer-XL, Dai et al. 2019).
enum class Positions : uint8_t { Learned, Sinusoidal, None, Relative };
/// `Pooling` is what the head of a classifier reads: the state of the first position (BERT's [CLS]) or the mean over
/// all unpadded positions.
enum class Pooling : uint8_t { First, Mean };

struct ModelConfig {
  Architecture architecture = Architecture::Decoder;
  int32_t encoder_layers = 0;  ///< encoder-decoder: 0 = as many as the decoder's `layers`
  int32_t layers = 6, d_model = 64, heads = 4, feed_forward = 256;
  int32_t sequence = 64;  ///< T: positions of the training batches
  /// M: attention looks back at the states of each layer's input at this many positions before the segment; no
  /// gradient goes there. Decoder with relative positions only; 0: none.
  int32_t memory = 0;
  int32_t vocabulary = 0;  ///< V: comes from the data
  /// Encoder: logits (B,T,classes) from a head of its own instead of symbols; 0 = none. Convolutional network:
  /// classes of the images. Parser: transitions.
  int32_t classes = 0;
  ImageConfig images;                ///< convolutional network
  Pooling pooling = Pooling::First;  ///< with classes only
  Activation activation = Activation::Relu;
  Positions positions = Positions::Learned;
  bool tied_output = true;  ///< logits = h E^T; otherwise out.w (D,V), no bias
  /// Encoder-decoder: both stacks read one token table and one table of positions; otherwise enc.emb.* and dec.emb.*,
  /// and a tied output is the decoder's.
  bool shared_embedding = true;
  bool output_projection = true;  ///< W_O of attention; the theory setting has none
  bool gaussian_input = false;  ///< theory setting: x_0 is a batch input "x" (B,T,D) instead of the embedding
  InitRule init = InitRule::Xavier;
  NormKind norm = NormKind::LayerNorm;  ///< the kind that presets fill in
  float eps = 1e-5f;
  float adanorm_scale = 1.0f, adanorm_slope = 0.1f;  ///< AdaNorm's C and k (Xu et al. 2019)
  float dyt_alpha = 0.5f;                            ///< where DyT's learned alpha starts (Zhu et al. 2025)
  float dropout_residual = 0, dropout_attention = 0, dropout_activation = 0;
  StackWiring encoder, decoder;  ///< only the stacks that the architecture has are read

  /// The stack that carries the language model of a single-stack architecture.
  StackWiring& stack() { return architecture == Architecture::Encoder ? encoder : decoder; }
  const StackWiring& stack() const { return architecture == Architecture::Encoder ? encoder : decoder; }
};

inline constexpr int32_t kMostMemory = 4096;

StackContext context_of(const ModelConfig& config, bool decoder);
/// `set_placement` fills both stacks with a preset at the config's depth and norm kind.
void set_placement(ModelConfig& config, Placement placement);
/// `validate` throws Error for an impossible combination (width not a multiple of heads, no layers, wiring of another
/// depth ...).
void validate(const ModelConfig& config);
/// `estimated_bytes` is roughly a training program's bytes: parameters, moments, activations and gradients for a batch.
int64_t estimated_bytes(const ModelConfig& config, int32_t batch);
/// `step_flop` is the arithmetic of a training step, with attention counted dense:
///   6 (L (4 d^2 + 2 d f) + d V) B T + 12 L B T^2 d
/// An encoder-decoder sums both stacks; a decoder layer has a second attention (4 d^2 and 12 B T^2 d more). With
/// relative positions over a memory M, attention takes 18 L B T (T+M) d in place of 12 L B T^2 d, and keys and values
/// of the memory take 8 L B M d^2 (their inputs have no gradient). A parser takes
///   6 B (T d f + (L-1) f^2 + f classes)
double step_flop(const ModelConfig& config, int32_t batch);

}  // namespace normscope

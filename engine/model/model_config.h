// What a model is: sizes, wiring, norm, initialisation. Everything structural of a run's network in one
// value.
#pragma once

#include <cstdint>
#include <string>

#include "model/wiring.h"

namespace normscope {

enum class Architecture : uint8_t { Decoder, Encoder, EncoderDecoder };
enum class Activation : uint8_t { Relu, Gelu };
/// Xavier: normal, variance 2/(fan_in+fan_out) (Glorot and Bengio 2010, as in Xiong et al. 2020,
/// section 3.1). Theory: Xavier with W_Q = W_K = 0 (Xiong et al. 2020, section 3.2). Normal002: matrices N(0,
/// 0.02^2) (BERT). Always: token table N(0,1/D) times sqrt(D), learned positions N(0,1), gains 1, biases 0.
enum class InitRule : uint8_t { Xavier, Theory, Normal002 };
enum class Positions : uint8_t { Learned, Sinusoidal, None };

struct ModelConfig {
  Architecture architecture = Architecture::Decoder;
  int32_t encoder_layers = 0;  ///< encoder-decoder: 0 = as many as the decoder's `layers`
  int32_t layers = 6, width = 64, heads = 4, feed_forward = 256;
  int32_t sequence = 64;   ///< T: positions of the training batches
  int32_t vocabulary = 0;  ///< V: comes from the data
  int32_t classes = 0;  ///< encoder: logits (B,T,classes) from a head of its own instead of symbols; 0 = none
  Activation activation = Activation::Relu;
  Positions positions = Positions::Learned;
  bool tied_output = true;        ///< logits = h E^T; otherwise out.w (D,V), no bias
  bool output_projection = true;  ///< W_O of attention; the theory setting has none
  bool gaussian_input = false;  ///< theory setting: x_0 is a batch input "x" (B,T,D) instead of the embedding
  InitRule init = InitRule::Xavier;
  NormKind norm = NormKind::LayerNorm;  ///< the kind that presets fill in
  float eps = 1e-5f;
  float dropout_residual = 0, dropout_attention = 0, dropout_activation = 0;
  StackWiring encoder, decoder;  ///< only the stacks that the architecture has are read

  /// The stack that carries the language model of a single-stack architecture.
  StackWiring& stack() { return architecture == Architecture::Encoder ? encoder : decoder; }
  const StackWiring& stack() const { return architecture == Architecture::Encoder ? encoder : decoder; }
};

StackContext context_of(const ModelConfig& config, bool decoder);
/// Fills both stacks with a preset at the config's depth and norm kind.
void set_placement(ModelConfig& config, Placement placement);
/// Throws Error for an impossible combination (width not a multiple of heads, no layers, wiring of another
/// depth ...).
void validate(const ModelConfig& config);
/// Rough bytes of a training program: parameters, moments, activations and gradients for a batch.
int64_t estimated_bytes(const ModelConfig& config, int32_t batch);
/// Arithmetic of a training step: 6(L(4d^2 + 2df) + dV)BT + 12 L B T^2 d, attention counted dense; in an
/// encoder-decoder summed over both towers, a decoder layer with a second attention (4d^2 and 12 B T^2 d
/// more).
double step_flop(const ModelConfig& config, int32_t batch);

}  // namespace normscope

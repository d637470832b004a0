// Records a transformer from a ModelConfig: the architecture as you would read it in a paper.
// Parameter names: emb.tokens, emb.positions, L03.attn.{wq,wk,wv,wo,bq,bk,bv,bo}, L03.ffn.{w1,b1,w2,b2}; with relative
// positions L03.attn.{wr,content_bias,position_bias} (W_R, u, v) and the table of distances; norms
// L03.attn.{enter,before,q_norm,k_norm,v_norm,output,after,stream}.{gain,bias}, L03.ffn.{hidden_norm,gate_norm}
// (SimpleNorm), with .alpha for DyT and Derf and .shift for Derf; scales L03.attn.{skip,branch,head_scale}; nGPT's
// scales L03.attn.qk_scale, L03.ffn.{hidden_scale,gate_scale}, out.scale; FixUp's shifts
// L03.ffn.{shift_in,shift_hidden,shift_out}.b, end.scale, end.shift; final.{gain,bias}, second.{gain,bias} (ResiDual),
// joined.{gain,bias} and L03.attn.second_read.{gain,bias} (SiameseNorm), out.w; several streams
// L03.attn.{read,carry,write}, computed ones with .w and .gate, or .query, and L03.attn.seen.{gain,bias}. A gated
// network has L03.ffn.wg; rotary positions have the tables rotary and rotary.local; token types emb.types, a narrow
// table emb.{in,b}, emb.out; BERT's head has head.{w,b}, head.norm.{gain,bias}, out.b. An encoder-decoder prefixes its
// stacks: enc.L03.attn.wq, dec.L03.cross.wq, dec.final.gain; emb.* is shared, or enc.emb.* and dec.emb.*.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/tape/store.h"
#include "engine/tape/tape.h"

namespace normscope {

/// The values of one sub-layer for probes, diagram and tests.
struct SublayerValues {
  std::string name;         ///< "L03.attn"
  int32_t layer = 0;        ///< 1-based
  ValueId input = kNone;    ///< x
  ValueId entered = kNone;  ///< h: x, or after the norm where the sub-layer begins
  ValueId branch = kNone;   ///< added to the skip: after N_after, before the branch scale
  ValueId joined = kNone;   ///< skip h + branch f
  ValueId bottom = kNone;   ///< B2T: the layer's input, which joins the sum
  ValueId sum = kNone;      ///< input of the norm on the stream: joined, with bottom if any
  ValueId output = kNone;   ///< y; equals sum without a norm on the stream
  ValueId factor = kNone;   ///< of the sum, or of the skip before a norm on the stream (ResidualRow::factor)
  ValueId second = kNone;   ///< ResiDual: the second stream after it
  ValueId probabilities = kNone;  ///< attention only
  /// Several streams: all streams after the sub-layer (B,T,n,D), and three sets of weights, (n,m) for all positions or
  /// for each: `write` of its branch, `carry` of the streams, `read` of the next sub-layer.
  ValueId streams = kNone, write = kNone, carry = kNone, read = kNone;
};

/// The memory of a layer: the batch input that holds it, and the value whose last positions are the next memory.
struct LayerMemory {
  std::string name;        ///< "L03.memory"
  ValueId input = kNone;   ///< (B,M,D), no gradient
  ValueId states = kNone;  ///< (B,T,D): the layer's input
};

struct ModelValues {
  ValueId tokens = kNone, targets = kNone;
  ValueId source = kNone, encoded = kNone;  ///< encoder-decoder: the source tokens and the encoder's output
  ValueId embedding = kNone;                ///< x_0 (in an encoder-decoder, the decoder's)
  ValueId hidden = kNone;                   ///< input of the output projection, after the final norm
  ValueId logits = kNone;                   ///< kNone where only a part of the model was recorded
  ValueId loss = kNone;
  std::vector<SublayerValues> sublayers;
  std::vector<LayerMemory> memories;  ///< RecordOptions::memory > 0: one for each layer
};

struct RecordOptions {
  int32_t batch = 16, sequence = 64;
  int32_t source_sequence = 0;  ///< encoder-decoder: positions of the source
  /// An input "key_lengths" (B): the encoder's keys at and beyond it are masked, and probes leave these positions out.
  /// An encoder-decoder with probes also has "target_lengths" (B), for the decoder's probes.
  bool key_lengths = false;
  /// Positions of the memory, at most the config's: inputs "L01.memory" (B,M,D) and "memory_lengths" (B), how many of
  /// its last positions count. 0: a segment without memory.
  int32_t memory = 0;
  bool training = true;      ///< dropout nodes are recorded only when training and p > 0
  bool row_weights = false;  ///< an input "weights" (B*T): a weight per row of the loss
  bool probes = true;        ///< mean square of every sub-layer output (and branch)
  /// Sub-layers ("L03.attn") and layers ("L03") that pass their input on unchanged, without their norms.
  std::vector<std::string> left_out = {};
  AddedSettings added = {};  ///< of add-ons, for a step of training
};

/// Declares the parameters in the tape's Store and records embedding, layers, output and loss.
/// Inputs of the batch: "tokens" (B,T), "targets" (B,T; -1 ignored), "source" (B,Ts) of an encoder-decoder, "weights"
/// and "key_lengths" on request; "x" (B,T,D) instead of "tokens" for a Gaussian input.
ModelValues record_transformer(Tape& tape, const ModelConfig& config, const RecordOptions& options);

/// These record parts of an encoder-decoder for decoding, over the Store of a model that was recorded before: the
/// encoder alone (`encoded`; inputs "source", "key_lengths"), and the decoder up to `hidden` from an input "encoded"
/// (B,Ts,D) ("tokens", "key_lengths"). No dropout, no probes, no loss.
ModelValues record_encoder(Tape& tape, const ModelConfig& config, const RecordOptions& options);
ModelValues record_decoder(Tape& tape, const ModelConfig& config, const RecordOptions& options);

/// Records the end of a model of one stack, over the Store of a model that was recorded before: the final norm, the
/// output layer, the loss. It reads the state of any layer from an input "state" (B,T,D), and ResiDual's second stream
/// from "state.second" ("targets"; "key_lengths" on request).
ModelValues record_end(Tape& tape, const ModelConfig& config, const RecordOptions& options);

/// Records the output layer alone, from `hidden` (..,D), over the Store of a model that was recorded.
ValueId record_logits(Tape& tape, const ModelConfig& config, ValueId hidden);

/// The parameter of the output layer for symbols: "out.w", "emb.tokens", "dec.emb.tokens".
std::string output_table(const ModelConfig& config);

/// Admin's profiling pass (Liu et al. 2020; norm-science A.8): forward passes over one batch set the skip vectors
/// whose wiring has a Scale::Profile. omega_1 = 1; then
///   Sequential, the authors' code:  omega_{i+1}^2 = Var(omega_i x_{i-1}) + Var(a_i), each omega already in force;
///   AtOnce, the paper:              omega_i^2 = sum of Var(a_j), j < i, taken while all omega = 1.
/// Encoder and decoder have a chain each; padding does not count. The constants are written into the Store's
/// L??.*.skip vectors, and the omegas returned in order. `tokens` is one batch (B,T) row-major.
std::vector<double> profile_admin(Store& store, const ModelConfig& config, std::span<const int32_t> tokens,
                                  int32_t batch, int32_t sequence);
/// The inputs of the profiling batch in the shapes of RecordOptions, for any transformer.
struct ProfileInputs {
  std::span<const int32_t> tokens, source, key_lengths, target_lengths;
  std::span<const int32_t> types = {};  ///< empty: all symbols are of the first type
};
std::vector<double> profile_admin(Store& store, const ModelConfig& config, const RecordOptions& options,
                                  const ProfileInputs& inputs);
/// The wiring of a sub-layer by its name: "L03.attn", "enc.L03.ffn", "dec.L01.cross".
const Wiring& wiring_of(const ModelConfig& config, const SublayerValues& sublayer);

// Records any model of a ModelConfig: code that trains, validates or measures a run need not know its architecture.

inline ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return row_of(config.architecture).record(tape, config, options);
}

}  // namespace normscope

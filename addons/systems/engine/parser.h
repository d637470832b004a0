// Records the parser of Xu et al. (2019, section 2.2), an MLP over the features of Chen and Manning (2014): it
// classifies a row of 48 features by the next transition (training/dependency_parser.h).
//
//   x = E[f_1] | ... | E[f_T]                       the rows of the features, joined: (B, T d)
//   x = drop( act( N_l( x W_l + b_l ) ) )           for each hidden layer l, width F
//   logits = x W + b                                 (B, classes)
//
// T is model.sequence, d model.d_model, F model.feed_forward, the number of hidden layers model.layers. N_l is the
// norm before layer l's feed-forward network (model.placement pre, or none), act model.activation and drop
// model.dropout_activation. Chen and Manning have one hidden layer of cubes; the norm before the activation is Xu et
// al.'s. Parameters: emb.tokens, L01.hidden.{w,b}, L01.hidden.norm.{gain,bias}, class.{w,b}.
#pragma once

#include "engine/model/transformer.h"

namespace normscope {

/// Stops at the logits, for parsing: only input "tokens" (rows,T), no dropout.
ValueId record_transition_logits(Tape& tape, const ModelConfig& config, int32_t rows);

}  // namespace normscope

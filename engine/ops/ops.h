// The API of the engine: what can be recorded on a tape. Each function checks shapes, appends one node and
// returns its output value; nothing is computed.
//
// An op is four files: NAME.h (its structural constants and the function that records it), NAME.cpp (shape rule and
// what it saves), NAME_cpu.cpp and NAME.cu (forward and backward). They stand in ops/NAME/, or in the folder
// of a family (attention/, images/). The activations share their four files, and so do the ops of the update. Adding an
// op also touches this page, ops.def and tests/engine/support/op_cases.cpp.
#pragma once

#include "engine/ops/activations/activations.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/relative_attention.h"
#include "engine/ops/concat/concat.h"
#include "engine/ops/dropout/dropout.h"
#include "engine/ops/embedding/embedding.h"
#include "engine/ops/images/conv2d.h"
#include "engine/ops/images/max_pool.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/mean_pool/mean_pool.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/softmax_xent/softmax_xent.h"

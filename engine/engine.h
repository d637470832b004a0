// The one include of a user: tape, store, seal, the ops of a network, the CPU backend.
#pragma once

#include "engine/cpu/backend_cpu.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/dropout/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/embedding/embedding.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/softmax_xent/softmax_xent.h"
#include "engine/ops/update/update.h"
#include "engine/tape/program.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

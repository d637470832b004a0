// The one include of a user: tape, store, seal, the ops of a network, the CPU backend, save and load. check_op.h checks
// an op, own_op.h adds one.
#pragma once

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/io/weights.h"
#include "engine/ops/ops.h"
#include "engine/tape/program.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

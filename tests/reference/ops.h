// The plain ops of engine/ops/reference.h with the dual numbers that prove their hand-written backward.
#pragma once

#include "engine/ops/reference.h"
#include "engine/ops/reference_images.h"
#include "reference/dual.h"

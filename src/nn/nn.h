// All that a model file is made of: layers with weights, and the ops between them.
#pragma once

#include "nn/linear.h"        // IWYU pragma: export
#include "nn/norm.h"          // IWYU pragma: export
#include "nn/rope.h"          // IWYU pragma: export
#include "nn/stack.h"         // IWYU pragma: export
#include "ops/attention.h"    // IWYU pragma: export
#include "ops/elementwise.h"  // IWYU pragma: export
#include "ops/index.h"        // IWYU pragma: export
#include "ops/linear.h"       // IWYU pragma: export
#include "ops/norm.h"         // IWYU pragma: export
#include "ops/rope.h"         // IWYU pragma: export

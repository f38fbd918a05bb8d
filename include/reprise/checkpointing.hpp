// Checkpoints by layer, for custom training systems; docs/checkpointing.md is the guide.
#pragma once
#include <reprise/checkpointing/accumulator.hpp>
#include <reprise/checkpointing/config.hpp>
#include <reprise/checkpointing/context.hpp>
#include <reprise/checkpointing/function.hpp>
#include <reprise/checkpointing/hooks.hpp>
#include <reprise/checkpointing/manager.hpp>
#include <reprise/checkpointing/recomputation.hpp>
#include <reprise/memory.hpp>

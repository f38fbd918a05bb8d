// Training on several devices and machines: worlds, collectives and data parallelism (docs/distributed.md).
#pragma once
#include <reprise/distributed/checkpoint.hpp>
#include <reprise/distributed/collectives.hpp>
#include <reprise/distributed/data_parallel.hpp>
#include <reprise/distributed/device_group.hpp>
#include <reprise/distributed/nccl.hpp>
#include <reprise/distributed/sync_batch_norm.hpp>
#include <reprise/distributed/world.hpp>
#include <reprise/distributed/zero_redundancy.hpp>

// Training on several devices and machines: worlds, collectives and data parallelism (docs/distributed.md).
#pragma once
#include <reprise/distributed/collectives.hpp>
#include <reprise/distributed/data_parallel.hpp>
#include <reprise/distributed/world.hpp>

#include <reprise/checkpointing/config.hpp>

#include "checkpointing/checks.hpp"

namespace reprise::checkpointing {

void check(const char* op, const CheckpointConfig& c)
{
    using Strategy = CheckpointConfig::Strategy;
    if (c.strategy == Strategy::every_kth && c.every < 1)
        detail::fail(ErrorKind::argument, op, "By the strategy every_kth a layer in (", c.every,
                     ") is a checkpoint: set every to 1 or more.");
    if (c.strategy == Strategy::by_budget && c.bytes < 1)
        detail::fail(ErrorKind::argument, op, "By the strategy by_budget the layers may keep (", c.bytes,
                     ") bytes: set bytes to more than 0, or take the strategy all.");
}

} // namespace reprise::checkpointing

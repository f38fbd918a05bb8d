// Small networks as stacks of blocks, and the ways in which they are trained.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/nn.hpp>

#include "testing/values.hpp"

namespace reprise::test {

using Blocks = std::vector<std::shared_ptr<nn::Module>>;

struct Stack {
    std::string name;
    Shape example; // without the batch
    std::function<Blocks()> blocks;
};
// An MLP, a CNN with dropout, a residual CNN with batch norm, and a GPT of eight blocks with dropout.
const std::vector<Stack>& stacks();

using Forward = std::function<Tensor(const Blocks&, Tensor)>;
Tensor plain(const Blocks& blocks, Tensor x); // applies the blocks in order

enum class How { eager, eager_in_steps, recorded, recorded_unfused };

// Returns the bits of all gradients (of parameters and input), the loss and the buffers, for batch sizes 3 and 1.
std::vector<Bits> train(const Stack&, const Forward&, How);

// Test parameters and test names for each stack with each of `ways`, whose elements have a member `name`.
template <class Ways> auto each_with(const Ways& ways)
{
    return testing::Combine(testing::Range<std::size_t>(0, stacks().size()),
                            testing::Range<std::size_t>(0, ways.size()));
}
using StackAndWay = std::tuple<std::size_t, std::size_t>;
template <class Ways> auto named_with(const Ways& ways)
{
    return [&ways](const testing::TestParamInfo<StackAndWay>& test) {
        const auto& [stack, way] = test.param;
        return stacks()[stack].name + "_" + ways[way].name;
    };
}

} // namespace reprise::test

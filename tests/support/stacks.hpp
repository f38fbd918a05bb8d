// Small networks as stacks of blocks.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/nn.hpp>

namespace reprise::test {

struct Stack {
    std::string name;
    Shape example; // without the batch
    std::function<std::vector<std::shared_ptr<nn::Module>>()> blocks;
};
// An MLP, a CNN with dropout, a residual one with batch norm, and a GPT of eight blocks with dropout.
const std::vector<Stack>& stacks();

Tensor plain(const std::vector<std::shared_ptr<nn::Module>>& blocks, Tensor x); // one after the other

} // namespace reprise::test

// A wrong VJP.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "graph/notes.hpp"

namespace reprise::test {

// While one lives, the cotangent that the VJP of `op` gives for an input is replaced in backward passes of this thread.  A
// gradient check that passes with it has checked nothing.
class VjpMutation final : graph::Scope {
public:
    using Change = std::function<Tensor(std::size_t input, const Tensor& cotangent)>;
    VjpMutation(const graph::Op& op, Change change) : op_(op), change_(std::move(change)) {}

private:
    void differentiated(const graph::Node& n, std::vector<Tensor>& cotangents) override
    {
        for (std::size_t i = 0; n.op == &op_ && i < cotangents.size(); ++i)
            if (cotangents[i].defined()) cotangents[i] = change_(i, cotangents[i]);
    }

    const graph::Op& op_;
    Change change_;
};

} // namespace reprise::test

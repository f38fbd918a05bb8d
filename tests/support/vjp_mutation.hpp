// Makes a VJP wrong on purpose.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "graph/notes.hpp"

namespace reprise::test {

// While it exists, the cotangents that the VJP of `op` returns for its inputs are replaced in backward passes of this
// thread.  A gradient check that still passes is useless.  It does not reach passes inside of a VJP (decompositions),
// and jacobian() computes row by row while it exists.
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

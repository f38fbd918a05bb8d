// What following PyTorch is worth: with any one VJP of the tape wrong, the gradients leave their tolerance.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "follow/follow.hpp"
#include "graph/cell.hpp"
#include "support/vjp_mutation.hpp"

namespace reprise::follow {
namespace {

struct Vjp { // of an op, by one of its inputs
    const graph::Op* op;
    std::size_t input;
    bool operator<(const Vjp& v) const { return std::tie(op, input) < std::tie(v.op, v.input); }
};

std::set<Vjp> tape(const Tensor& output)
{
    std::set<Vjp> found;
    std::set<const graph::Node*> seen;
    std::vector<const graph::Node*> stack{graph::read(output).node.get()};
    while (!stack.empty()) {
        const graph::Node* n = stack.back();
        stack.pop_back();
        if (n->is_leaf || !seen.insert(n).second) continue;
        for (std::size_t i = 0; i < n->inputs.size(); ++i) {
            if (!n->inputs[i].node->requires_grad) continue;
            found.insert({n->op, i});
            stack.push_back(n->inputs[i].node.get());
        }
    }
    return found;
}

TEST(FollowsPyTorch, NoticesAnyWrongVjp)
{
    const Fixture fixture;
    Cnn net;
    const auto [x, y] = fixture.batch(0);
    const auto loss = [&, x = x, y = y] { return cross_entropy(net(x), y); };
    const auto difference = [&] {
        net.zero_grad();
        loss().backward();
        return fixture.gradients("cnn", net).worst();
    };
    const double right = difference();
    ASSERT_LE(right, gradient_tolerance);
    std::set<std::string> ops;
    for (const Vjp& vjp : tape(loss())) {
        ops.insert(vjp.op->name);
        for (const double factor : {7.0, -1.0, 0.0}) {
            const test::VjpMutation spoil(*vjp.op, [&](std::size_t input, const Tensor& cotangent) {
                return input == vjp.input ? cotangent * factor : cotangent;
            });
            EXPECT_GT(difference(), 1000 * gradient_tolerance)
                << vjp.op->name << " by input " << vjp.input << ", times " << factor;
        }
    }
    for (const char* op : {"nll", "convolution"}) // the tape's ends
        EXPECT_TRUE(ops.contains(op)) << op << " is not on the tape";
    EXPECT_EQ(difference(), right);
}

} // namespace
} // namespace reprise::follow

#include "plan/host_function.hpp"

#include <span>
#include <utility>

#include "ops/reference.hpp"

namespace reprise::plan {

namespace {

void run_reference(const graph::Op& op, const graph::Attributes& attributes,
                   const std::vector<HostOperand>& operands, std::size_t inputs,
                   const device::LaunchArguments& a)
{
    std::vector<ops::HostTensor> tensors;
    const std::int32_t* ints = a.ints.data();
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t rank = operands[i].rank;
        tensors.push_back({operands[i].dtype,
                           reinterpret_cast<std::byte*>(a.operands[i].address),
                           {ints, ints + rank},
                           {ints + rank, ints + 2 * rank}});
        ints += 2 * rank;
    }
    std::vector<std::int64_t> dims;
    for (; ints < a.ints.data() + a.ints.size(); ints += 2)
        dims.push_back(std::int64_t{ints[1]} << 32 | static_cast<std::uint32_t>(ints[0]));
    const std::span<const ops::HostTensor> all(tensors);
    op.reference({all.first(inputs), all.subspan(inputs), attributes, a.floats, dims, &op});
}

} // namespace

std::shared_ptr<const device::HostFunction> host_function(const graph::Op& op,
                                                          const graph::Attributes& attributes,
                                                          std::vector<HostOperand> operands,
                                                          std::size_t inputs)
{
    return std::make_shared<const device::HostFunction>(
        [&op, attributes, operands = std::move(operands), inputs](const device::LaunchArguments& a) {
            run_reference(op, attributes, operands, inputs, a);
        });
}

} // namespace reprise::plan

// Runs a kernel of these tests on a simulated GPU.
#pragma once
#include <string>
#include <vector>

#include "simulator/device.hpp"

namespace reprise::test {

using Floats = std::vector<float>;

struct Run {
    std::string name;
    std::vector<std::uint32_t> code, constants;
    std::vector<std::int32_t> ints;
    Floats x;                // the first operand, which is read
    std::size_t results = 0; // floats of the second one, which is written
    std::uint64_t groups = 1;
    device::Access access_of_result = device::Access::write;
};

Floats run(simulator::Simulator&, const Run&);

} // namespace reprise::test

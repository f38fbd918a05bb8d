#include "ops/record.hpp"

namespace reprise::ops::records {

LaunchSpec filled(LaunchSpec spec, const char* kernel, std::vector<LaunchOperand> operands,
                  std::vector<Scalar> floats, DimVector ints, std::initializer_list<const DimVector*> lists)
{
    if (spec.kernel.empty()) spec.kernel = kernel;
    spec.operands = std::move(operands);
    spec.floats = std::move(floats);
    spec.ints = std::move(ints);
    for (const DimVector* list : lists) spec.ints.insert(spec.ints.end(), list->begin(), list->end());
    return spec;
}

} // namespace reprise::ops::records

// Which kernels serve a chain.
#include "kernels/chain.hpp"
#include "kernels/code_cache.hpp"
#include "kernels/walk.hpp"

namespace reprise::kernels {

namespace {

using ops::View;

// The views are a choice inside of one module: a specialization constant.
ops::LaunchSpec launch_of_many(const Chain& c, std::span<const View> operands,
                               const device::Capabilities& caps)
{
    FusedKernel k = fused_kernel(c, operands, caps);
    const Code code = code_of(k.text, caps);
    ops::LaunchSpec spec;
    spec.kernel = code.name;
    spec.code = code.words;
    spec.floats = std::move(k.floats);
    spec.ints = std::move(k.ints);
    const std::size_t inputs = c.memory_inputs();
    for (std::size_t i = 0; i < operands.size(); ++i)
        spec.operands.push_back({operands[i], i < inputs ? ops::Use::read : ops::Use::write});
    spec.groups = groups_of(c);
    return spec;
}

} // namespace

device::Kernel reduction_of(const Chain& c, std::span<const View> operands, const device::Kernel& kernel,
                            std::vector<ops::Scalar>& floats, const device::Capabilities& caps)
{
    FusedKernel k = fused_reduction(c, operands, kernel.name);
    const Code code = code_of(k.text, caps);
    floats = std::move(k.floats);
    return {.name = code.name, .constants = kernel.constants, .code = code.words};
}

bool can_fuse(const device::Capabilities& caps) { return has_shader_compiler(caps); }

std::vector<ops::LaunchSpec> launches_of(const Chain& c, std::span<const View> operands,
                                         const device::Capabilities& caps)
{
    if (c.steps.size() == 1 && c.results.size() == 1) {
        if (!caps.prefer_texels || computes_doubles(c) || computes_longs(c))
            return {launch_of_one(c, operands, false)};
        return {launch_of_one(c, operands, true), launch_of_one(c, operands, false)};
    }
    ops::LaunchSpec spec = launch_of_many(c, operands, caps);
    if (!caps.prefer_texels) return {std::move(spec)};
    ops::LaunchSpec preferred = spec;
    preferred.texels = true;
    preferred.constants = {1};
    spec.constants = {0};
    return {std::move(preferred), std::move(spec)};
}

} // namespace reprise::kernels

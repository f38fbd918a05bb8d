// Chooses the kernels of a chain.
#include "kernels/chain.hpp"
#include "kernels/code_cache.hpp"
#include "kernels/walk.hpp"

namespace reprise::kernels {

namespace {

using ops::LaunchOperand;

// Builds the launch of a fused kernel.  Texel view or addresses are a specialization constant of one module.
ops::LaunchSpec launch_of_many(const Chain& c, std::span<const LaunchOperand> operands,
                               const device::Capabilities& caps)
{
    FusedKernel k = fused_kernel(c, operands, caps);
    const Code code = code_of(k.text, caps);
    ops::LaunchSpec spec;
    spec.kernel = code.name;
    spec.code = code.words;
    spec.floats = std::move(k.floats);
    spec.ints = std::move(k.ints);
    spec.operands.assign(operands.begin(), operands.end());
    spec.groups = groups_of(c);
    return spec;
}

} // namespace

void reduce_chain(const Chain& c, ops::LaunchSpec& reduction, const device::Capabilities& caps)
{
    FusedKernel k = fused_reduction(c, reduction.operands, reduction.kernel);
    const Code code = code_of(k.text, caps, reduction.kernel + "_fused");
    reduction.kernel = code.name;
    reduction.code = code.words;
    reduction.doubles = false;
    reduction.floats = std::move(k.floats);
}

void finish_product(const Chain& c, ops::LaunchSpec& product, const device::Capabilities& caps)
{
    FusedKernel k = fused_product(c, product.operands, product.kernel);
    const Code code = code_of(k.text, caps, product.kernel + "_fused");
    product.kernel = code.name;
    product.code = code.words;
    // CHAIN_OPERANDS stands before the floats of the kernel's record.
    product.floats.insert(product.floats.begin(), k.floats.begin(), k.floats.end());
}

bool can_fuse(const device::Capabilities& caps) { return has_shader_compiler(caps); }

std::vector<ops::LaunchSpec> launches_of(const Chain& c, std::span<const LaunchOperand> operands,
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

// User kernels: each is an op with the kernel's name, and the call specifies its launch.
#include <reprise/autograd/kernel.hpp>

#include <algorithm>

#include "device/spirv.hpp"
#include "eager/context.hpp"
#include "graph/cell.hpp"
#include "kernels/code_cache.hpp"
#include "kernels/hash.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {

namespace {

using graph::Node;
using graph::Op;

const graph::UserKernel& kernel_of(const graph::Attributes& a)
{
    return *a.get<std::shared_ptr<const graph::UserKernel>>("kernel");
}

graph::TensorTypes infer(const Op&, const graph::InputTypes&, const graph::Attributes& a)
{
    const Shape sizes = a.shape("sizes");
    const auto& types = a.integers("types"); // dtype and rank of each output
    graph::TensorTypes out;
    auto at = sizes.begin();
    for (std::size_t i = 0; i < types.size(); i += 2) {
        out.push_back({static_cast<DType>(types[i]), {at, at + types[i + 1]}});
        at += types[i + 1];
    }
    return out;
}

void lower(ops::Lowering& l, const Node& n)
{
    const graph::UserKernel& k = kernel_of(n.attributes);
    ops::LaunchSpec spec;
    spec.kernel = k.name;
    spec.code = k.words;
    spec.constants = k.options->constants;
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
        spec.operands.push_back({l.contiguous(l.input(i)), ops::Use::read});
    for (std::size_t i = 0; i < n.outputs.size(); ++i)
        spec.operands.push_back({l.output(i), ops::Use::write});
    spec.floats.assign(k.floats.begin(), k.floats.end());
    spec.ints = n.attributes.shape("ints");
    spec.groups = n.attributes.get<Dim>("groups");
    l.launch(std::move(spec));
}

void reference(const ops::ReferenceArguments& a)
{
    const graph::UserKernel& k = kernel_of(a.attributes);
    std::vector<std::vector<double>> in, out;
    for (const ops::HostTensor& t : a.inputs) {
        auto& values = in.emplace_back();
        for (std::int64_t i = 0, count = t.count(); i < count; ++i) values.push_back(t.at(i));
    }
    for (const ops::HostTensor& t : a.outputs) out.emplace_back(static_cast<std::size_t>(t.count()));
    // `dims` holds the groups, then the sizes of all outputs, then the ints.
    const std::size_t first_int = 1 + a.attributes.shape("sizes").size();
    k.options->host({in, out, a.dims.subspan(first_int), k.floats});
    for (std::size_t o = 0; o < out.size(); ++o) {
        const ops::HostTensor& t = a.outputs[o];
        if (out[o].size() != static_cast<std::size_t>(t.count()))
            detail::fail(ErrorKind::argument, a.op->name, "The host body has made output (", o, ") of (",
                         out[o].size(), ") values, not (", t.count(), "): its size is given.");
        for (std::int64_t i = 0, count = t.count(); i < count; ++i)
            t.put(i, out[o][static_cast<std::size_t>(i)]);
    }
}

std::string without_comments(const std::string& glsl)
{
    std::string out;
    for (std::size_t i = 0; i < glsl.size();) {
        const std::string two = glsl.substr(i, 2);
        if (two != "//" && two != "/*") {
            out += glsl[i++];
            continue;
        }
        const std::size_t end = two == "//" ? glsl.find('\n', i) : glsl.find("*/", i + 2);
        i = end == std::string::npos ? glsl.size() : two == "//" ? end : end + 2;
        out += ' ';
    }
    return out;
}

// Returns the number of ints that the text reads by constant indices, as in record.n[2]. Returns 0 if it has
// preprocessor directives, which may affect this.
std::size_t ints_read(const std::string& glsl)
{
    const std::string text = without_comments(glsl), access = "record.n[";
    if (text.find('#') != std::string::npos) return 0;
    std::size_t count = 0;
    for (std::size_t at = text.find(access); at != std::string::npos; at = text.find(access, at)) {
        at += access.size();
        std::size_t index = 0, digits = 0;
        for (; digits < 6 && text[at + digits] >= '0' && text[at + digits] <= '9'; ++digits)
            index = index * 10 + static_cast<std::size_t>(text[at + digits] - '0');
        if (digits > 0 && text[at + digits] == ']') count = std::max(count, index + 1);
    }
    return count;
}

struct CheckedOptions : KernelOptions {
    std::size_t ints; // minimum number of ints that the text reads

    explicit CheckedOptions(KernelOptions o) : KernelOptions(std::move(o)), ints(ints_read(glsl)) {}
};

const Op kernel_op{.name = "kernel", .infer = infer, .lower = lower, .reference = reference, .narrow = true};

std::string full_source(const KernelOptions& o, std::size_t operands, std::size_t floats)
{
    return "#version 460\n#extension GL_GOOGLE_include_directive : require\n#define OPERANDS " +
           std::to_string(operands) + "\n#define FLOATS " + std::to_string(floats) +
           "\n#include \"common/abi.glsl\"\nlayout(local_size_x = " + std::to_string(o.local_size_x) +
           ") in;\n#line 1\n" + o.glsl;
}

// Sets the kernel's code. Equal code gets an equal name, so that the device can cache its pipelines.
void set_code(graph::UserKernel& k, const device::Capabilities& caps, std::size_t operands)
{
    const KernelOptions& o = *k.options;
    if (!o.spirv.empty()) {
        if (caps.is_cuda())
            detail::fail(ErrorKind::unsupported, o.name.c_str(), "SPIR-V is Vulkan's, and the device (",
                         caps.id, ") is CUDA's: give the kernel as GLSL.");
        kernels::Hash h;
        for (const std::uint32_t word : o.spirv) h.add(word);
        k.name = o.name + "/" + std::to_string(h.value());
        k.words = {k.options, &o.spirv};
        return;
    }
    const kernels::Code code = kernels::code_of_user(o.name, full_source(o, operands, k.floats.size()), caps);
    k.name = code.name;
    k.words = code.words;
}

} // namespace

Kernel::Kernel(KernelOptions options) : options_(std::make_shared<const CheckedOptions>(std::move(options)))
{
    const char* name = options_->name.c_str();
    if (options_->glsl.empty() == options_->spirv.empty())
        detail::fail(ErrorKind::argument, name, "A kernel is made of GLSL or of SPIR-V: give one of them.");
    if (!options_->spirv.empty() && !device::is_spirv(options_->spirv))
        detail::fail(
            ErrorKind::argument, name, "The SPIR-V of (", options_->spirv.size(),
            ") words is no module, which begins with (0x07230203): give what a compiler such as glslc "
            "wrote.");
    if (options_->local_size_x == 0)
        detail::fail(ErrorKind::argument, name,
                     "local_size_x is (0): a workgroup has at least one invocation.");
    if (options_->constants.size() > device::refines_division_constant)
        detail::fail(ErrorKind::argument, name, "A kernel has at most (", device::refines_division_constant,
                     ") constants, but (", options_->constants.size(), ") are given.");
}

std::vector<Tensor> Kernel::call(const std::vector<Tensor>& inputs, const KernelLaunch& launch) const
{
    const Op& op = ops::named(kernel_op, options_->name);
    if (inputs.empty() || launch.outputs.empty())
        detail::fail(ErrorKind::argument, op.name, "The kernel has (", inputs.size(), ") inputs and (",
                     launch.outputs.size(), ") outputs: give at least one of each.");
    if (const std::size_t ints = static_cast<const CheckedOptions&>(*options_).ints;
        ints > launch.ints.size())
        detail::fail(ErrorKind::argument, op.name, "The kernel reads record.n[", ints - 1, "] but is given (",
                     launch.ints.size(), ") ints: give all that it reads.");
    auto k = std::make_shared<graph::UserKernel>();
    k->options = options_;
    k->floats = launch.floats;
    const Device device = inputs[0].device();
    const device::Capabilities& caps = device.context()->device()->capabilities();
    if (!caps.host_kernels && caps.computes) set_code(*k, caps, inputs.size() + launch.outputs.size());
    else if (caps.host_kernels && !options_->host)
        detail::fail(ErrorKind::unsupported, op.name, "The device (", device.name(),
                     ") runs no shaders: give the kernel a host body, or use a Vulkan device.");
    Shape sizes;
    std::vector<std::int64_t> types;
    for (const KernelOutput& o : launch.outputs) {
        types.push_back(static_cast<std::int64_t>(o.dtype));
        types.push_back(static_cast<std::int64_t>(o.shape.size()));
        sizes.insert(sizes.end(), o.shape.begin(), o.shape.end());
    }
    graph::Attributes attributes{{"kernel", std::shared_ptr<const graph::UserKernel>(std::move(k))},
                                 {"sizes", std::move(sizes)},
                                 {"types", std::move(types)},
                                 {"groups", launch.groups},
                                 {"ints", Shape(launch.ints.begin(), launch.ints.end())}};
    return graph::apply(op, inputs, std::move(attributes));
}

} // namespace reprise

#include "kernels/shader_compiler.hpp"

#include <atomic>
#include <stdexcept>
#include <string_view>

#include <reprise/error.hpp>

#include "device/cuda_compiler.hpp"
#include "kernels/cuda_text.hpp"
#include "kernels/hash.hpp"
#include "kernels/shader_texts.hpp"
#include "kernels/spirv_compiler.hpp"

namespace reprise::kernels {

namespace {

constinit std::atomic<const SpirvCompiler*> linked_compiler = nullptr; // set during static initialization

SpirV compile_cuda(const std::string& name, const std::string& shown, const std::string& text,
                   std::uint32_t compute_capability)
{
    GlslKernel k{.name = name, .shown = shown, .text = text, .definitions = {}, .include = {}};
    std::vector<std::pair<std::string, std::string>> headers;
    for (const ShaderText& t : shader_texts())
        if (std::string_view(t.name).ends_with(".cuh")) headers.emplace_back(t.name, t.text);
    k.include = [&](const std::string& file) -> std::string {
        for (const ShaderText& t : shader_texts())
            if (t.name == file) return t.text;
        throw std::runtime_error("there is no text (" + file + ") inside the library");
    };
    std::string cuda;
    try {
        cuda = "#include \"common/kernel.cuh\"\n" + cuda_of_glsl(k);
    } catch (const std::runtime_error& e) {
        detail::fail(ErrorKind::argument, name.c_str(), "The kernel can't be rewritten for CUDA: ", e.what(),
                     ".");
    }
    return device::cuda::compile(shown, cuda, headers, compute_capability);
}

SpirV compile_spirv(const std::string& name, const std::string& text, Author author)
{
    const SpirvCompiler* const compiler = spirv_compiler();
    if (!compiler)
        detail::fail(ErrorKind::unsupported, "shader", "The kernel (", name,
                     ") can't be compiled, as this program was linked without a GLSL compiler: link "
                     "reprise::fuser, or give the kernel as SPIR-V.");
    return compiler->compile(name, text, author);
}

} // namespace

const SpirvCompiler* spirv_compiler() noexcept { return linked_compiler; }
void set_spirv_compiler(const SpirvCompiler* c) noexcept { linked_compiler = c; }

bool has_shader_compiler(const device::Capabilities& c)
{
    return c.is_cuda() ? device::cuda::compiler_missing().empty() : spirv_compiler() != nullptr;
}

SpirV compile_shader(const std::string& name, const std::string& shown, const std::string& text,
                     const device::Capabilities& c, Author author)
{
    if (c.is_cuda()) return compile_cuda(name, shown, text, c.compute_capability);
    return compile_spirv(shown, text, author);
}

std::uint64_t shader_texts_hash()
{
    static const std::uint64_t hash = [] {
        Hash h;
        for (const ShaderText& t : shader_texts()) {
            h.add(t.name);
            h.add(t.text);
        }
        return h.value();
    }();
    return hash;
}

std::uint64_t shader_compiler_hash(const device::Capabilities& c)
{
    Hash h;
    h.add(shader_texts_hash());
    if (c.is_cuda()) {
        static const std::string version = device::cuda::compiler_version();
        h.add(version);
        h.add(c.compute_capability);
    } else if (const SpirvCompiler* const compiler = spirv_compiler()) {
        h.add(compiler->version);
    }
    return h.value();
}

} // namespace reprise::kernels

#include "kernels/shader_compiler.hpp"

#include <stdexcept>
#include <string_view>

#include <reprise/error.hpp>

#include "device/cuda_compiler.hpp"
#include "device/spirv_check.hpp"
#include "kernels/cuda_text.hpp"
#include "kernels/hash.hpp"
#include "kernels/shader_texts.hpp"

#ifdef REPRISE_HAS_SHADERC
#include <shaderc/shaderc.hpp>

namespace reprise::kernels {

namespace {

class Includer final : public shaderc::CompileOptions::IncluderInterface {
public:
    shaderc_include_result* GetInclude(const char* requested, shaderc_include_type, const char*,
                                       size_t) override
    {
        for (const ShaderText& t : shader_texts())
            if (std::string_view(t.name) == requested) return result(t.name, t.text);
        return result("", "there is no such text inside the library");
    }
    void ReleaseInclude(shaderc_include_result* r) override { delete r; }

private:
    static shaderc_include_result* result(std::string_view name, std::string_view text)
    {
        return new shaderc_include_result{name.data(), name.size(), text.data(), text.size(), nullptr};
    }
};

} // namespace

namespace {

constexpr bool has_shaderc = true;

// One for the process and its threads (shaderc.h), never destroyed: each that is made parses GLSL's built-in functions.
const shaderc::Compiler& compiler()
{
    static const auto* const kept = new shaderc::Compiler;
    return *kept;
}

SpirV compile_spirv(const std::string& name, const std::string& text, Author author)
{
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    options.SetOptimizationLevel(shaderc_optimization_level_performance);
    options.SetIncluder(std::make_unique<Includer>());
    const auto result = compiler().CompileGlslToSpv(text, shaderc_compute_shader, name.c_str(), options);
    const bool compiled = result.GetCompilationStatus() == shaderc_compilation_status_success;
    if (!compiled && author == Author::user)
        detail::fail(ErrorKind::argument, name.c_str(),
                     "The kernel does not compile: ", result.GetErrorMessage());
    if (!compiled)
        detail::fail(ErrorKind::internal, "fuse", "The kernel (", name,
                     ") does not compile: ", result.GetErrorMessage());
    SpirV words(result.cbegin(), result.cend());
    if (author == Author::user) return words;
    if (const auto faults = device::spirv_faults(name, words); !faults.empty())
        detail::fail(ErrorKind::internal, "fuse", faults.front());
    return words;
}

} // namespace

} // namespace reprise::kernels

#else

namespace reprise::kernels {

namespace {

constexpr bool has_shaderc = false;

SpirV compile_spirv(const std::string& name, const std::string&, Author)
{
    detail::fail(ErrorKind::unsupported, "shader", "The kernel (", name,
                 ") can't be compiled: the library was built without shaderc, so give it as SPIR-V.");
}

} // namespace

} // namespace reprise::kernels

#endif

namespace reprise::kernels {

namespace {

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

} // namespace

bool has_shader_compiler(const device::Capabilities& c)
{
    return c.is_cuda() ? device::cuda::compiler_missing().empty() : has_shaderc;
}

SpirV compile_shader(const std::string& name, const std::string& shown, const std::string& text,
                     const device::Capabilities& c, Author author)
{
    if (c.is_cuda()) return compile_cuda(name, shown, text, c.compute_capability);
    return compile_spirv(shown, text, author);
}

std::uint64_t shader_compiler_hash(const device::Capabilities& c)
{
    static const std::uint64_t texts = [] {
        Hash h;
        for (const ShaderText& t : shader_texts()) {
            h.add(t.name);
            h.add(t.text);
        }
        return h.value();
    }();
    Hash h;
    h.add(texts);
    if (c.is_cuda()) {
        static const std::string version = device::cuda::compiler_version();
        h.add(version);
        h.add(c.compute_capability);
    } else if (has_shaderc) {
        h.add("shaderc");
#ifdef REPRISE_HAS_SHADERC
        unsigned version = 0, revision = 0;
        shaderc_get_spv_version(&version, &revision);
        h.add(std::to_string(version) + "." + std::to_string(revision));
#endif
    }
    return h.value();
}

} // namespace reprise::kernels

#include "kernels/shader_compiler.hpp"

#include <string_view>

#include <reprise/error.hpp>

#include "device/spirv_check.hpp"
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

bool has_shader_compiler() noexcept { return true; }

SpirV compile_shader(const std::string& name, const std::string& text, Author author)
{
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    options.SetOptimizationLevel(shaderc_optimization_level_performance);
    options.SetIncluder(std::make_unique<Includer>());
    const shaderc::Compiler compiler;
    const auto result = compiler.CompileGlslToSpv(text, shaderc_compute_shader, name.c_str(), options);
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

} // namespace reprise::kernels

#else

namespace reprise::kernels {

bool has_shader_compiler() noexcept { return false; }

SpirV compile_shader(const std::string& name, const std::string&, Author)
{
    detail::fail(ErrorKind::unsupported, "shader", "The kernel (", name,
                 ") can't be compiled: the library was built without shaderc, so give it as SPIR-V.");
}

} // namespace reprise::kernels

#endif

namespace reprise::kernels {

std::uint64_t shader_compiler_hash()
{
    static const std::uint64_t hash = [] {
        Hash h;
        if (has_shader_compiler()) {
            h.add("shaderc");
#ifdef REPRISE_HAS_SHADERC
            unsigned version = 0, revision = 0;
            shaderc_get_spv_version(&version, &revision);
            h.add(std::to_string(version) + "." + std::to_string(revision));
#endif
        }
        for (const ShaderText& t : shader_texts()) {
            h.add(t.name);
            h.add(t.text);
        }
        return h.value();
    }();
    return hash;
}

} // namespace reprise::kernels

// The only file of reprise::fuser.  cmake/RepriseTargets.cmake makes programs that link it refer to
// `reprise_link_fuser`, so that the linker includes this file, which then registers its compiler.
#include <map>
#include <memory>
#include <mutex>
#include <shaderc/shaderc.hpp>
#include <string_view>

#include <reprise/error.hpp>

#include "device/float_controls.hpp"
#include "device/spirv_check.hpp"
#include "kernels/shader_texts.hpp"
#include "kernels/spirv_compiler.hpp"

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

// Returns the compiler that all threads share (shaderc.h allows it) and that is never destroyed.  Constructing one is
// slow, as it parses GLSL's built-in functions.
const shaderc::Compiler& compiler()
{
    static const auto* const instance = new shaderc::Compiler;
    return *instance;
}

SpirV compile(const std::string& name, const std::string& text, Author author)
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
    words = device::with_float_controls(words);
    if (const auto faults = device::spirv_faults(name, words); !faults.empty())
        detail::fail(ErrorKind::internal, "fuse", faults.front());
    return words;
}

bool knows(const std::string& extension)
{
    static std::mutex mutex; // guards `known`
    static auto& known = *new std::map<std::string, bool>;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(extension); found != known.end()) return found->second;
    const std::string text = "#version 460\n#extension " + extension + " : require\nvoid main() {}\n";
    const auto result = compiler().CompileGlslToSpv(text, shaderc_compute_shader, "knows");
    return known[extension] = result.GetCompilationStatus() == shaderc_compilation_status_success;
}

const bool registered = [] {
    unsigned version = 0, revision = 0;
    shaderc_get_spv_version(&version, &revision);
    const std::string text = "shaderc" + std::to_string(version) + "." + std::to_string(revision);
    static const auto* const instance =
        new SpirvCompiler{compile, knows, text}; // destructors of globals may use it
    set_spirv_compiler(instance);
    return true;
}();

} // namespace

} // namespace reprise::kernels

extern "C" bool reprise_link_fuser() { return reprise::kernels::registered; }

// Runs the shader at sizes around its workgroup's, and compares it with the library's ops.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>
#include <reprise/testing.hpp>

namespace rp = reprise;
namespace rpt = reprise::testing;

static std::vector<std::uint32_t> read_spirv(const std::string& name)
{
    std::ifstream file(std::string(SHADER_FOLDER "/") + name + ".spv", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
    return words;
}

int main()
{
    const std::vector<std::uint32_t> spirv = read_spirv("scale_rows");
    constexpr std::int32_t rows = 3;
    for (const std::int32_t n : {1, 63, 64, 65, 1000}) {
        const rp::Tensor x = rp::randn({rows, n});
        const rp::Tensor expected = x * 2 / rp::amax(rp::abs(x), {1}, true);
        const std::vector<float> unwritten(static_cast<std::size_t>(rows * n), std::nanf(""));
        const std::vector<rpt::Bytes> buffers = rpt::run_shader(
            rp::default_device(), {.spirv = spirv,
                                   .name = "scale_rows",
                                   .buffers = {rpt::bytes_of(x.to_vector<float>()), rpt::bytes_of(unwritten)},
                                   .groups = rows,
                                   .ints = {rows, n},
                                   .floats = {2}});
        const rp::Tensor y = rp::from_vector(rpt::values_of<float>(buffers[1]), {rows, n});
        if (!rp::allclose(y, expected, 1e-6)) { // also false where y is NaN
            std::printf("scale_rows is wrong for rows of %d\n", n);
            return 1;
        }
    }
    std::puts("scale_rows is right");
}

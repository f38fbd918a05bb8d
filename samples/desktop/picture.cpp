#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

#include <reprise/reprise.hpp>
#include <stb/stb_image.h>

namespace rp = reprise;

namespace desktop {

namespace {

struct Colour {
    float red, green, blue;
};

Colour mix(const Colour& a, const Colour& b, float share)
{
    const float s = std::clamp(share, 0.0F, 1.0F);
    return {a.red + s * (b.red - a.red), a.green + s * (b.green - a.green), a.blue + s * (b.blue - a.blue)};
}

// Mountains have their tops above the horizon at 0; y points up, and x and y are from -1 to 1.
float ridge(float x)
{
    const auto peak = [x](float at, float height, float slope) { return height - slope * std::abs(x - at); };
    const float rough = 0.03F * std::sin(23 * x) + 0.02F * std::sin(41 * x + 1);
    return std::max({peak(-0.55F, 0.5F, 0.9F), peak(0.75F, 0.62F, 1.1F), peak(-0.05F, 0.2F, 0.6F)}) + rough;
}

Colour land(float x, float y)
{
    const float dx = x - 0.15F, dy = y - 0.32F, sun = std::sqrt(dx * dx + dy * dy);
    Colour sky = mix({0.98F, 0.55F, 0.30F}, {0.13F, 0.15F, 0.42F}, 1.1F * y);
    sky = mix({1.0F, 0.85F, 0.45F}, sky, 0.35F + 1.2F * sun);
    if (sun < 0.2F) sky = {1.0F, 0.93F, 0.66F};
    const float top = ridge(x);
    if (y > top) return sky;
    const Colour rock = mix({0.22F, 0.14F, 0.30F}, {0.40F, 0.25F, 0.40F}, 1.6F * y);
    const bool snow = y > 0.36F && y > top - 0.1F + 0.05F * std::sin(34 * x);
    return snow ? Colour{0.95F, 0.90F, 0.95F} : rock;
}

Colour scene(float x, float y)
{
    const float horizon = -0.25F, h = y - horizon;
    if (h > 0) return land(x, 0.8F * h);
    const float depth = -h, wave = 0.03F * std::sin(60 * std::sqrt(depth + 0.02F) + 3 * x);
    const Colour mirrored = land(x + wave, 0.9F * depth + wave);
    return mix(mirrored, {0.05F, 0.12F, 0.28F}, 0.25F + 0.5F * depth);
}

} // namespace

Picture sunset(std::int64_t side)
{
    Picture out{side, side, {}};
    for (std::int64_t j = 0; j < side; ++j)
        for (std::int64_t i = 0; i < side; ++i) {
            const auto at = [side](std::int64_t k) {
                return 2 * (static_cast<float>(k) + 0.5F) / static_cast<float>(side) - 1;
            };
            const Colour c = scene(at(i), -at(j));
            out.rgb.insert(out.rgb.end(), {c.red, c.green, c.blue});
        }
    return out;
}

Picture read_picture(const std::filesystem::path& path, std::int64_t longest)
{
    int width = 0, height = 0, channels = 0;
    std::ifstream in(path, std::ios::binary); // stb opens files by names in the code page on Windows
    const std::vector<char> file{std::istreambuf_iterator<char>(in), {}};
    const std::unique_ptr<stbi_uc, void (*)(void*)> bytes(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), static_cast<int>(file.size()),
                              &width, &height, &channels, 3),
        stbi_image_free);
    if (!bytes)
        throw std::runtime_error("The picture (" + rp::path_text(path) +
                                 ") can't be read: " + stbi_failure_reason() + ".");
    const std::int64_t step = (std::max(width, height) + longest - 1) / longest;
    Picture out{std::max<std::int64_t>(1, width / step), std::max<std::int64_t>(1, height / step), {}};
    for (std::int64_t j = 0; j < out.height; ++j)
        for (std::int64_t i = 0; i < out.width; ++i)
            for (std::int64_t c = 0; c < 3; ++c) {
                float sum = 0, count = 0; // the mean of a square of pixels
                for (std::int64_t y = j * step; y < std::min<std::int64_t>((j + 1) * step, height); ++y)
                    for (std::int64_t x = i * step; x < std::min<std::int64_t>((i + 1) * step, width); ++x) {
                        sum += static_cast<float>(bytes.get()[3 * (y * width + x) + c]);
                        ++count;
                    }
                out.rgb.push_back(sum / count / 255);
            }
    return out;
}

void write_png(const std::filesystem::path& path, const std::byte* pixels, VkExtent2D extent, bool blue_first)
{
    const std::size_t area = std::size_t{extent.width} * extent.height;
    std::vector<std::uint8_t> planes(3 * area);
    for (std::size_t i = 0; i < area; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            planes[c * area + i] = static_cast<std::uint8_t>(pixels[4 * i + (blue_first ? 2 - c : c)]);
    rp::train::save_png(
        path, rp::from_vector(planes, {3, extent.height, extent.width}, {.device = rp::Device("reference")}));
}

} // namespace desktop

// PNG images, decoded again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#else
#include <stb_image.h>
#endif

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Decoded {
    int width = 0, height = 0, channels = 0;
    std::vector<std::uint8_t> pixels{}; // [height][width][channels]

    explicit Decoded(const std::string& png)
    {
        stbi_uc* data = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                                              static_cast<int>(png.size()), &width, &height, &channels, 0);
        EXPECT_NE(data, nullptr);
        if (data) pixels.assign(data, data + width * height * channels);
        stbi_image_free(data);
    }
    std::uint8_t at(int y, int x) const
    {
        return pixels[static_cast<std::size_t>((y * width + x) * channels)];
    }
};

TEST(Png, RoundsAndCutsElements)
{
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    const Decoded d(
        train::to_png(from_vector(std::vector<float>{0, 0.5f, 1, -1, 2, nan, infinity, 0.1f}, {2, 4})));
    EXPECT_EQ(d.width, 4);
    EXPECT_EQ(d.height, 2);
    EXPECT_EQ(d.channels, 1);
    EXPECT_THAT(d.pixels, ElementsAre(0, 128, 255, 0, 255, 0, 255, 26));
}

TEST(Png, TakesChannelsFirstOfAnyLayoutAndDtype)
{
    for (const std::int64_t channels : {1, 3, 4}) {
        const Tensor x = rand({5, 7, channels}), bytes = (x * 255).to(u8);
        std::vector<std::uint8_t> want = bytes.to_vector<std::uint8_t>();
        const Decoded d(train::to_png(bytes.permute({2, 0, 1}))); // a view that is not contiguous
        EXPECT_EQ(d.channels, channels);
        EXPECT_EQ(d.pixels, want);
        for (const DType dtype : {f32, f64, f16})
            EXPECT_THAT(Decoded(train::to_png(ones({channels, 2, 2}, {.dtype = dtype}))).pixels, Each(255));
    }
}

TEST(Png, LaysImagesInRows)
{
    const Decoded d(train::to_png(ones({9, 1, 3, 4})));
    EXPECT_EQ(d.width, 8 * (4 + 2) + 2);
    EXPECT_EQ(d.height, 2 * (3 + 2) + 2);
    EXPECT_EQ(d.at(0, 0), 0);
    EXPECT_EQ(d.at(2, 2), 255);
    EXPECT_EQ(d.at(2, 6), 0);
    EXPECT_EQ(d.at(2, 8), 255);
    EXPECT_EQ(d.at(7, 2), 255); // the ninth
    EXPECT_EQ(d.at(7, 8), 0);
    EXPECT_EQ(Decoded(train::to_png(ones({1, 1, 3, 4}))).width, 4);
}

TEST(Png, IsWrittenWhole)
{
    const Scratch scratch;
    train::save_png(scratch / "x.png", rand({300, 300}));
    EXPECT_EQ(Decoded(read_text(scratch / "x.png")).width, 300);
    EXPECT_EQ(error_of([&] { train::save_png(scratch / "none/x.png", ones({1, 1})); }).kind, ErrorKind::file);
}

TEST(Png, RefusesOtherTensors)
{
    for (const Shape& shape :
         {Shape{}, Shape{4}, Shape{2, 4, 4}, Shape{1, 1, 1, 4, 4}, Shape{3, 0, 4}, Shape{0, 3, 4, 4}}) {
        const Caught caught = error_of([&] { train::to_png(zeros(shape)); });
        EXPECT_EQ(caught.kind, ErrorKind::shape) << to_string(shape);
        EXPECT_THAT(caught.text, HasSubstr(to_string(shape)));
    }
    EXPECT_EQ(error_of([] { train::to_png(zeros({4, 4}, {.dtype = i32})); }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([] { train::to_png(Tensor()); }).kind, ErrorKind::argument);
    const Tensor huge = zeros({1, 1}).expand({1 << 20, 1 << 10}); // a view of one element
    EXPECT_EQ(error_of([&] { train::to_png(huge); }).kind, ErrorKind::shape);
}

} // namespace

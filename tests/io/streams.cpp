// Lists of tensors, and saving to streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <vector>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SaveAndLoad, OfListsOfTensors)
{
    const Scratch scratch;
    std::vector<Tensor> saved, found;
    for (int i = 0; i < 12; ++i) saved.push_back(full({1}, i, {.dtype = i % 2 ? f32 : i64}));
    save(saved, scratch / "list.safetensors");
    load(found, scratch / "list.safetensors");
    ASSERT_EQ(found.size(), 12U);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)].item<float>(), i);
    EXPECT_EQ(found[2].dtype(), i64);
    save({ones({2}), zeros({3})}, scratch / "two.safetensors");
    load(found, scratch / "two.safetensors");
    EXPECT_EQ(found.size(), 2U);
    nn::Linear net(2, 1);
    save(net.parameters(), scratch / "parameters.safetensors");
    load(found, scratch / "parameters.safetensors");
    EXPECT_EQ(found[0].to_vector<float>(), net.weight.to_vector<float>());
    save(net, scratch / "net.safetensors");
    EXPECT_THAT(error_of([&] { load(found, scratch / "net.safetensors"); }).text,
                HasSubstr("none of the name (0)"));
    EXPECT_EQ(found.size(), 2U);
}

TEST(SaveAndLoad, ToStreamsOneBehindTheOther)
{
    nn::Linear a(2, 1), b(2, 1);
    optim::Adam first(a.parameters(), 0.5), second(b.parameters(), 0.1);
    const auto pointer = std::make_shared<nn::Linear>(2, 1);
    std::stringstream stream;
    save(std::vector<Tensor>{ones({2}), zeros({3})}, stream);
    save(a, stream);
    save(first, stream);
    save(pointer, stream);
    save(full({}, 7), stream);
    save(std::map<std::string, Tensor>{{"x", ones({4})}}, stream);
    std::vector<Tensor> list;
    Tensor one;
    std::map<std::string, Tensor> map;
    load(list, stream);
    load(b, stream);
    load(second, stream);
    load(pointer, stream);
    load(one, stream);
    load(map, stream);
    EXPECT_EQ(list.at(1).numel(), 3);
    EXPECT_EQ(b.weight.to_vector<float>(), a.weight.to_vector<float>());
    EXPECT_EQ(second.get_lr(), 0.5);
    EXPECT_EQ(one.item<float>(), 7);
    EXPECT_EQ(map.at("x").numel(), 4);
    EXPECT_THAT(error_of([&] { load(one, stream); }).text, HasSubstr("(a stream)"));
}

TEST(Streams, AreRefusedWhereTheyEndEarlyOrFail)
{
    std::ostringstream whole;
    save(full({6}, 2.5), whole);
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{5}, std::size_t{20}, whole.str().size() - 1}) {
        std::istringstream cut(whole.str().substr(0, length));
        Tensor before = ones({1}), t = before;
        EXPECT_EQ(error_of([&] { load(t, cut); }).kind, ErrorKind::file) << length;
        EXPECT_EQ(t.cell(), before.cell());
    }
    std::ostringstream closed;
    closed.setstate(std::ios::badbit);
    EXPECT_THAT(error_of([&] { save(ones({1}), closed); }).text, HasSubstr("The stream can't be written"));
    // A header that promises more than memory holds: what is there is read first.
    const std::string header = R"({"tensor":{"dtype":"U8","shape":[1152921504606846976],)"
                               R"("data_offsets":[0,1152921504606846976]}})";
    std::string text(8, '\0');
    text[0] = static_cast<char>(header.size());
    std::istringstream absurd(text + header + "abc");
    EXPECT_EQ(error_of([&] { load_safetensors(absurd); }).kind, ErrorKind::file);
}

} // namespace

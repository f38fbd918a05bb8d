// Modules, optimizers and tensors through files; files of other formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

TEST(SaveAndLoad, OfModulesAndOptimizers)
{
    const Scratch scratch;
    const auto step = [](nn::Linear& m, optim::Adam& o) {
        o.zero_grad();
        sum(m(ones({1, 3}))).backward();
        o.step();
    };
    nn::Linear a(3, 2), b(3, 2);
    optim::Adam first(a.parameters()), second(b.parameters());
    step(a, first);
    save(a, scratch / "m.safetensors");
    save(first, scratch / "o.safetensors");
    load(b, scratch / "m.safetensors");
    load(second, scratch / "o.safetensors");
    step(a, first);
    step(b, second);
    EXPECT_EQ(a.weight.to_vector<float>(), b.weight.to_vector<float>());

    const auto shared = nn::make<nn::Linear>(3, 2);
    load(shared, scratch / "m.safetensors");
    save(shared, scratch / "again.safetensors");
    std::map<std::string, Tensor> values;
    load(values, scratch / "again.safetensors");
    EXPECT_EQ(values.at("bias").to_vector<float>(), shared->bias.to_vector<float>());
    save(values, scratch / "values.safetensors");
    EXPECT_EQ(load_safetensors(scratch / "values.safetensors").size(), 2u);
}

TEST(SaveAndLoad, OfTensors)
{
    const Scratch scratch;
    const Tensor t = from_vector<std::int32_t>({1, 2, 3}, {3, 1});
    save(t, scratch / "t.safetensors");
    Tensor back;
    load(back, scratch / "t.safetensors");
    EXPECT_EQ(back.shape(), (Shape{3, 1}));
    EXPECT_EQ(back.to_vector<std::int32_t>(), t.to_vector<std::int32_t>());
    save(std::map<std::string, Tensor>{{"a", t}, {"b", t}}, scratch / "two.safetensors");
    const Caught caught = error_of([&] { load(back, scratch / "two.safetensors"); });
    EXPECT_EQ(caught.kind, ErrorKind::file);
    EXPECT_THAT(caught.text, HasSubstr("(2) tensors"));
}

TEST(SaveAndLoad, ErrorsNameFileAndTensor)
{
    const Scratch scratch;
    save(nn::Linear(3, 2), scratch / "m.safetensors");
    nn::Linear other(4, 2);
    const auto before = other.bias.to_vector<float>();
    const Caught caught = error_of([&] { load(other, scratch / "m.safetensors"); });
    EXPECT_EQ(caught.kind, ErrorKind::shape);
    EXPECT_THAT(caught.text, HasSubstr("(weight) has the shape [2, 3] where [2, 4] is needed"));
    EXPECT_THAT(caught.text, HasSubstr("m.safetensors"));
    EXPECT_EQ(other.bias.to_vector<float>(), before);
}

TEST(SaveAndLoad, FilesOfTorchSaySo)
{
    const Scratch scratch;
    const auto complaint = [&](const std::string& content) {
        write_text(scratch / "model.pt", content);
        const Caught caught = error_of([&] { load_safetensors(scratch / "model.pt"); });
        EXPECT_EQ(caught.kind, ErrorKind::file);
        EXPECT_THAT(caught.text, HasSubstr("model.pt"));
        return caught.text;
    };
    const std::string rest(64, '\0');
    EXPECT_THAT(complaint("PK\x03\x04" + rest), HasSubstr("is a zip archive, as torch.save() writes"));
    EXPECT_THAT(complaint("PK\x03\x04" + rest), HasSubstr("safetensors.torch.save_file"));
    EXPECT_THAT(complaint("\x80\x02\x8a\x0alF\xf9" + rest), HasSubstr("is a pickle"));
    EXPECT_THAT(complaint(std::string("\x80\x02\x01\0\0\0\0\0", 8) + std::string(70000, 'x')),
                HasSubstr("is a pickle"));
}

// 66176 is 80 02 01 in bytes, as a pickle begins.
TEST(SaveAndLoad, AHeaderMayBeAsLongAsAPicklesFirstBytesSay)
{
    const Scratch scratch;
    std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    header.resize(66176, ' ');
    write_text(scratch / "t.safetensors", std::string("\x80\x02\x01\0\0\0\0\0", 8) + header + '\7');
    EXPECT_EQ(load_safetensors(scratch / "t.safetensors").at("w").to_vector<std::uint8_t>()[0], 7);
}

} // namespace

// Low-rank adapters: values, gradients, merging, programs, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using nn::Lora;
using test::bits;
using test::random_tensor;
using testing::ElementsAre;
using testing::HasSubstr;

double difference(const Tensor& a, const Tensor& b)
{
    return max(abs(cast(a, f32) - cast(b, f32))).item<float>();
}

// Gives all adapters random values, so that they have an effect.
void fill(Lora& lora)
{
    const no_grad guard;
    std::uint64_t seed = 1;
    for (Variable p : lora.parameters()) {
        Shape shape = p.shape();
        p.assign(random_tensor(shape, seed++).to(p.dtype()));
    }
}

Tensor value(const Lora& lora, const std::string& name)
{
    return lora.state_dict().at("base_model.model." + name);
}

struct Net : nn::Module {
    nn::Embedding words = register_module("words", nn::Embedding(9, 6, {.padding_idx = 2}));
    nn::Conv1d mix = register_module("mix", nn::Conv1d(6, 6, {.kernel_size = 3, .padding = 1}));
    nn::MultiheadAttention attention =
        register_module("attention", nn::MultiheadAttention(6, 2, {.batch_first = true}));
    nn::LayerNorm norm = register_module("norm", nn::LayerNorm({6}));
    nn::Linear fc = register_module("fc", nn::Linear(6, 6)), head = register_module("head", nn::Linear(6, 2));
    Tensor forward(Tensor indices) override
    {
        Tensor x = transpose(mix(transpose(words(indices), 1, 2)), 1, 2);
        x = norm(x + attention(x));
        return head(mean(tanh(fc(x)), {1}));
    }
};
const nn::LoraOptions everything{
    .rank = 2, .alpha = 3, .target_modules = {"words", "mix", "attention", "fc", "head"}};

Tensor indices(std::int64_t batch, std::int64_t length)
{
    return from_vector(test::integers(static_cast<std::size_t>(batch * length), 5, 0, 8), {batch, length});
}

// ---- the formula, for each kind of layer ----

// A model of one layer, "layer".
template <class Layer> struct Only : nn::Module {
    Layer layer;
    explicit Only(Layer l) : layer(register_module("layer", std::move(l))) {}
    Tensor forward(Tensor x) override { return layer(std::move(x)); }
};

// Checks that y changes by scale times `added`, and that merging does the same and can be undone.
template <class Layer, class Added> void check_layer(Only<Layer>& net, const Tensor& x, const std::string& a,
                                                     const std::string& b, const Added& added)
{
    const Tensor before = net(x), weight = net.layer.weight.detach().clone();
    Lora lora(net, {.rank = 2, .alpha = 3, .target_modules = {"layer"}});
    EXPECT_EQ(bits(net(x)), bits(before)); // B A is 0 at first
    fill(lora);
    const Tensor y = net(x);
    const Tensor want = before + added(value(lora, "layer." + a), value(lora, "layer." + b)) * 1.5;
    EXPECT_LE(difference(y, want), 1e-5);
    EXPECT_GT(difference(y, before), 1e-2);
    net.eval();
    lora.merge();
    EXPECT_LE(difference(net(x), y), 1e-5);
    lora.unmerge();
    EXPECT_EQ(bits(net.layer.weight), bits(weight));
    EXPECT_EQ(bits(net(x)), bits(y));
    lora.unload();
    EXPECT_EQ(bits(net(x)), bits(before));
}

TEST(Lora, OfALinear)
{
    Only<nn::Linear> net(nn::Linear(5, 3));
    check_layer(net, random_tensor({2, 4, 5}, 1), "lora_A.weight", "lora_B.weight",
                [](const Tensor& a, const Tensor& b) {
                    return matmul(matmul(random_tensor({2, 4, 5}, 1), a.t()), b.t());
                });
}

TEST(Lora, OfConvolutionsWithTheirOptions)
{
    Only<nn::Conv1d> line(
        nn::Conv1d(3, 4, {.kernel_size = 3, .padding = "same", .padding_mode = "circular"}));
    Tensor x = random_tensor({2, 3, 7}, 1);
    check_layer(line, x, "lora_A.weight", "lora_B.weight", [&](const Tensor& a, const Tensor& b) {
        return conv1d(conv1d(pad(x, {1, 1}, "circular"), a), b);
    });
    Only<nn::Conv2d> plane(
        nn::Conv2d(3, 4, {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = 1, .dilation = {1, 2}}));
    x = random_tensor({2, 3, 7, 6}, 1);
    check_layer(plane, x, "lora_A.weight", "lora_B.weight", [&](const Tensor& a, const Tensor& b) {
        return conv2d(conv2d(x, a, {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}}), b);
    });
    Only<nn::Conv3d> space(nn::Conv3d(2, 3, 2));
    x = random_tensor({2, 3, 4, 3}, 1); // one image without a batch
    check_layer(space, x, "lora_A.weight", "lora_B.weight",
                [&](const Tensor& a, const Tensor& b) { return conv3d(conv3d(x, a), b); });
}

TEST(Lora, OfAnEmbedding)
{
    Only<nn::Embedding> net(nn::Embedding(9, 4));
    const Tensor x = indices(2, 3);
    const auto added = [&](const Tensor& a, const Tensor& b) { return matmul(embedding(x, a.t()), b.t()); };
    check_layer(net, x, "lora_embedding_A", "lora_embedding_B", added);
}

TEST(Lora, OfAttentionIsThatOfItsPackedProjection)
{
    Net net, merged;
    net.eval(), merged.eval();
    merged.load_state_dict(net.state_dict());
    Lora lora(net, {.rank = 2, .alpha = 3, .target_modules = {"attention"}});
    fill(lora);
    EXPECT_THAT(lora.targets(), ElementsAre("attention", "attention.out_proj"));
    const auto product = [&](const std::string& at) {
        return matmul(value(lora, at + "lora_B.weight"), value(lora, at + "lora_A.weight")) * 1.5;
    };
    nn::MultiheadAttention& plain = merged.attention;
    plain.in_proj_weight.assign(plain.in_proj_weight.detach() + product("attention."));
    plain.out_proj.weight.assign(plain.out_proj.weight.detach() +
                                 product("attention.base_layer.out_proj.") * 2);
    const Tensor x = random_tensor({2, 4, 6}, 1), memory = random_tensor({2, 5, 6}, 2);
    EXPECT_LE(difference(net.attention(x), plain(x)), 1e-5);
    EXPECT_LE(
        difference(std::get<0>(net.attention(x, memory, memory)), std::get<0>(plain(x, memory, memory))),
        1e-5);
    const Tensor y = net.attention(x);
    lora.merge();
    EXPECT_EQ(bits(net.attention.in_proj_weight), bits(plain.in_proj_weight));
    EXPECT_LE(difference(net.attention(x), y), 1e-5);
}

TEST(Lora, StartsAsPeftDoesAndScalesByTheRoot)
{
    manual_seed(1);
    Only<nn::Linear> net(nn::Linear(100, 50));
    const Lora lora(net, {.rank = 16, .target_modules = "all-linear", .use_rslora = true});
    EXPECT_DOUBLE_EQ(lora.scale(), 2);
    const Tensor a = value(lora, "layer.lora_A.weight");
    EXPECT_LE(max(abs(a)).item<float>(), 0.1f); // 1 / sqrt(100)
    EXPECT_GT(max(abs(a)).item<float>(), 0.09f);
    EXPECT_EQ(max(abs(value(lora, "layer.lora_B.weight"))).item<float>(), 0);
}

// ---- training ----

TEST(Lora, GradientsReachOnlyAdapters)
{
    Net net;
    net.norm.weight.requires_grad_(false);
    {
        Lora lora(net, everything);
        fill(lora);
        sum(net(indices(2, 4)) * random_tensor({2, 2}, 3)).backward();
        for (const auto& [name, p] : net.named_parameters())
            EXPECT_FALSE(p.requires_grad() || p.grad().defined()) << name;
        for (const auto& [name, p] : lora.named_parameters()) EXPECT_TRUE(p.grad().defined()) << name;
    }
    for (const auto& [name, p] : net.named_parameters())
        EXPECT_EQ(p.requires_grad(), name != "norm.weight") << name;
}

TEST(Lora, TrainsBiasesAndModulesToSave)
{
    Net net;
    const auto trained = [&](const nn::LoraOptions& options) {
        const Lora lora(net, options);
        std::vector<std::string> names;
        for (const auto& [name, p] : net.named_parameters())
            if (p.requires_grad()) names.push_back(name);
        EXPECT_EQ(lora.parameters().size(), names.size() + 2);
        return names;
    };
    EXPECT_THAT(trained({.target_modules = {"fc"}, .bias = "lora_only"}), ElementsAre("fc.bias"));
    EXPECT_THAT(trained({.target_modules = {"fc"}, .bias = "all"}),
                ElementsAre("mix.bias", "attention.out_proj.bias", "norm.bias", "fc.bias", "head.bias"));
    EXPECT_THAT(trained({.target_modules = {"fc"}, .modules_to_save = {"head", "norm"}}),
                ElementsAre("norm.weight", "norm.bias", "head.weight", "head.bias"));
}

TEST(Lora, DropoutFollowsTheModeOfTheLayer)
{
    Only<nn::Linear> net(nn::Linear(64, 8));
    nn::LoraOptions options{.target_modules = {"layer"}};
    const Tensor x = random_tensor({4, 64}, 1);
    Lora plain(net, options);
    fill(plain);
    const nn::StateDict values = plain.state_dict();
    const Tensor y = net(x);
    plain.unload();
    options.dropout = 0.5;
    Lora lora(net, options);
    lora.load_state_dict(values);
    EXPECT_GT(difference(net(x), y), 1e-2);
    EXPECT_NE(bits(net(x)), bits(net(x)));
    net.eval();
    EXPECT_EQ(bits(net(x)), bits(y));
}

// Two steps of an optimizer; returns the losses and the adapters' values.
std::vector<test::Bits> two_steps(bool recorded, bool checkpointed)
{
    manual_seed(7);
    Net net;
    if (checkpointed) {
        nn::checkpoint_module(net.attention, "attention");
        nn::checkpoint_module(net.fc, "fc");
    }
    nn::LoraOptions options = everything;
    options.dropout = 0.25;
    Lora lora(net, options);
    fill(lora);
    optim::AdamW opt(lora.parameters(), {.lr = 1e-2});
    const auto step = [&](const Tensor& x) {
        const Tensor loss = sum(net(x) * net(x));
        opt.zero_grad();
        loss.backward();
        opt.step();
        return loss;
    };
    std::vector<test::Bits> out;
    if (recorded) {
        auto program = record(step, {spec({symbol("n"), symbol("length")}, i32)});
        for (const Tensor& x : {indices(2, 4), indices(3, 7)}) out.push_back(bits(program(x)));
    } else {
        for (const Tensor& x : {indices(2, 4), indices(3, 7)}) out.push_back(bits(step(x)));
    }
    for (const auto& [name, t] : lora.state_dict()) out.push_back(bits(t));
    return out;
}

TEST(Lora, RecordedStepsAtTwoSizesHaveTheBitsOfEagerOnes)
{
    EXPECT_EQ(two_steps(true, false), two_steps(false, false));
}

TEST(Lora, StepsUnderCheckpointsHaveTheSameBits)
{
    EXPECT_EQ(two_steps(false, true), two_steps(false, false));
    EXPECT_EQ(two_steps(true, true), two_steps(false, false));
}

TEST(Lora, RunsBetweenTheHooksOfTheUser)
{
    Only<nn::Linear> net(nn::Linear(3, 3));
    const Tensor x = random_tensor({2, 3}, 1), base = net(x);
    Tensor first, last;
    net.layer.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor& y) { first = y; });
    Lora lora(net, {.target_modules = {"layer"}});
    fill(lora);
    net.layer.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor& y) { last = y; });
    const Tensor y = net(x);
    EXPECT_EQ(bits(first), bits(base));
    EXPECT_EQ(bits(last), bits(y));
    EXPECT_GT(difference(first, last), 1e-2);
}

TEST(Lora, StaysWithAModelAndAnObjectThatAreMoved)
{
    Only<nn::Linear> net(nn::Linear(3, 3));
    const Tensor x = random_tensor({2, 3}, 1), base = net(x);
    std::optional<Lora> lora(Lora(net, {.target_modules = {"layer"}}));
    fill(*lora);
    const Tensor y = net(x);
    Only<nn::Linear> moved(std::move(net.layer));
    EXPECT_EQ(bits(moved(x)), bits(y));
    Lora other = std::move(*lora);
    lora.reset();
    EXPECT_EQ(bits(moved(x)), bits(y));
    other.unload();
    EXPECT_EQ(bits(moved(x)), bits(base));
}

// ---- dtypes ----

TEST(Lora, AdaptersOfLowPrecisionWeightsAreF32)
{
    for (const DType dtype : {f16, bf16}) {
        Only<nn::Linear> net(nn::Linear(8, 4));
        const Tensor x = random_tensor({3, 8}, 1);
        net.to(dtype);
        const Tensor base = net(x.to(dtype));
        Lora lora(net, {.target_modules = {"layer"}});
        fill(lora);
        const Tensor y = net(x.to(dtype));
        EXPECT_EQ(y.dtype(), dtype);
        const Tensor a = value(lora, "layer.lora_A.weight"), b = value(lora, "layer.lora_B.weight");
        EXPECT_EQ(a.dtype(), f32);
        const Tensor want = cast(base, f32) + matmul(matmul(x.to(dtype).to(f32), a.t()), b.t());
        EXPECT_EQ(bits(y), bits(want.to(dtype)));
        const test::Bits weight = bits(net.layer.weight);
        net.eval();
        lora.merge();
        EXPECT_LE(difference(net(x.to(dtype)), want), 0.1);
        lora.unmerge();
        EXPECT_EQ(bits(net.layer.weight), weight);
    }
}

TEST(Lora, AutocastComputesProductsInTheLowDtype)
{
    Only<nn::Linear> net(nn::Linear(8, 4));
    Lora lora(net, {.target_modules = {"layer"}});
    fill(lora);
    const Tensor x = random_tensor({3, 8}, 1);
    const auto low = [](const Tensor& t) { return cast(t, bf16); };
    const Tensor a = low(value(lora, "layer.lora_A.weight")), b = low(value(lora, "layer.lora_B.weight"));
    const Tensor want =
        linear(low(x), low(net.layer.weight), low(net.layer.bias)) + linear(linear(low(x), a), b);
    const autocast guard;
    const Tensor y = net(x);
    EXPECT_EQ(y.dtype(), bf16);
    EXPECT_EQ(bits(y), bits(want));
    sum(y).backward();
    for (const Variable& p : lora.parameters()) EXPECT_EQ(p.grad().dtype(), f32);
}

// ---- states ----

TEST(Lora, ProgramsRefuseAnotherStateOfTheAdapters)
{
    Net net;
    net.eval();
    Lora lora(net, everything);
    fill(lora);
    const Tensor x = indices(2, 4), adapted = net(x);
    auto program = record([&](Tensor in) { return net(in); }, {spec({symbol("n"), 4}, i32)});
    EXPECT_EQ(bits(program(x)), bits(adapted));
    lora.merge();
    EXPECT_EQ(error_of([&] { return program(x); }).kind, ErrorKind::state);
    lora.unmerge();
    EXPECT_EQ(bits(program(x)), bits(adapted));
    lora.enable(false);
    EXPECT_GT(difference(net(x), adapted), 1e-3);
    EXPECT_THAT(error_of([&] { return program(x); }).text, HasSubstr("adapters"));
    lora.enable();
    EXPECT_EQ(bits(net(x)), bits(adapted));
}

TEST(Lora, MergeAndUnloadKeepsTheMergedWeights)
{
    Net net;
    net.eval();
    const Tensor x = indices(2, 4);
    Tensor adapted;
    {
        Lora lora(net, everything);
        fill(lora);
        adapted = net(x);
        lora.merge_and_unload();
        EXPECT_EQ(error_of([&] {
                      lora.merge();
                      return 0;
                  }).kind,
                  ErrorKind::state);
    }
    EXPECT_LE(difference(net(x), adapted), 1e-5);
    EXPECT_TRUE(net.fc.weight.requires_grad());
    net.train();
    sum(net(x)).backward();
}

TEST(Lora, TheEndOfAMergedLoraRestoresTheWeights)
{
    Net net;
    const auto weight = bits(net.fc.weight);
    {
        Lora lora(net, everything);
        fill(lora);
        lora.merge();
        EXPECT_NE(bits(net.fc.weight), weight);
    }
    EXPECT_EQ(bits(net.fc.weight), weight);
}

// ---- names and errors ----

TEST(Lora, SelectsByPeftsRules)
{
    nn::Sequential blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(nn::make<Net>());
    const auto targets = [&](nn::LoraOptions options) { return Lora(blocks, std::move(options)).targets(); };
    EXPECT_THAT(targets({.target_modules = {"1.fc", "head"}}),
                ElementsAre("0.head", "1.fc", "1.head", "2.head"));
    EXPECT_THAT(targets({.target_modules = "[01]\\.(fc|mix)"}),
                ElementsAre("0.mix", "0.fc", "1.mix", "1.fc"));
    EXPECT_THAT(targets({.target_modules = "all-linear", .exclude_modules = {"head", "out_proj"}}),
                ElementsAre("0.fc", "1.fc", "2.fc"));
    EXPECT_THAT(
        targets({.target_modules = {"fc", "head"}, .exclude_modules = "0.*", .modules_to_save = {"1"}}),
        ElementsAre("2.fc", "2.head"));
    EXPECT_TRUE(nn::ModuleNames({"query"}).contains("layer.query"));
    EXPECT_FALSE(nn::ModuleNames({"query"}).contains("layer.subquery"));
    EXPECT_FALSE(nn::ModuleNames("query").contains("layer.query"));
}

TEST(Lora, TellsWhatIsWrong)
{
    Net net;
    nn::Sequential grouped(nn::Conv1d(4, 4, {.kernel_size = 1, .groups = 2}));
    const auto refused = [](nn::Module& model, nn::LoraOptions options) {
        return error_of([&] { return Lora(model, std::move(options)).scale(); });
    };
    const auto expect = [](const Caught& caught, ErrorKind kind, const char* part) {
        EXPECT_EQ(caught.kind, kind) << caught.text;
        EXPECT_THAT(caught.text, HasSubstr(part));
    };
    expect(refused(net, {.target_modules = {"query"}}), ErrorKind::argument, "select none");
    expect(refused(net, {}), ErrorKind::argument, "target_modules are empty");
    expect(refused(net, {.rank = 0, .target_modules = {"fc"}}), ErrorKind::argument, "rank (0)");
    expect(refused(net, {.dropout = 1.5, .target_modules = {"fc"}}), ErrorKind::argument, "dropout (1.5)");
    expect(refused(net, {.target_modules = {"norm"}}), ErrorKind::argument, "module (norm) is a (LayerNorm)");
    expect(refused(net, {.target_modules = "fc("}), ErrorKind::argument, "no regular expression");
    expect(refused(net, {.target_modules = {"fc"}, .modules_to_save = {"tail"}}), ErrorKind::argument,
           "modules_to_save");
    expect(refused(grouped, {.target_modules = {"0"}}), ErrorKind::argument, "(2) groups");
    for (const Variable& p : net.parameters()) EXPECT_TRUE(p.requires_grad());

    Lora lora(net, everything);
    expect(refused(net, {.target_modules = {"fc"}}), ErrorKind::state,
           "weight of (fc) has an adapter already");
    EXPECT_FALSE(net.fc.weight.requires_grad());
    const auto call = [](auto f) {
        return error_of([&] {
            f();
            return 0;
        });
    };
    expect(call([&] { lora.unmerge(); }), ErrorKind::state, "call merge() first");
    lora.merge();
    expect(call([&] { lora.merge(); }), ErrorKind::state, "call unmerge() first");
    expect(call([&] { lora.enable(false); }), ErrorKind::state, "unmerge() before enable()");
    expect(call([&] { net(indices(2, 3)); }), ErrorKind::state, "merged and would get no gradient");
    {
        const no_grad guard;
        net(indices(2, 3));
    }
    lora.unload();
    expect(call([&] { lora.merge(); }), ErrorKind::state, "before unload()");
    expect(call([&] {
               record(
                   [&](Tensor x) {
                       Lora inside(net, everything);
                       return x;
                   },
                   {spec({1})});
           }),
           ErrorKind::state, "while a program is recorded");
}

TEST(Lora, AWeightHasOneAdapter)
{
    Net net;
    const Lora first(net, {.target_modules = {"fc"}});
    const Lora second(net, {.target_modules = {"head"}}); // another layer of the same model
    EXPECT_THAT(second.targets(), ElementsAre("head"));
    Net tied;
    tied.fc.weight = tied.attention.out_proj.weight;
    const auto attach = [&] { return Lora(tied, {.target_modules = {"fc", "out_proj"}}).scale(); };
    EXPECT_EQ(error_of(attach).kind, ErrorKind::state);
    EXPECT_THAT(Lora(tied, {.target_modules = {"fc"}}).targets(),
                ElementsAre("fc")); // nothing was left behind
}

struct Words : nn::Module { // every kind of layer whose weight can be quantised
    nn::Embedding words{16, 32};
    nn::MultiheadAttention attention{32, 2, {.batch_first = true}};
    nn::Linear head{32, 4};
    Words()
    {
        register_module("words", words);
        register_module("attention", attention);
        register_module("head", head);
    }
    Tensor forward(Tensor x) override { return head(tanh(attention(words(x)))); }
};

// Over weights of 4 bits adapters train as over the dequantised ones; the frozen bytes do not change.
TEST(Lora, OverQuantisedWeights)
{
    Words quantised, plain;
    plain.load_state_dict(quantised.state_dict());
    nn::quantize(quantised, {.format = QuantizedFormat::q4_0, .embeddings = true});
    plain.words.weight.assign(dequantize(quantised.words.quantized_weight));
    plain.attention.in_proj_weight.assign(dequantize(quantised.attention.quantized_in_proj_weight));
    plain.attention.out_proj.weight.assign(dequantize(quantised.attention.out_proj.quantized_weight));
    plain.head.weight.assign(dequantize(quantised.head.quantized_weight));
    const nn::LoraOptions options{.rank = 3, .target_modules = {"words", "attention", "head"}};
    Lora over_bits(quantised, options), over_floats(plain, options);
    EXPECT_THAT(over_bits.targets(), ElementsAre("words", "attention", "attention.out_proj", "head"));
    fill(over_bits);
    { // The softmax of large scores would magnify the order of CUDA's sums.
        const no_grad guard;
        for (Variable p : over_bits.parameters()) p.assign(p * 0.3);
    }
    over_floats.load_state_dict(over_bits.state_dict());
    const auto before = quantised.state_dict();
    const Tensor indices = tensor({3, 1, 15, 0, 7, 7, 2, 12, 9, 4}).reshape({5, 2});
    for (auto* const lora : {&over_bits, &over_floats}) {
        Words& net = lora == &over_bits ? quantised : plain;
        optim::SGD optimizer(lora->parameters(), {.lr = 0.01});
        const auto step = record(
            [&](Tensor x) {
                const Tensor y = net(x), loss = mean(y * y);
                optimizer.zero_grad();
                loss.backward();
                optimizer.step();
                return loss;
            },
            {spec({symbol("batch"), 2}, i64)});
        for (const std::int64_t batch : {5, 2, 5}) static_cast<void>(step(narrow(indices, 0, 0, batch)));
    }
    for (const auto& [name, trained] : over_bits.state_dict())
        EXPECT_LT(difference(trained, over_floats.state_dict().at(name)), 1e-6) << name;
    for (const auto& [name, bytes] : quantised.state_dict()) {
        if (bytes.dtype() != u8) continue;
        EXPECT_EQ(bytes.to_vector<std::uint8_t>(), before.at(name).to_vector<std::uint8_t>()) << name;
    }
    const Caught caught = error_of([&] {
        over_bits.merge();
        return 0;
    });
    EXPECT_EQ(caught.kind, ErrorKind::unsupported);
    EXPECT_THAT(caught.text, HasSubstr("The weight of (words) is (q4_0)"));
}

TEST(Lora, RefusesALayerThatIsQuantisedLater)
{
    Words net;
    const Lora lora(net, {.target_modules = {"words", "attention", "head"}});
    nn::quantize(net, {.embeddings = true});
    const auto run = [&] { return net(tensor({1, 2}).reshape({1, 2})); };
    EXPECT_THAT(error_of(run).text,
                HasSubstr("The layer (words) was quantised after its adapter was attached"));
}

} // namespace

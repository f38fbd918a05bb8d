// Recurrent networks and attention against PyTorch's numbers (in f64).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::ElementsAre;
using testing::HasSubstr;

void fill(const nn::Module& net)
{
    std::uint32_t seed = 1;
    for (Variable p : net.parameters()) p.assign(drawn(sizes_of(p), seed++));
}

void expect_near(const char* what, const Tensor& found, const Floats& want)
{
    const Floats values = found.to_vector<float>();
    ASSERT_EQ(values.size(), want.size()) << what;
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(values[i], want[i], 3e-5 * std::max(1.0f, std::abs(want[i]))) << what << " " << i;
}

void backward(const std::vector<Tensor>& outputs)
{
    Tensor loss = zeros({});
    std::uint32_t seed = 70;
    for (const Tensor& y : outputs) loss = loss + sum(y * drawn(sizes_of(y), seed++));
    loss.backward();
}

Tensor input(const Sizes& sizes = {3, 2, 3}) { return drawn(sizes, 50).requires_grad_(); }

Variable parameter(const nn::Module& net, const std::string& name) { return net.named_parameters()[name]; }

TEST(LSTM, HasTwoLayersInBothDirections)
{
    nn::LSTM net(3, 2, {.num_layers = 2, .bidirectional = true});
    fill(net);
    const Tensor x = input();
    const auto [y, last] = net(x, {});
    expect_near("output", y, {0.0870693,  -0.09383358, 0.2698932,   -0.3676572, 0.0496016,  -0.1274045,
                              0.2119148,  -0.3772173,  0.02853241,  -0.1951786, 0.3041546,  -0.2468822,
                              0.02777851, -0.1832231,  0.3167667,   -0.2528633, 0.00217362, -0.1771612,
                              0.2515754,  -0.1211146,  0.004417443, -0.207155,  0.2404515,  -0.139629});
    expect_near("h", std::get<0>(last),
                {0.03164626, -0.2094213, 0.142411, -0.2085607, 0.08063166, -0.2384011, -0.2824378, -0.1856715,
                 0.00217362, -0.1771612, 0.004417443, -0.207155, 0.2698932, -0.3676572, 0.2119148,
                 -0.3772173});
    expect_near("c", std::get<1>(last),
                {0.2080439, -0.2374894, 0.5400861, -0.268678, 0.1750056, -0.4462045, -0.5342052, -0.5459168,
                 0.008414872, -1.029565, 0.01925906, -1.157461, 0.5352826, -0.4935323, 0.4087284,
                 -0.5086449});
    backward({y, std::get<0>(last), std::get<1>(last)});
    expect_near("dx", x.grad(),
                {0.2457981, -0.04445359, 0.04128181, 0.2713794, -0.5133496, -0.0489765, -0.06932105,
                 0.1311646, 0.08762346, 0.1134562, -0.2267361, -0.1244248, -0.53882, -0.05784348, 0.2115543,
                 0.1122965, -0.2917563, -0.2524934});
    expect_near("weight_hh_l0", parameter(net, "weight_hh_l0").grad(),
                {0.0005608799, -0.01372528, -0.01160085, 0.03112012, 0.00320529, -0.001874192, -0.003828831,
                 0.007776765, 0.05029975, -0.1014785, -0.002545516, -0.01045341, 0.001408326, -0.01609882,
                 -0.0001084086, 0.006754863});
    expect_near(
        "bias_ih_l1_reverse", parameter(net, "bias_ih_l1_reverse").grad(),
        {0.003005247, -0.3381127, -0.007224765, -0.08303031, 0.1588246, 0.1326322, -0.1612662, 0.005632302});
}

TEST(GRU, StartsFromAState)
{
    nn::GRU net(3, 2, {.num_layers = 2, .bidirectional = true});
    fill(net);
    const Tensor x = input();
    const auto [y, h] = net(x, drawn({4, 2, 2}, 60));
    expect_near("output", y, {0.03642204, -0.1834652,  0.5102399,  -0.2344725, 0.01409458,   -0.493258,
                              0.4787527,  0.4427949,   -0.2071671, -0.3529524, 0.7020756,    -0.1409047,
                              -0.2280968, -0.2603444,  0.578589,   0.5539587,  -0.3950772,   -0.2747509,
                              0.8268695,  -0.02676964, -0.2023111, -0.4173754, -0.008349678, 0.7084637});
    expect_near("h", h,
                {0.1332278, -0.4138464, 0.6581943, -0.5037582, 0.18646, -0.3000695, -0.5405119, -0.3639229,
                 -0.3950772, -0.2747509, -0.2023111, -0.4173754, 0.5102399, -0.2344725, 0.4787527,
                 0.4427949});
    backward({y, h});
    expect_near("dx", x.grad(),
                {-0.2306958, -0.1037092, 0.04332906, -0.09854194, -0.1519361, -0.1341691, -0.2029925,
                 -0.302813, -0.1003449, -0.4205365, -0.3073285, 0.2511881, -0.5421735, -0.181538, 0.02013006,
                 -0.01178348, 0.09845252, 0.168222});
    expect_near("weight_hh_l0", parameter(net, "weight_hh_l0").grad(),
                {-0.01284556, -0.01142611, -0.00646031, 0.01692327, 0.05316776, 0.04162176, 0.02816183,
                 -0.02068552, 0.3696354, -0.4177558, -0.007168461, -0.02385121});
    expect_near("bias_hh_l1_reverse", parameter(net, "bias_hh_l1_reverse").grad(),
                {0.06644909, 0.008722196, -0.2049588, -0.1984713, -0.5699303, -0.04593596});
}

TEST(RNN, TakesTheBatchFirst)
{
    nn::RNN net(3, 2, {.batch_first = true, .nonlinearity = nn::Nonlinearity::relu});
    fill(net);
    const Tensor x = input();
    const auto [y, h] = net(x, {});
    expect_near("output", y,
                {0.8072421, 0, 0.4300531, 0, 1.624171, 0, 2.905382, 0, 1.245934, 0, 1.766795, 0});
    expect_near("h", h, {0.4300531, 0, 2.905382, 0, 1.766795, 0});
    backward({y, h});
    expect_near("dx", x.grad(),
                {0.2546256, 0.3976468, -0.5338539, 0.01200903, 0.0187544, -0.0251784, 0.01238746, 0.0193454,
                 -0.02597183, -0.04715942, -0.07364848, 0.09887551, -0.2197689, -0.3432112, 0.4607724,
                 -0.6992438, -1.092003, 1.466051});
    expect_near("weight_hh_l0", parameter(net, "weight_hh_l0").grad(), {-1.983698, 0, 0, 0});
}

TEST(LSTMCell, IsOneStep)
{
    nn::LSTMCell cell(3, 2);
    fill(cell);
    const auto [h, c] = cell(input({2, 3}), {drawn({2, 2}, 60), drawn({2, 2}, 61)});
    expect_near("h", h, {0.1161577, -0.1897161, 0.02718882, -0.143765});
    expect_near("c", c, {0.3739474, -0.236705, 0.03896229, -0.2162501});
    EXPECT_EQ(std::get<0>(cell(ones({3}))).shape(), (Shape{2}));
}

TEST(GRUCell, IsOneStep)
{
    nn::GRUCell cell(3, 2);
    fill(cell);
    const Tensor x = input({2, 3});
    const Tensor h = cell(x, drawn({2, 2}, 60));
    expect_near("h", h, {0.4650099, -0.3769017, 0.417328, -0.2330999});
    backward({h});
    expect_near("dx", x.grad(), {-0.3398196, 0.05557282, -0.09645952, -0.0365268, -0.2167835, 0.1785334});
    EXPECT_EQ(nn::RNNCell(3, 2)(ones({4, 3})).shape(), (Shape{4, 2}));
}

TEST(Recurrent, TakesOneSequenceAndASymbolicBatch)
{
    nn::LSTM net(3, 2, {.num_layers = 2, .dropout = 0.5});
    net.eval();
    EXPECT_EQ(std::get<0>(net(ones({4, 3}))).shape(), (Shape{4, 2}));
    EXPECT_EQ(std::get<1>(std::get<1>(net(ones({4, 3}), {}))).shape(), (Shape{2, 2}));
    const Dim batch = symbol("batch");
    const auto program = record([&](Tensor x) { return net(x); }, {spec({5, batch, 3})});
    for (const int size : {1, 4}) {
        const Tensor x = drawn({5, size, 3});
        const nn::LSTMOutput found = program(x), want = net(x);
        EXPECT_EQ(std::get<0>(found).to_vector<float>(), std::get<0>(want).to_vector<float>()) << size;
        EXPECT_EQ(std::get<1>(std::get<1>(found)).to_vector<float>(),
                  std::get<1>(std::get<1>(want)).to_vector<float>())
            << size;
    }
    EXPECT_THAT(error_of([&] {
                    record([&](Tensor x) { return net(x); }, {spec({symbol("steps"), 2, 3})});
                }).text,
                HasSubstr("(steps) is a symbol"));
}

TEST(Recurrent, RefusesWhatMakesNoSense)
{
    EXPECT_THAT(error_of([] { nn::LSTM(0, 2); }).text, HasSubstr("[LSTM] The input_size (0)"));
    EXPECT_THAT(error_of([] { nn::GRU(1, 2, {.num_layers = 0}); }).text, HasSubstr("num_layers (0)"));
    EXPECT_THAT(error_of([] { nn::RNN(1, 2, {.dropout = 2}); }).text, HasSubstr("(2)"));
    EXPECT_THAT(error_of([] {
                    nn::GRU(1, 2)(ones({3, 4, 1}), ones({2, 4, 2}));
                }).text,
                HasSubstr("first hidden state has the shape ([2, 4, 2]) where ([1, 4, 2])"));
    EXPECT_THAT(error_of([] { nn::GRU(1, 2)(ones({3})); }).text, HasSubstr("([3]) is neither"));
}

void expect_error(const Caught& found, ErrorKind kind, const char* text)
{
    EXPECT_EQ(found.kind, kind);
    EXPECT_THAT(found.text, HasSubstr(text));
}

TEST(Recurrent, RefusesInputsAndStatesThatDoNotFit)
{
    nn::LSTM net(3, 2);
    const Tensor x = ones({5, 4, 3}), h = zeros({1, 4, 2});
    const auto refused = [&](const Tensor& in, const nn::LSTMState& s, ErrorKind kind, const char* text) {
        expect_error(error_of([&] { net(in, s); }), kind, text);
    };
    refused(ones({5, 4, 7}), {}, ErrorKind::shape,
            "[LSTM] The input has the shape ([5, 4, 7]) but its last size must be the input_size (3)");
    refused(ones({5, 4, 3}, {.dtype = f16}), {}, ErrorKind::dtype, "(f16) is not that of the weights (f32)");
    refused(x, {zeros({1, 1, 2}), h}, ErrorKind::shape,
            "The first hidden state has the shape ([1, 1, 2]) where ([1, 4, 2]) is needed");
    refused(x, {h, zeros({1, 3, 2})}, ErrorKind::shape, "The first cell state has the shape ([1, 3, 2])");
    refused(x, {h, zeros({4, 2})}, ErrorKind::shape, "([4, 2]) where ([1, 4, 2])");
    refused(ones({5, 3}), {zeros({1, 1, 2}), {}}, ErrorKind::shape, "([1, 1, 2]) where ([1, 2])");
    refused(x, {h, zeros({1, 4, 2}, {.dtype = f16})}, ErrorKind::dtype,
            "The dtype (f16) of the first cell state is not the input's (f32)");
}

TEST(Recurrent, CellsRefuseInputsAndStatesThatDoNotFit)
{
    nn::LSTMCell cell(3, 2);
    nn::GRUCell gru(3, 2);
    nn::RNNCell rnn(3, 2);
    const Tensor x = ones({4, 3});
    expect_error(error_of([&] {
                     rnn(ones({1, 4, 3}));
                 }),
                 ErrorKind::shape, "[RNNCell] The shape ([1, 4, 3])");
    expect_error(error_of([&] { gru(ones({4, 2})); }), ErrorKind::shape, "must be the input_size (3)");
    expect_error(error_of([&] {
                     gru(x, zeros({1, 2}));
                 }),
                 ErrorKind::shape,
                 "[GRUCell] The first hidden state has the shape ([1, 2]) where ([4, 2]) is needed");
    expect_error(error_of([&] { rnn(x, zeros({2})); }), ErrorKind::shape, "([2]) where ([4, 2])");
    expect_error(error_of([&] {
                     cell(x, {zeros({4, 2}), zeros({4, 3})});
                 }),
                 ErrorKind::shape, "[LSTMCell] The first cell state has the shape ([4, 3])");
    expect_error(error_of([&] { gru(x, zeros({4, 2}, {.dtype = i32})); }), ErrorKind::dtype, "(i32)");
    EXPECT_EQ(std::get<1>(cell(ones({3}), {zeros({2}), zeros({2})})).shape(), (Shape{2}));
}

// A batch of another symbol is compared at the call.
TEST(Recurrent, ComparesSymbolicBatches)
{
    nn::GRU net(3, 2);
    const Program program = record([&](Tensor x, Tensor h) { return std::get<0>(net(x, h)); },
                                   {spec({2, symbol("batch"), 3}), spec({1, symbol("states"), 2})});
    EXPECT_EQ(program(ones({2, 5, 3}), zeros({1, 5, 2})).shape(), (Shape{2, 5, 2}));
    EXPECT_EQ(error_of([&] { program(ones({2, 5, 3}), zeros({1, 1, 2})); }).kind, ErrorKind::shape);
    // as many elements in another order
    nn::GRU two(3, 2, {.num_layers = 2});
    const Dim batch = symbol("batch");
    const auto record_two = [&] {
        record([&](Tensor x, Tensor h) { return std::get<0>(two(x, h)); },
               {spec({2, batch, 3}), spec({batch, 2, 2})});
    };
    EXPECT_EQ(error_of(record_two).kind, ErrorKind::shape);
}

TEST(MultiheadAttention, AttendsToItself)
{
    nn::MultiheadAttention net(4, 2);
    fill(net);
    const Tensor x = input({3, 2, 4});
    const auto [y, weights] = net(x, x, x);
    expect_near("output", y,
                {0.6246699, 0.3571153, -1.2168,   0.08555414, 0.5595597, -0.6792278, -0.9086608, 0.8417741,
                 0.6950989, 0.269839,  -1.174499, 0.1368681,  0.5442319, -0.2295742, -1.080315,  0.4383499,
                 0.670077,  0.2871563, -1.193161, 0.1029217,  0.5608836, -0.4945589, -0.975884,  0.6486098});
    expect_near("weights", weights,
                {0.2660935, 0.4271351, 0.3067713, 0.2747276, 0.3593622, 0.3659102, 0.2983447, 0.3646154,
                 0.3370399, 0.4262987, 0.2325875, 0.3411138, 0.2805997, 0.5023193, 0.2170811, 0.3662922,
                 0.3377186, 0.2959891});
    backward({y, weights});
    expect_near("dx", x.grad(), {-0.1196011, -0.2801765, 0.3125268,  0.1499827,  0.3017585,   0.5397577,
                                 -0.8139057, 0.09401293, 0.2685085,  -0.386932,  -0.1140015,  -0.06036482,
                                 -0.4058128, -0.8660425, -0.447617,  0.8016753,  0.1982906,   -0.0307148,
                                 0.05752173, -0.2040784, -0.1319188, -0.2939707, -0.08869929, 0.5512935});
    expect_near("in_proj_weight", net.in_proj_weight.grad(),
                {-0.3577345,   0.03105052, -0.1057034,  0.4062592,  -0.04413364, -0.1078429,  -0.1440091,
                 -0.007835026, 0.2212065,  -0.07209666, 0.1150429,  -0.3532352,  0.161485,    -0.07126726,
                 0.08157363,   -0.2650412, -0.6908547,  -0.4920125, -0.5107016,  0.5773261,   -0.9482409,
                 -1.000924,    -0.9249874, 0.6927213,   0.05187956, -0.08886953, -0.01945284, -0.1449597,
                 -0.2005376,   0.4868939,  0.2632017,   0.3393934,  -0.1984059,  -0.3416837,  -0.04793952,
                 -0.1965552,   -0.1028751, -0.08354677, -0.222173,  0.2080842,   0.2819203,   0.2185878,
                 0.3350432,    -0.1041996, -0.5502308,  -0.5512242, -0.8066779,  0.3022311});
    expect_near("out_proj.bias", net.out_proj.bias.grad(), {1.482673, -1.959278, -1.171835, -0.3365021});
}

TEST(MultiheadAttention, JoinsMasks)
{
    nn::MultiheadAttention net(4, 2, {.batch_first = true});
    fill(net);
    const Tensor x = input({3, 2, 4});
    const Tensor turned = transpose(x, 0, 1);
    const Tensor padding = from_vector(std::vector<bool>{false, false, true, false, false, false}, {2, 3});
    const Tensor later = triu(ones({3, 3}, {.dtype = boolean}), 1);
    const auto [y, weights] =
        net(turned, turned, turned,
            {.key_padding_mask = padding, .attn_mask = later, .average_attn_weights = false});
    expect_near("output", y, {0.8139685, 0.04024405, -1.277557, -0.02473249, 0.8250248, 0.3986629,
                              -1.153608, 0.3079384,  0.7656648, 0.4147264,   -1.191211, 0.2326241,
                              0.5099174, -1.55922,   -0.514476, 2.421417,    0.4563052, -0.05759221,
                              -1.133422, 0.2869633,  0.5608836, -0.4945589,  -0.975884, 0.6486098});
    expect_near("weights", weights, {1, 0, 0, 0.3668156, 0.6331844, 0, 0.4177159, 0.5822841, 0,
                                     1, 0, 0, 0.4917694, 0.5082306, 0, 0.4799211, 0.5200789, 0,
                                     1, 0, 0, 0.3290877, 0.6709123, 0, 0.3098704, 0.4349696, 0.25516,
                                     1, 0, 0, 0.3899233, 0.6100767, 0, 0.4227141, 0.2404677, 0.3368182});
    backward({y, weights});
    expect_near("dx", x.grad(), {0.4444645,   0.03228475, -1.09871,   0.7136899,   -0.3194738, -0.6162788,
                                 -1.134811,   0.8225209,  0.8370243,  -0.03577916, -0.1853736, -0.8019487,
                                 0.1376321,   0.7631864,  0.09547362, -0.7011055,  0.03913419, -0.05056269,
                                 -0.03070285, 0.09715283, -0.3292886, -0.4426516,  0.2249535,  0.4545981});
    // The same by is_causal, and by numbers that are added.
    const Floats want = y.to_vector<float>();
    const Tensor causal =
        std::get<0>(net(turned, turned, turned, {.key_padding_mask = padding, .is_causal = true}));
    const Tensor added = masked_fill(zeros({2, 3}), padding, -std::numeric_limits<double>::infinity());
    const Tensor mixed =
        std::get<0>(net(turned, turned, turned, {.key_padding_mask = added, .attn_mask = later}));
    expect_near("is_causal", causal, want);
    expect_near("mixed masks", mixed, want);
}

TEST(MultiheadAttention, AttendsToOthers)
{
    nn::MultiheadAttention net(4, 2, {.bias = false, .kdim = 3, .vdim = 6});
    fill(net);
    const Tensor x = input({3, 2, 4});
    const auto [y, weights] =
        net(x, drawn({5, 2, 3}, 51), drawn({5, 2, 6}, 52), {.attn_mask = drawn({4, 3, 5}, 53)});
    expect_near("output", y, {0.1951761,   -0.1658935, 0.3753759,  0.112399,    -0.5074052, -0.421823,
                              -0.5000062,  -0.4384941, 0.6143243,  0.005423693, 0.08883143, -0.1094244,
                              -0.09796081, -0.1311969, -0.6099146, -0.439312,   0.1171611,  0.02869713,
                              0.3778405,   0.2864421,  0.03320819, -0.6059431,  -0.6734956, -0.5861065});
    expect_near("weights", weights,
                {0.290367,  0.2253461, 0.1943145,  0.1996396, 0.09033279, 0.2026553, 0.2131033, 0.1077998,
                 0.3198213, 0.1566202, 0.09687341, 0.118044,  0.3601326,  0.2751026, 0.1498474, 0.2817139,
                 0.2186032, 0.1755744, 0.09975664, 0.2243518, 0.2227292,  0.1722949, 0.135145,  0.1524163,
                 0.3174146, 0.2438369, 0.1378365,  0.2628053, 0.2371979,  0.1183235});
    backward({y, weights});
    expect_near("dx", x.grad(), {0.2364409,   -0.2206664, 0.1135396,  0.3715551,  -0.005424441, 0.2349934,
                                 -0.1771666,  -0.2707064, 0.1173706,  -0.332067,  0.2496153,    0.4334056,
                                 -0.03241309, 0.2352928,  -0.1736137, -0.2833612, -0.08259011,  0.03751621,
                                 0.1395795,   -0.1194371, 0.05248111, -0.2696547, 0.1693827,    0.3377435});
    expect_near("k_proj_weight", net.k_proj_weight.grad(),
                {0.2221564, -0.06436668, 0.03225535, 0.2486116, -0.1867877, 0.000706141, -0.2912534,
                 0.1233302, 0.266802, -0.1414316, 0.06627509, -0.1719071});
}

TEST(MultiheadAttention, TakesOneSequenceAndSymbolicSizes)
{
    nn::MultiheadAttention net(4, 2, {.dropout = 0.5, .batch_first = true});
    net.eval();
    EXPECT_EQ(net(ones({3, 4})).shape(), (Shape{3, 4}));
    const Dim batch = symbol("batch"), steps = symbol("steps");
    const Program program = record([&](Tensor x) { return net(x); }, {spec({batch, steps, 4})});
    for (const int size : {1, 4}) {
        const Tensor x = drawn({size, size + 2, 4});
        EXPECT_EQ(program(x).to_vector<float>(), net(x).to_vector<float>()) << size;
    }
    EXPECT_THAT(error_of([] { nn::MultiheadAttention(4, 3); }).text,
                HasSubstr("no multiple of the (3) heads"));
    EXPECT_THAT(error_of([] { nn::MultiheadAttention(4, 2)(ones({3})); }).text, HasSubstr("([3])"));
    const Tensor x = ones({1, 3, 4});
    EXPECT_EQ(error_of([&] {
                  net(x, x, x, {.attn_mask = ones({3, 3}, {.dtype = i32})});
              }).kind,
              ErrorKind::dtype);
}

TEST(RotaryEmbedding, TurnsPairsByPosition)
{
    const double angle = 2 / std::pow(100.0, 0.5); // of the second pair at position 2
    const Tensor x = from_vector<float>({1, 2, 3, 4}, {1, 4});
    nn::RotaryEmbedding halves(4, {.base = 100}), neighbours(4, {.base = 100, .interleaved = true});
    const double c = std::cos(2.0), s = std::sin(2.0), d = std::cos(angle), t = std::sin(angle);
    const auto f = [](double v) { return static_cast<float>(v); };
    expect_near("halves", halves(x, 2), {f(c - 3 * s), f(2 * d - 4 * t), f(3 * c + s), f(4 * d + 2 * t)});
    expect_near("neighbours", neighbours(x, 2),
                {f(c - 2 * s), f(2 * c + s), f(3 * d - 4 * t), f(4 * d + 3 * t)});
    EXPECT_EQ(halves(x).to_vector<float>(), (Floats{1, 2, 3, 4}));
    EXPECT_TRUE(halves.state_dict().empty());
    const Dim steps = symbol("steps");
    const Program program = record([&](Tensor y) { return halves(y); }, {spec({2, steps, 4})});
    const Tensor y = drawn({2, 7, 4});
    EXPECT_EQ(program(y).to_vector<float>(), halves(y).to_vector<float>());
    const Tensor elsewhere = y.to(Device("reference")); // also where the module was made on another device
    const std::vector<float> there = halves(elsewhere).to_vector<float>(),
                             here = halves(y).to_vector<float>();
    for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-5) << i;
    EXPECT_THAT(error_of([] { nn::RotaryEmbedding(3); }).text, HasSubstr("(3) features do not make pairs"));
    EXPECT_THAT(error_of([&] { halves(ones({2, 6})); }).text, HasSubstr("([2, 6]) is not [..., length, 4]"));
}

TEST(TransformerEncoderLayer, NormsBeforeOrBehind)
{
    const Tensor x = drawn({3, 2, 4}, 50);
    nn::TransformerEncoderLayer behind(
        4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = nn::TransformerActivation::gelu});
    fill(behind);
    expect_near("behind", behind(x),
                {1.223116, 0.3418138, -0.6561289, 0.2546034, 1.29542,  0.2344136, -0.2329514, 0.1708006,
                 1.308217, 0.3406493, -0.2017591, 0.1312872, 1.234045, 0.340426,  -0.6365313, 0.2473815,
                 1.222024, 0.3379298, -0.6541888, 0.2555851, 1.196583, 0.3053953, -0.6575648, 0.2730871});
    nn::TransformerEncoderLayer before(4, 2,
                                       {.dim_feedforward = 6,
                                        .dropout = 0,
                                        .activation = nn::TransformerActivation::gelu,
                                        .norm_first = true});
    fill(before);
    expect_near("before", before(x),
                {1.678484,  -1.558692,  -0.668251, 1.624585, 0.4570162, -1.601674,  -0.8369957, 2.31953,
                 0.9723523, -0.4484386, 0.3769523, 1.70207,  2.052312,  -0.3996544, 0.021516,   1.968023,
                 1.871032,  -1.083563,  -0.10114,  2.30218,  1.292056,  -1.914221,  -0.898342,  1.850283});
    EXPECT_TRUE(before.state_dict().contains("self_attn.out_proj.weight"));
}

} // namespace

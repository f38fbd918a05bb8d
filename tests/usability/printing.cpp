// Tensors as text, beside what PyTorch prints for the same.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include <reprise/reprise.hpp>

namespace torch = reprise;

namespace {

#define SAYS(call, text) EXPECT_EQ(torch::to_string call, text) << #call

TEST(Printing, EqualsPyTorch)
{
    const torch::Tensor x = torch::arange(6, torch::kFloat32).view({2, 3});
    SAYS((torch::tensor({1.0, 1e6, 1e-3})), "tensor([1.0000e+00, 1.0000e+06, 1.0000e-03])");
    SAYS((torch::tensor({0.00001, 1.0})), "tensor([1.0000e-05, 1.0000e+00])");
    SAYS((torch::tensor({1.0, 100000.0})), "tensor([1.0000e+00, 1.0000e+05])");
    SAYS((torch::tensor({1e9, 1.0})), "tensor([1.0000e+09, 1.0000e+00])");
    SAYS((torch::tensor({-1.5, 22.25, 333.125})), "tensor([ -1.5000,  22.2500, 333.1250])");
    SAYS((x / torch::zeros({2, 3})), R"(tensor([[nan, inf, inf],
        [inf, inf, inf]]))");
    SAYS((torch::log(x - 1)), R"(tensor([[   nan,   -inf, 0.0000],
        [0.6931, 1.0986, 1.3863]]))");
    SAYS((torch::arange(2000).to(torch::kFloat32).view({2, 1000})),
         R"(tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,
         9.9900e+02],
        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,
         1.9990e+03]]))");
    SAYS((torch::arange(40)),
         R"(tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39], dtype=i32))");
    SAYS((torch::arange(2400).view({20, 10, 12})), R"(tensor([[[   0,    1,    2,  ...,    9,   10,   11],
         [  12,   13,   14,  ...,   21,   22,   23],
         [  24,   25,   26,  ...,   33,   34,   35],
         ...,
         [  84,   85,   86,  ...,   93,   94,   95],
         [  96,   97,   98,  ...,  105,  106,  107],
         [ 108,  109,  110,  ...,  117,  118,  119]],

        [[ 120,  121,  122,  ...,  129,  130,  131],
         [ 132,  133,  134,  ...,  141,  142,  143],
         [ 144,  145,  146,  ...,  153,  154,  155],
         ...,
         [ 204,  205,  206,  ...,  213,  214,  215],
         [ 216,  217,  218,  ...,  225,  226,  227],
         [ 228,  229,  230,  ...,  237,  238,  239]],

        [[ 240,  241,  242,  ...,  249,  250,  251],
         [ 252,  253,  254,  ...,  261,  262,  263],
         [ 264,  265,  266,  ...,  273,  274,  275],
         ...,
         [ 324,  325,  326,  ...,  333,  334,  335],
         [ 336,  337,  338,  ...,  345,  346,  347],
         [ 348,  349,  350,  ...,  357,  358,  359]],

        ...,

        [[2040, 2041, 2042,  ..., 2049, 2050, 2051],
         [2052, 2053, 2054,  ..., 2061, 2062, 2063],
         [2064, 2065, 2066,  ..., 2073, 2074, 2075],
         ...,
         [2124, 2125, 2126,  ..., 2133, 2134, 2135],
         [2136, 2137, 2138,  ..., 2145, 2146, 2147],
         [2148, 2149, 2150,  ..., 2157, 2158, 2159]],

        [[2160, 2161, 2162,  ..., 2169, 2170, 2171],
         [2172, 2173, 2174,  ..., 2181, 2182, 2183],
         [2184, 2185, 2186,  ..., 2193, 2194, 2195],
         ...,
         [2244, 2245, 2246,  ..., 2253, 2254, 2255],
         [2256, 2257, 2258,  ..., 2265, 2266, 2267],
         [2268, 2269, 2270,  ..., 2277, 2278, 2279]],

        [[2280, 2281, 2282,  ..., 2289, 2290, 2291],
         [2292, 2293, 2294,  ..., 2301, 2302, 2303],
         [2304, 2305, 2306,  ..., 2313, 2314, 2315],
         ...,
         [2364, 2365, 2366,  ..., 2373, 2374, 2375],
         [2376, 2377, 2378,  ..., 2385, 2386, 2387],
         [2388, 2389, 2390,  ..., 2397, 2398, 2399]]], dtype=i32))");
    SAYS((torch::ones({2}, torch::kHalf)), "tensor([1., 1.], dtype=f16)");
    SAYS((torch::ones({2, 2, 2})), R"(tensor([[[1., 1.],
         [1., 1.]],

        [[1., 1.],
         [1., 1.]]]))");
    SAYS((torch::ones({2}).requires_grad_()), "tensor([1., 1.], requires_grad=True)");
    SAYS((torch::zeros({2, 0}, torch::kLong)), "tensor([], size=[2, 0], dtype=i64)");
    try {
        torch::zeros({1}, torch::kDouble);
    } catch (const torch::Error& error) {
        EXPECT_EQ(error.kind(), torch::ErrorKind::unsupported); // the device has no f64
        return;
    }
    SAYS((torch::rand({30}, torch::kDouble) * 0 + 0.123456),
         R"(tensor([0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235,
        0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235,
        0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235,
        0.1235, 0.1235, 0.1235], dtype=f64))");
}

TEST(Printing, OfWhatHasNoValues)
{
    SAYS((torch::Tensor()), "tensor(undefined)");
    std::string text;
    const torch::Dim n = torch::symbol("n");
    torch::record(
        [&](torch::Tensor x) {
            text = torch::to_string(x + 1);
            return x;
        },
        {torch::spec({n, 3})});
    EXPECT_EQ(text, "tensor(<f32[n, 3], made by add while recording>)");
}

TEST(Printing, OfTheTape)
{
    const torch::Tensor x = torch::ones({2}).requires_grad_();
    SAYS((x * 2), "tensor([2., 2.], grad_fn=<mul>)");
}

TEST(Printing, OfOtherThings)
{
    std::ostringstream out;
    out << torch::kHalf << ' ' << torch::zeros({2, 3}).shape() << ' '
        << torch::CreationOptions{.dtype = torch::kLong, .requires_grad = false} << ' '
        << torch::Device("reference");
    EXPECT_EQ(out.str(), "f16 [2, 3] i64, default device reference");
}

} // namespace

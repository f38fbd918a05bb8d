// The functions of the dynamic room beside the plain ops that they are, at sizes n and m.
#pragma once
#include <string>
#include <utility>

#include "dynamic/common.hpp"

namespace reprise::test {

struct Row {
    std::string name;
    std::function<std::vector<Shape>(const Dim& n, const Dim& m)> inputs;
    std::function<DynamicGradientFunction(const Dim& n, const Dim& m)> dynamic;
    std::function<Tensor(const Tensors&, const Dim& n, const Dim& m)> plain;
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {{3, 4}, {5, 2}, {1, 1}, {0, 3}};
};

inline const std::vector<Row>& rows()
{
    using Sizes = std::vector<Shape>;
    const auto product = [](const Dim&, const Dim&) { return DynamicMatMulBackward(); };
    const auto plain_product = [](const Tensors& in, const Dim&, const Dim&) { return matmul(in[0], in[1]); };
    static const ConvOptions<2> strided{.stride = {2, 1}, .padding = {1, 0}};
    static const ConvOptions<2> same{.padding = "same", .dilation = 2, .groups = 2};
    static const std::vector<Row> all{
        {"matmul",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, 3}, {3, m}};
         },
         product, plain_product},
        {"matmul_tall",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, m, 3}, {3, 2}};
         },
         product, plain_product},
        {"matmul_batch",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, m, 2, 3}, {n, m, 3, 2}};
         },
         product, plain_product},
        {"matmul_broadcast",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, 1, 2, 3}, {m, 3, 2}};
         },
         product, plain_product},
        {"matmul_vector",
         [](const Dim& n, const Dim& m) {
             return Sizes{{m, n}, {n}};
         },
         product, plain_product},
        {"conv2d",
         [](const Dim& n, const Dim& m) {
             return Sizes{{2, 2, n, m}, {3, 2, 3, 2}, {3}};
         },
         [](const Dim&, const Dim&) { return DynamicConv2DBackward(strided); },
         [](const Tensors& in, const Dim&, const Dim&) { return conv2d(in[0], in[1], in[2], strided); },
         {{5, 4}, {6, 7}, {2, 2}}},
        {"conv2d_same",
         [](const Dim& n, const Dim& m) {
             return Sizes{{2, n, m}, {4, 1, 2, 3}};
         },
         [](const Dim&, const Dim&) { return DynamicConv2DBackward(same); },
         [](const Tensors& in, const Dim&, const Dim&) { return conv2d(in[0], in[1], {}, same); },
         {{5, 4}, {3, 7}, {1, 1}}},
        {"conv2d_batch",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, 1, m, 3}, {2, 1, 1, 1}};
         },
         [](const Dim&, const Dim&) { return DynamicConv2DBackward(); },
         [](const Tensors& in, const Dim&, const Dim&) { return conv2d(in[0], in[1]); },
         {{3, 4}, {2, 5}, {1, 1}, {0, 3}}},
        {"reshape",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, m, 2}};
         },
         [](const Dim& n, const Dim& m) {
             return DynamicReshapeBackward({m * n, 2});
         },
         [](const Tensors& in, const Dim& n, const Dim& m) {
             return reshape(in[0], {m * n, 2});
         }},
        {"reshape_inferred",
         [](const Dim& n, const Dim& m) {
             return Sizes{{n, 6, m}};
         },
         [](const Dim&, const Dim& m) {
             return DynamicReshapeBackward({-1, m, 3});
         },
         [](const Tensors& in, const Dim&, const Dim& m) {
             return reshape(in[0], {-1, m, 3});
         }},
        {"broadcast",
         [](const Dim&, const Dim& m) {
             return Sizes{{1, m}};
         },
         [](const Dim& n, const Dim& m) {
             return DynamicBroadcastBackward({n, m});
         },
         [](const Tensors& in, const Dim& n, const Dim& m) {
             return expand(in[0], {n, m});
         }},
        {"broadcast_lead",
         [](const Dim&, const Dim& m) {
             return Sizes{{m, 1}};
         },
         [](const Dim& n, const Dim& m) {
             return DynamicBroadcastBackward({n, m, 2});
         },
         [](const Tensors& in, const Dim& n, const Dim& m) {
             return expand(in[0], {n, m, 2});
         }},
        {"broadcast_scalar", [](const Dim&, const Dim&) { return Sizes{{}}; },
         [](const Dim& n, const Dim& m) {
             return DynamicBroadcastBackward({n, m});
         },
         [](const Tensors& in, const Dim& n, const Dim& m) {
             return expand(in[0], {n, m});
         }},
    };
    return all;
}

} // namespace reprise::test

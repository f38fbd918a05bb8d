#include <cmath>

#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

constexpr long long large = 1 << 24; // elements

Workload matmul(long long n, const std::string& layout, rp::DType dtype = rp::f32)
{
    const double size = static_cast<double>(n);
    const std::string suffix = dtype == rp::f32 ? "" : std::string("_") + rp::name_of(dtype);
    return {"matmul_" + layout + "_" + std::to_string(n) + suffix, 2 * size * size * size,
            3 * static_cast<double>(rp::size_of(dtype)) * size * size, [n, layout, dtype] {
                return replayed(
                    [layout](Tensor a, Tensor b) {
                        return rp::matmul(layout == "tn" ? a.t() : a, layout == "nt" ? b.t() : b);
                    },
                    {normal({n, n}).to(dtype), normal({n, n}).to(dtype)});
            }};
}

Workload elementwise(const std::string& name, int operands, Tensor (*f)(const Tensor&, const Tensor&))
{
    return {
        name, 0, 4.0 * operands * large, [f] {
            return replayed([f](Tensor x, Tensor y) { return f(x, y); }, {normal({large}), normal({large})});
        }};
}

// Computes a function and the gradients of all floating inputs, for a random upstream gradient.
Workload forward_backward(const std::string& name, double bytes, std::vector<rp::Shape> shapes,
                          std::function<Tensor(const std::vector<Tensor>&)> f)
{
    return {name, 0, bytes, [shapes, f] {
                auto leaves = std::make_shared<std::vector<rp::Variable>>();
                for (const rp::Shape& s : shapes) leaves->emplace_back(normal(s));
                const std::vector<Tensor> all(leaves->begin(), leaves->end());
                const Tensor upstream = normal(f(all).shape());
                return replayed(
                    [leaves, f](Tensor g) {
                        const std::vector<Tensor> in(leaves->begin(), leaves->end());
                        return rp::grad({f(in)}, in, {.cotangents = {g}});
                    },
                    {upstream});
            }};
}

void add_convolutions(std::vector<Workload>& list)
{
    const double flops = 2.0 * 32 * 128 * 32 * 32 * 64 * 9;
    const auto inputs = [] { return std::vector<Tensor>{normal({32, 64, 32, 32}), normal({128, 64, 3, 3})}; };
    list.push_back({"conv2d_fwd", flops, 0, [inputs] {
                        return replayed(
                            [](Tensor x, Tensor w) {
                                return rp::conv2d(x, w, {}, {.padding = {1, 1}});
                            },
                            inputs());
                    }});
    for (int which : {0, 1})
        list.push_back({which ? "conv2d_bwd_weight" : "conv2d_bwd_input", flops, 0, [inputs, which] {
                            auto in = std::make_shared<std::vector<rp::Variable>>();
                            for (const Tensor& t : inputs()) in->emplace_back(t);
                            return replayed(
                                [in, which](Tensor g) {
                                    const Tensor y = rp::conv2d((*in)[0], (*in)[1], {}, {.padding = {1, 1}});
                                    return rp::grad({y}, {(*in)[static_cast<std::size_t>(which)]},
                                                    {.cotangents = {g}});
                                },
                                {normal({32, 128, 32, 32})});
                        }});
}

void add_elementwise(std::vector<Workload>& list)
{
    using F = Tensor (*)(const Tensor&, const Tensor&);
    const F add = [](const Tensor& x, const Tensor& y) { return x + y; };
    const F mul = [](const Tensor& x, const Tensor& y) { return x * y; };
    const F relu = [](const Tensor& x, const Tensor&) { return rp::relu(x); };
    const F gelu = [](const Tensor& x, const Tensor&) { return rp::gelu(x); };
    const F gelu_tanh = [](const Tensor& x, const Tensor&) {
        return rp::gelu(x, rp::GeluApproximation::tanh);
    };
    const F chain = [](const Tensor& x, const Tensor& y) { return rp::gelu(x * y + 0.5) * y + x; };
    // A program's results reuse freed memory of the same size, so both of PyTorch's forms are the same here.
    for (const char* form : {"", "_out"}) {
        list.push_back(elementwise(std::string("ew_add") + form, 3, add));
        list.push_back(elementwise(std::string("ew_mul") + form, 3, mul));
        list.push_back(elementwise(std::string("ew_relu") + form, 2, relu));
        list.push_back(elementwise(std::string("ew_gelu_erf") + form, 2, gelu));
    }
    list.push_back(elementwise("ew_gelu_tanh", 2, gelu_tanh));
    list.push_back(elementwise("ew_chain5", 3, chain));
}

void add_reductions(std::vector<Workload>& list)
{
    list.push_back({"sum_all_2p24", large, 4.0 * large,
                    [] { return replayed([](Tensor x) { return rp::sum(x); }, {normal({large})}); }});
    const double rows = 4096.0 * 1024;
    list.push_back({"softmax_f_4096x1024", 0, 2 * 4 * rows, [] {
                        return replayed([](Tensor x) { return rp::softmax(x, -1); }, {normal({4096, 1024})});
                    }});
    list.push_back({"layer_norm_f_4096x1024", 0, 2 * 4 * rows, [] {
                        return replayed(
                            [](Tensor x, Tensor w, Tensor b) { return rp::layer_norm(x, {1024}, w, b); },
                            {normal({4096, 1024}), normal({1024}), normal({1024})});
                    }});
    list.push_back(
        forward_backward("layer_norm_fb_4096x1024", 5 * 4 * rows, {{4096, 1024}, {1024}, {1024}},
                         [](const auto& in) { return rp::layer_norm(in[0], {1024}, in[1], in[2]); }));
    list.push_back({"embedding_fb_v10000_d256_n8192", 0, 4.0 * (256.0 * 8192 * 4 + 10000.0 * 256), [] {
                        auto weight = std::make_shared<rp::Variable>(normal({10000, 256}));
                        std::vector<std::int32_t> indices(64 * 128);
                        for (std::size_t i = 0; i < indices.size(); ++i)
                            indices[i] = static_cast<std::int32_t>(i * 2654435761u % 10007 % 10000);
                        return replayed(
                            [weight](Tensor i, Tensor g) {
                                return rp::grad({rp::embedding(i, *weight)}, {*weight}, {.cotangents = {g}});
                            },
                            {rp::from_vector(indices, {64, 128}), normal({64, 128, 256})});
                    }});
    list.push_back(forward_backward("softmax_fb_4096x1024", 5 * 4 * rows, {{4096, 1024}},
                                    [](const auto& in) { return rp::softmax(in[0], -1); }));
    const double image = 32.0 * 64 * 32 * 32;
    list.push_back({"batch_norm2d_fb_32x64x32x32", 0, 5 * 4 * image, [] {
                        auto mean = std::make_shared<rp::Variable>(rp::zeros({64}), false);
                        auto var = std::make_shared<rp::Variable>(rp::ones({64}), false);
                        return forward_backward("", 0, {{32, 64, 32, 32}, {64}, {64}},
                                                [mean, var](const auto& in) {
                                                    return rp::batch_norm(in[0], *mean, *var, in[1], in[2],
                                                                          {.training = true});
                                                })
                            .make();
                    }});
    list.push_back({"cross_entropy_fb_4096x1000", 0, 3 * 4 * 4096.0 * 1000, [] {
                        std::vector<std::int32_t> target(4096);
                        for (std::size_t i = 0; i < target.size(); ++i)
                            target[i] = static_cast<std::int32_t>(i * 7 % 1000);
                        const Tensor t = rp::from_vector(target, {4096});
                        auto x = std::make_shared<rp::Variable>(normal({4096, 1000}));
                        return replayed([x](Tensor y) { return rp::grad(rp::cross_entropy(*x, y), *x); },
                                        {t});
                    }});
    list.push_back(forward_backward("maxpool2d_fb_32x64x32x32_k2", 4 * image * 2.5, {{32, 64, 32, 32}},
                                    [](const auto& in) { return rp::max_pool2d(in[0], 2); }));
}

// Causal self-attention [2, 8, 1024, features] with its gradients: 7 products, of half of the weights.
void add_attention(std::vector<Workload>& list)
{
    for (const std::int64_t features : {64, 128}) {
        const rp::Shape shape{2, 8, 1024, features};
        const double elements = 2.0 * 8 * 1024 * static_cast<double>(features);
        list.push_back(forward_backward("attention_fb_2x8x1024x" + std::to_string(features), 8 * 4 * elements,
                                        {shape, shape, shape}, [](const auto& in) {
                                            return rp::scaled_dot_product_attention(in[0], in[1], in[2],
                                                                                    {.is_causal = true});
                                        }));
        list.back().flops = 7 * 1024 * elements;
    }
}

} // namespace

std::vector<Workload> op_workloads()
{
    std::vector<Workload> list;
    for (long long n : {256, 512, 1000, 1023, 1024, 2048})
        for (const char* layout : {"nn", "nt", "tn"}) list.push_back(matmul(n, layout));
    for (const long long n : {2048, 4096})
        for (const rp::DType dtype : {rp::f16, rp::bf16}) list.push_back(matmul(n, "nn", dtype));
    list.push_back(
        {"bmm_32x128x64x128", 2.0 * 32 * 128 * 128 * 64, 4.0 * (32 * 128 * 64 * 2 + 32 * 128 * 128), [] {
             return replayed([](Tensor a, Tensor b) { return rp::matmul(a, b); },
                             {normal({32, 128, 64}), normal({32, 64, 128})});
         }});
    add_convolutions(list);
    add_elementwise(list);
    add_reductions(list);
    add_attention(list);
    return list;
}

} // namespace bench

// An op in GLSL with its gradient, which uses shared memory and barriers: a row x becomes x / sqrt(mean(x^2) + 1e-6).
#include <cmath>
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
using Tensors = std::vector<rp::Tensor>;

// One workgroup of 64 invocations per row. Operands: x, result, or x, dy, result. Ints: rows, columns.
const std::string common_text = R"(
shared float part[64];
float sum_of_group(float mine)
{
    part[gl_LocalInvocationID.x] = mine;
    barrier();
    float sum = 0;
    for (uint i = 0; i < 64; ++i) sum += part[i];
    barrier(); // before the next sum begins
    return sum;
}
void main()
{
    Floats x = Floats(record.operand[0].address), result = Floats(record.operand[OPERANDS - 1].address);
    const uint row = flat_group(), n = uint(record.n[1]), end = (row + 1) * n;
    const uint first = row * n + gl_LocalInvocationID.x;
    if (row >= uint(record.n[0])) return; // the whole group, so that nobody waits at a barrier
    float sum = 0;
    for (uint i = first; i < end; i += 64) sum += x.v[i] * x.v[i];
    const float r = sqrt(sum_of_group(sum) / float(n) + 1e-6);
)";
const std::string forward_text =
    common_text + "for (uint i = first; i < end; i += 64) result.v[i] = x.v[i] / r; }";
const std::string backward_text = common_text + R"( // dx = (dy - y mean(dy y)) / r
    Floats dy = Floats(record.operand[1].address); sum = 0;
    for (uint i = first; i < end; i += 64) sum += dy.v[i] * x.v[i] / r;
    const float mean = sum_of_group(sum) / float(n);
    for (uint i = first; i < end; i += 64) result.v[i] = (dy.v[i] - x.v[i] / r * mean) / r;
})";

// Implements both kernels in C++, for the reference device and gradcheck; the backward one has two inputs.
void on_host(const rp::HostLaunch& l)
{
    const std::size_t n = l.ints[1];
    for (std::size_t begin = 0; begin < l.inputs[0].size(); begin += n) {
        const double *x = &l.inputs[0][begin], *dy = l.inputs.size() > 1 ? &l.inputs[1][begin] : nullptr;
        double squares = 0, product = 0;
        for (std::size_t i = 0; i < n; ++i) squares += x[i] * x[i], product += dy ? dy[i] * x[i] : 0;
        const double r = std::sqrt(squares / n + 1e-6), mean = product / r / n;
        for (std::size_t i = 0; i < n; ++i)
            l.outputs[0][begin + i] = dy ? (dy[i] - x[i] / r * mean) / r : x[i] / r;
    }
}

const rp::Kernel forward({.name = "row_norm", .glsl = forward_text, .host = on_host});
const rp::Kernel backward({.name = "row_norm_vjp", .glsl = backward_text, .host = on_host});
rp::KernelLaunch launch_of(const rp::Tensor& x) // [rows, n]; rows may be a symbol
{
    return {.outputs = {{x.dtype(), x.shape()}}, .groups = x.size(0), .ints = {x.size(0), x.size(1)}};
}
const rp::CustomFunction row_norm(
    "row_norm",
    [](rp::FunctionContext& c, const Tensors& in) {
        c.save_for_backward(in);
        return Tensors{forward(in, launch_of(in[0]))};
    },
    [](const rp::FunctionContext& c, const Tensors& dy) {
        return Tensors{backward({c.saved(0), dy[0]}, launch_of(c.saved(0)))};
    });

int main()
{
    rp::nn::Linear in(8, 100), out(100, 1);
    rp::optim::Adam optimizer({in.weight, in.bias, out.weight, out.bias}, {.lr = 1e-2});
    auto step = rp::record(
        [&](rp::Tensor x) {
            rp::Tensor loss = rp::mse_loss(out(row_norm(rp::tanh(in(x)))), rp::abs(x.narrow(1, 0, 1)));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({rp::symbol("rows"), 8})});
    for (int i = 0; i < 300; ++i) step(rp::randn({64, 8}));
    const float loss = step(rp::randn({64, 8})).item<float>(), bound = 0.05f;
    const auto check = rp::gradcheck([](const Tensors& x) { return row_norm(x[0]); }, {rp::randn({3, 70})});
    std::printf("loss %.4f after 300 steps, to be below %.2f%s\n", loss, bound, check.message.c_str());
    return loss < bound && check.passed ? 0 : 1;
}

#include "follow/follow.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <reprise/io.hpp>

#include "support/blocks.hpp"

namespace reprise::follow {

namespace {

// lowbias32 of github.com/skeeto/hash-prospector
std::uint32_t mix(std::uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

void take(double& worst, double found, double want, double unit)
{
    const double error = std::fabs(found - want) / unit;
    worst = std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
}

// Gradients of at most this size are rounding: softmax does not depend on the bias of a key.
constexpr double negligible = 1e-6;

float largest(const std::vector<float>& v)
{
    float most = 0;
    for (const float x : v) most = std::isnan(x) ? x : std::max(most, std::fabs(x));
    return most;
}

} // namespace

std::vector<float> numbers(std::uint32_t stream, std::size_t count)
{
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = mix(static_cast<std::uint32_t>(i) + (stream << 24)) >> 8;
        values[i] = std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits) - (1 << 23)), -23);
    }
    return values;
}

void set_weights(const nn::Module& net)
{
    std::uint32_t number = 0;
    float bound = 0;
    for (Variable p : net.parameters()) {
        const std::int64_t size = p.numel().value();
        if (p.dim() > 1) // a bias follows its weight
            bound = static_cast<float>(1 / std::sqrt(static_cast<double>(size / p.size(0).value())));
        std::vector<float> values = numbers(number++, static_cast<std::size_t>(size));
        for (float& v : values) v *= bound; // one product is rounded
        p.assign(from_vector(values, p.shape()));
    }
}

std::vector<Spec> Model::specs(const Dim& batch) const
{
    return {spec({batch, 1, 28, 28}), spec({batch}, i32)};
}

std::vector<Tensor> Model::batch(const Fixture& fixture, std::size_t step) const
{
    const auto [x, y] = fixture.batch(step);
    return {x, y};
}

Tensor Model::loss(const std::vector<Tensor>& batch) { return cross_entropy((*this)(batch[0]), batch[1]); }

Cnn::Cnn()
{
    register_module("c1", c1);
    register_module("c2", c2);
    register_module("f1", f1);
    register_module("f2", f2);
    set_weights(*this);
}

Tensor Cnn::forward(Tensor x)
{
    x = max_pool2d(relu(c1(x)), 2);
    x = max_pool2d(relu(c2(x)), 2);
    return f2(relu(f1(flatten(x, 1))));
}

Mlp::Mlp()
{
    register_module("a", a);
    register_module("b", b);
    register_module("c", c);
    set_weights(*this);
}

Tensor Mlp::forward(Tensor x) { return c(relu(b(relu(a(flatten(x, 1)))))); }

Gpt::Gpt()
{
    for (int i = 0; i < 4; ++i) blocks.push_back(nn::make<test::TransformerBlock>(32, 2));
    register_module("tok", tok);
    register_module("pos", pos);
    register_module("blocks", blocks);
    register_module("lnf", lnf);
    register_module("head", head);
    set_weights(*this);
}

Tensor Gpt::forward(Tensor x)
{
    const Tensor tokens = cast(round(narrow(x, 2, 13, 2) * 15), i32).flatten(1).narrow(1, 0, 54);
    return mean(head(lnf(blocks(tok(tokens) + pos.weight.narrow(0, 0, 54)))), {1});
}

Fixture::Fixture()
    : tensors_(load_safetensors(REPRISE_SOURCE_DIR "/tests/follow/pytorch.safetensors", Device("reference"))),
      batch_sizes_(tensors_.at("batch_sizes").to_vector<std::int32_t>())
{}

std::vector<double> Fixture::numbers(const std::string& name) const
{
    const Tensor& t = tensors_.at(name);
    if (t.dtype() == f64) return t.to_vector<double>();
    const std::vector<float> v = t.to_vector<float>();
    return {v.begin(), v.end()};
}

std::pair<Tensor, Tensor> Fixture::batch(std::size_t step) const
{
    const std::int64_t first =
        std::accumulate(batch_sizes_.begin(), batch_sizes_.begin() + static_cast<long>(step), 0);
    const std::int64_t size = batch_sizes_.at(step);
    std::vector<float> pixels;
    for (const std::uint8_t p : narrow(tensors_.at("images"), 0, first, size).to_vector<std::uint8_t>())
        pixels.push_back(static_cast<float>(p) / 255.0f);
    const auto labels = narrow(tensors_.at("labels"), 0, first, size).to_vector<std::int32_t>();
    return {from_vector(pixels, {size, 1, 28, 28}), from_vector(labels, {size})};
}

Difference Fixture::losses(const std::string& run, const std::vector<float>& found) const
{
    const std::vector<double> single = numbers(run + ".losses.f32"), exact = numbers(run + ".losses.f64");
    Difference d;
    for (std::size_t i = 0; i < found.size(); ++i) {
        take(d.from_f32, found[i], single.at(i), 1);
        take(d.from_f64, found[i], exact.at(i), 1);
    }
    return d;
}

double Fixture::relative_error(const std::string& run, const std::vector<float>& found) const
{
    const std::vector<double> exact = numbers(run + ".losses.f64");
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) take(worst, found[i], exact.at(i), std::fabs(exact.at(i)));
    return worst;
}

double Fixture::own_error(const std::string& run) const
{
    const std::vector<double> single = numbers(run + ".losses.f32"), exact = numbers(run + ".losses.f64");
    double worst = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) take(worst, single.at(i), exact[i], 1);
    return worst;
}

Difference Fixture::gradients(const std::string& model, const nn::Module& net) const
{
    Difference d;
    for (const auto& [name, parameter] : net.named_parameters()) {
        const std::vector<float> found = parameter.grad().to_vector<float>();
        const auto compare = [&, name = name](double& worst, const std::string& kind) {
            const std::vector<double> want = numbers(model + ".gradient." + name + kind);
            const double most = numbers(model + ".largest." + name + kind).at(0);
            if (most < negligible) {
                take(worst, largest(found) < negligible ? 0 : 1, 0, 1);
                return;
            }
            for (std::size_t k = 0; k < want.size(); ++k)
                take(worst, found.at(k * found.size() / want.size()), want[k], most);
            take(worst, largest(found), most, most);
        };
        compare(d.from_f32, ".f32");
        compare(d.from_f64, ".f64");
    }
    return d;
}

Fixture::FromAutocast Fixture::losses_from_autocast(const std::string& run,
                                                    const std::vector<float>& found) const
{
    const std::vector<double> want = numbers(run + ".losses.autocast"), single = numbers(run + ".losses.f32");
    FromAutocast d;
    for (std::size_t i = 0; i < found.size(); ++i) {
        take(d.found, found[i], want.at(i), want.at(i));
        take(d.from_f32, found[i], single.at(i), single.at(i));
        take(d.own, want.at(i), single.at(i), single.at(i));
    }
    return d;
}

Fixture::FromAutocast Fixture::gradients_from_autocast(const std::string& model, const nn::Module& net) const
{
    FromAutocast d;
    for (const auto& [name, parameter] : net.named_parameters()) {
        const std::vector<float> found = parameter.grad().to_vector<float>();
        const std::string key = model + ".gradient." + name;
        const std::vector<double> want = numbers(key + ".autocast"), single = numbers(key + ".f32");
        const double unit = numbers(model + ".largest." + name + ".autocast").at(0);
        if (numbers(model + ".largest." + name + ".f32").at(0) < negligible) continue;
        for (std::size_t k = 0; k < want.size(); ++k) {
            const float here = found.at(k * found.size() / want.size());
            take(d.found, here, want[k], unit);
            take(d.from_f32, here, single.at(k), unit);
            take(d.own, want[k], single.at(k), unit);
        }
    }
    return d;
}

} // namespace reprise::follow

// The optimizers' formulas in double, one element at a time; and gradients that make every branch count.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include <reprise/optim.hpp>

struct SgdReference {
    reprise::optim::SGD::Options o;
    std::vector<double> p, v;
    bool first = true;
    void step(const std::vector<float>& grad)
    {
        v.resize(p.size());
        for (std::size_t i = 0; i < p.size(); ++i) {
            double g = grad[i] + o.weight_decay * p[i];
            if (o.momentum != 0) {
                v[i] = first ? g : o.momentum * v[i] + (1 - o.dampening) * g;
                g = o.nesterov ? g + o.momentum * v[i] : v[i];
            }
            p[i] -= o.lr * g;
        }
        first = false;
    }
};

struct AdamReference {
    reprise::optim::Adam::Options o;
    std::vector<double> p, m, v;
    int t = 0;
    bool decoupled = false;
    void step(const std::vector<float>& grad)
    {
        ++t;
        m.resize(p.size());
        v.resize(p.size());
        const auto [b1, b2] = o.betas;
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (decoupled) p[i] -= o.lr * o.weight_decay * p[i];
            const double g = grad[i] + (decoupled ? 0 : o.weight_decay * p[i]);
            m[i] = b1 * m[i] + (1 - b1) * g;
            v[i] = b2 * v[i] + (1 - b2) * g * g;
            p[i] -= o.lr * (m[i] / (1 - std::pow(b1, t))) / (std::sqrt(v[i] / (1 - std::pow(b2, t))) + o.eps);
        }
    }
};

inline std::vector<float> initial(std::size_t count)
{
    std::vector<float> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(static_cast<float>(std::sin(1.0 + static_cast<double>(i))));
    return out;
}

// Changes from step to step, in sign and in size; some are 0.
inline std::vector<float> gradient(std::size_t count, int step)
{
    std::vector<float> out;
    for (std::size_t i = 0; i < count; ++i) {
        const double x = static_cast<double>(i) * 0.7 + step * 1.9;
        out.push_back(i % 5 == 4 ? 0.0f : static_cast<float>(std::cos(x) * std::exp(std::sin(2 * x))));
    }
    return out;
}

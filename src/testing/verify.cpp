// Runs the samples of op_info on a user's device.
#include <reprise/testing.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <reprise/error.hpp>

#include "testing/op_suite.hpp"
#include "testing/use_device.hpp"

namespace reprise::testing {

namespace {

using test::Argument;
using test::Data;
using test::OpInfo;
using test::Sample;
using test::Setting;

constexpr DType dtypes[] = {f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean};

// Returns the tolerance of a result, relative to 1 + its largest magnitude.
double tolerance_of(const OpInfo& row, const Sample& sample, DType dtype)
{
    if (dtype == f16) return 4 * 0x1p-10;
    if (dtype == bf16) return 4 * 0x1p-7;
    if (dtype == f64) return 1e-12;
    return sample.tolerance != 0 ? sample.tolerance : row.tolerance;
}

// Returns the sample in another dtype; nullopt if no argument would change.
std::optional<Sample> in_dtype(const Sample& sample, DType dtype)
{
    if (dtype == f32) return sample;
    Sample out = sample;
    bool changed = false;
    for (Argument& a : out.arguments) {
        if (a.dtype != f32) continue;
        changed = true;
        a.dtype = dtype;
        if (is_floating(dtype)) continue;
        a.low = dtype == boolean || dtype == u8 ? 0 : std::floor(a.low);
        a.high = dtype == boolean ? 1 : std::max(a.low, std::ceil(a.high));
        out.differentiable = false;
    }
    if (!changed) return std::nullopt;
    return out;
}

// Outputs, gradients, and the gradients of these; empty lists if they are not computed.
struct Results {
    std::vector<Tensor> outputs, gradients, second;
};

Results results(const Sample& sample, const Data& data, const Setting& setting, bool differentiate)
{
    const test::UseDevice use(setting.device);
    std::vector<Tensor> in = test::inputs(sample, data, setting);
    Results out;
    if (!differentiate) {
        out.outputs = sample.call(in);
        return out;
    }
    std::vector<Tensor> variables;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (asks_gradient(sample.arguments[i])) variables.push_back(in[i] = in[i].detach().requires_grad_());
    out.outputs = sample.call(in);
    std::vector<Tensor> seeds = test::cotangents(out.outputs, setting), from, with;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        if (!out.outputs[i].requires_grad()) continue;
        from.push_back(out.outputs[i]);
        with.push_back(seeds[i].detach().requires_grad_());
    }
    if (from.empty()) return out;
    out.gradients =
        grad(from, variables,
             {.create_graph = true, .retain_graph = true, .allow_unused = true, .cotangents = with});
    std::vector<Tensor> given;
    for (const Tensor& g : out.gradients)
        if (g.defined() && g.requires_grad()) given.push_back(g);
    if (given.empty()) return out;
    variables.insert(variables.end(), with.begin(), with.end());
    out.second =
        grad(given, variables, {.allow_unused = true, .cotangents = test::cotangents(given, setting)});
    return out;
}

class Check {
public:
    Check(const OpInfo& row, DType dtype, const Device& device) : row_(row), here_{device}
    {
        result_.op = row.name;
        result_.dtype = dtype;
        result_.forward = result_.gradient = result_.second_gradient = Verdict::no_type;
    }

    void sample(const Sample& sample, std::int64_t size)
    {
        what_ = test::describe(sample, size);
        const Data data = test::draw(row_, sample, size);
        const bool differentiate = row_.differentiable && sample.differentiable && is_floating(result_.dtype);
        std::optional<Results> want;
        try {
            want = results(sample, data, {Device("reference"), true}, differentiate);
        } catch (const Error& error) {
            if (result_.dtype == f32)
                fail(result_.forward, std::string("the reference device: ") + error.what());
            return; // the sample does not support this dtype
        }
        tolerance_ = tolerance_of(row_, sample, result_.dtype);
        std::optional<Results> got = attempt(sample, data, differentiate);
        if (!got) return;
        compare(result_.forward, got->outputs, want->outputs, 1, Verdict::right);
        if (!differentiate) {
            settle(result_.gradient, Verdict::undefined);
            settle(result_.second_gradient, Verdict::undefined);
            return;
        }
        compare(result_.gradient, got->gradients, want->gradients, 4, Verdict::zero);
        compare(result_.second_gradient, got->second, want->second, 16, Verdict::zero);
    }

    Verified result() { return result_; }

private:
    void fail(Verdict& verdict, const std::string& text)
    {
        verdict = Verdict::wrong;
        if (result_.message.empty()) result_.message = what_ + ": " + text;
    }
    // Combines the verdict of a sample with that of the op: the first one in `order` wins.
    static void settle(Verdict& verdict, Verdict found)
    {
        static constexpr Verdict order[] = {Verdict::wrong,   Verdict::right,     Verdict::zero,
                                            Verdict::lacking, Verdict::undefined, Verdict::no_type};
        const auto rank = [](Verdict v) { return std::find(std::begin(order), std::end(order), v); };
        if (rank(found) < rank(verdict)) verdict = found;
    }
    std::optional<Results> attempt(const Sample& sample, const Data& data, bool differentiate)
    {
        try {
            Results got = results(sample, data, here_, differentiate);
            for (const auto* list : {&got.outputs, &got.gradients, &got.second})
                for (const Tensor& t : *list)
                    if (t.defined()) t.eval();
            return got;
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::unsupported && result_.dtype != f32)
                for (Verdict* v : {&result_.forward, &result_.gradient, &result_.second_gradient})
                    settle(*v, Verdict::lacking);
            else fail(result_.forward, error.what());
        }
        return std::nullopt;
    }
    void compare(Verdict& verdict, const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                 double factor, Verdict if_all_zero)
    {
        bool any = if_all_zero == Verdict::right;
        if (got.size() != want.size()) return fail(verdict, "another number of results");
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (got[i].defined() != want[i].defined()) return fail(verdict, "a gradient is missing");
            if (!got[i].defined()) continue;
            if (to_string(got[i].shape()) != to_string(want[i].shape()))
                return fail(verdict, "the shape " + to_string(got[i].shape()));
            const std::vector<double> a = test::doubles(got[i]), b = test::doubles(want[i]);
            double largest = 0;
            for (const double v : b) {
                any = any || v != 0;
                if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
            }
            for (std::size_t e = 0; e < a.size(); ++e) {
                const bool same =
                    std::isfinite(b[e]) ? false : a[e] == b[e] || (std::isnan(a[e]) && std::isnan(b[e]));
                const double error = same ? 0 : std::fabs(a[e] - b[e]) / (1 + largest);
                const double allowed = is_floating(want[i].dtype()) ? factor * tolerance_ : 0;
                if (!(error <= allowed))
                    return fail(verdict, "element " + std::to_string(e) + " of result " + std::to_string(i) +
                                             " is " + std::to_string(a[e]) + ", the reference has " +
                                             std::to_string(b[e]));
                result_.worst = std::max(result_.worst, error);
            }
        }
        settle(verdict, any ? Verdict::right : if_all_zero);
    }

    const OpInfo& row_;
    Setting here_;
    Verified result_;
    std::string what_;
    double tolerance_ = 0;
};

// Returns a size that covers the general case; for the first sample also its largest one.
std::vector<std::int64_t> sizes_of(const Sample& sample, bool first)
{
    std::int64_t middle = sample.sizes.front();
    for (const std::int64_t s : sample.sizes)
        if (s <= 10) middle = s;
    if (first && sample.sizes.back() != middle) return {middle, sample.sizes.back()};
    return {middle};
}

} // namespace

std::vector<std::string> verified_ops()
{
    std::vector<std::string> names;
    for (const OpInfo& row : test::op_infos()) names.push_back(row.name);
    return names;
}

void verify(const Device& device, const std::function<void(const std::vector<Verified>&)>& each,
            const std::string& op, std::size_t samples)
{
    bool found = op.empty();
    for (const OpInfo& row : test::op_infos()) {
        if (!op.empty() && row.name != op) continue;
        found = true;
        std::vector<Verified> all;
        for (const DType dtype : dtypes) {
            Check check(row, dtype, device);
            std::size_t tried = 0;
            for (const Sample& sample : row.samples) {
                const std::optional<Sample> s = in_dtype(sample, dtype);
                if (!s || (dtype != f32 && ++tried > samples)) continue;
                for (const std::int64_t size : sizes_of(*s, &sample == &row.samples.front() && dtype == f32))
                    check.sample(*s, size);
            }
            all.push_back(check.result());
        }
        each(all);
    }
    if (!found)
        detail::fail(ErrorKind::argument, "verify", "There is no op (", op,
                     "): `reprise verify --list` names all.");
}

} // namespace reprise::testing

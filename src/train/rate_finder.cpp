#include <reprise/train/rate_finder.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <reprise/error.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char* op = "find_learning_rate";

void check(const RateFinderOptions& o)
{
    if (!(o.lowest > 0) || !(o.highest > o.lowest) || std::isinf(o.highest))
        fail(ErrorKind::argument, op, "The rates (", o.lowest, " to ", o.highest,
             ") must be above 0 and grow.");
    if (o.steps < 3) fail(ErrorKind::argument, op, "The steps (", o.steps, ") must be at least 3.");
    if (!(o.smoothing > 0) || !(o.smoothing <= 1))
        fail(ErrorKind::argument, op, "The smoothing (", o.smoothing, ") must be above 0 and at most 1.");
    if (!(o.diverged > 1)) fail(ErrorKind::argument, op, "The diverged (", o.diverged, ") must be above 1.");
}

// The values of everything that a search changes.
class Before {
public:
    Before(optim::Optimizer& optimizer, const std::vector<Part>& parts)
        : optimizer_(optimizer), random_(generator_state())
    {
        for (std::size_t g = 0; g < optimizer.groups(); ++g) rates_.push_back(optimizer.learning_rate(g));
        for (const Part& p : parts) backups_.push_back(p.backup());
    }
    void restore() const
    {
        for (std::size_t i = backups_.size(); i-- > 0;) backups_[i]();
        for (std::size_t g = 0; g < rates_.size(); ++g) optimizer_.set_learning_rate(rates_[g], g);
        set_generator_state(random_);
    }

private:
    optim::Optimizer& optimizer_;
    GeneratorState random_;
    std::vector<double> rates_;
    std::vector<std::function<void()>> backups_;
};

RateFinderResult search(optim::Optimizer& optimizer, const std::function<double()>& step,
                        const RateFinderOptions& options)
{
    RateFinderResult out;
    const double growth =
        std::pow(options.highest / options.lowest, 1 / static_cast<double>(options.steps - 1));
    double rate = options.lowest, mean = 0, weight = 0, least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < options.steps; ++i, rate *= growth) {
        optimizer.set_learning_rate(rate);
        const double loss = step();
        if (!std::isfinite(loss)) break;
        mean += options.smoothing * (loss - mean);
        weight += options.smoothing * (1 - weight);
        const double smooth = mean / weight; // without the zero that the mean started from
        out.rates.push_back(rate);
        out.losses.push_back(smooth);
        least = std::min(least, smooth);
        if (least > 0 && smooth > options.diverged * least) break;
    }
    if (out.losses.empty()) fail(ErrorKind::state, op, "The first loss is not finite.");
    return out;
}

// The rate in the middle of the two steps between which the loss falls most.  Rates grow by a constant factor, so that
// differences of losses are slopes.
std::optional<double> steepest(const RateFinderResult& r)
{
    std::optional<double> found;
    double least = 0;
    for (std::size_t i = 1; i + 1 < r.losses.size(); ++i)
        if (const double slope = r.losses[i + 1] - r.losses[i - 1]; slope < least) {
            least = slope;
            found = r.rates[i];
        }
    return found;
}

} // namespace

RateFinderResult find_learning_rate(optim::Optimizer& optimizer, const std::vector<Part>& parts,
                                    const std::function<double()>& step, const RateFinderOptions& options)
{
    check(options);
    if (is_recording()) fail(ErrorKind::state, op, "Rates can't be searched while a program is recorded.");
    const Before before(optimizer, parts);
    RateFinderResult out;
    try {
        out = search(optimizer, step, options);
    } catch (...) {
        try {
            before.restore();
        } catch (...) { // the first error says what happened
        }
        throw;
    }
    before.restore();
    out.suggestion = steepest(out);
    return out;
}

} // namespace reprise::train

#include <reprise/train/rate_finder.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
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
    if (!(o.start_lr > 0) || !(o.end_lr > o.start_lr) || std::isinf(o.end_lr))
        fail(ErrorKind::argument, op, "The rates (", o.start_lr, " to ", o.end_lr,
             ") must be above 0, finite and growing.");
    if (o.num_iter < 3) fail(ErrorKind::argument, op, "The num_iter (", o.num_iter, ") must be at least 3.");
    if (!(o.smooth_f > 0) || !(o.smooth_f <= 1))
        fail(ErrorKind::argument, op, "The smooth_f (", o.smooth_f, ") must be above 0 and at most 1.");
    if (!(o.diverge_th > 1))
        fail(ErrorKind::argument, op, "The diverge_th (", o.diverge_th, ") must be above 1.");
}

// The values of everything that a search changes.
class Before {
public:
    Before(optim::Optimizer& optimizer, const std::vector<Part>& parts)
    {
        restores_.push_back(Part("optimizer", optimizer).backup()); // with its rates
        for (const Part& p : parts) restores_.push_back(p.backup());
        restores_.push_back([random = generator_state()] { set_generator_state(random); });
    }
    // Restores all of them, then throws the first error.
    void restore() const
    {
        std::exception_ptr first;
        for (const auto& restore_one : restores_) {
            try {
                restore_one();
            } catch (...) {
                if (!first) first = std::current_exception();
            }
        }
        if (first) std::rethrow_exception(first);
    }

private:
    std::vector<std::function<void()>> restores_;
};

RateFinderResult search(optim::Optimizer& optimizer, const std::function<double()>& step,
                        const RateFinderOptions& options)
{
    RateFinderResult out;
    const double growth =
        std::pow(options.end_lr / options.start_lr, 1 / static_cast<double>(options.num_iter - 1));
    double rate = options.start_lr, mean = 0, weight = 0, least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < options.num_iter; ++i, rate *= growth) {
        optimizer.set_learning_rate(rate);
        const double loss = step();
        if (!std::isfinite(loss)) break;
        mean += options.smooth_f * (loss - mean);
        weight += options.smooth_f * (1 - weight);
        const double smooth = mean / weight; // without the zero that the mean started from
        out.rates.push_back(rate);
        out.losses.push_back(smooth);
        least = std::min(least, smooth);
        if (least > 0 && smooth > options.diverge_th * least) break;
    }
    if (out.losses.empty()) fail(ErrorKind::state, op, "The first loss is not finite.");
    return out;
}

// Returns the rate of the step before and after which the losses differ most.  Rates grow by a constant factor, so that
// differences of losses are slopes.
std::optional<double> steepest(const RateFinderResult& r)
{
    std::optional<double> found;
    double least = 0;
    for (std::size_t i = r.losses.size() / 10 + 1; i + 1 < r.losses.size(); ++i)
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
    if (!step) fail(ErrorKind::argument, op, "The step is null: give a function that makes a step.");
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

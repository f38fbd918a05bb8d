#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numbers>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include <reprise/distributed.hpp>

#include "../common/gpt.hpp"
#include "../common/run.hpp"

namespace char_gpt {

namespace rp = reprise;

namespace {

constexpr double highest_rate = 2e-3;
constexpr std::int64_t warmup = 50;        // steps
constexpr std::size_t calls_in_flight = 2; // results are read later, so that host and device overlap

using Clock = std::chrono::steady_clock;

class Training {
public:
    Training(const rp::distributed::World& world, const Options& options, const Text& text,
             const Reporter& reporter)
        : options_(options), text_(text), reporter_(reporter), world_(world),
          net_({.symbols = text.characters(),
                .longest = std::max(text.longest(), options.longest),
                .features = options.features,
                .layers = options.layers,
                .dropout = 0.1})
    {
        const rp::Dim batch = rp::symbol("batch"), seq = rp::symbol("seq");
        step_ = rp::record(
            [&](rp::Tensor x, rp::Tensor y, rp::Tensor counts) {
                rp::Tensor loss;
                {
                    const rp::autocast guard(options_.precision == "f16" ? rp::f16 : rp::bf16,
                                             options_.precision != "f32");
                    const rp::Tensor logits = ddp_(x).reshape({-1, text_.characters()});
                    const rp::Tensor each = rp::cross_entropy(logits, y.reshape({-1}), rp::Reduction::none);
                    // The mean over the characters of all ranks, to which each adds its part.
                    loss = rp::sum(each * counts.reshape({-1})) /
                           rp::distributed::all_reduce(rp::sum(counts), world_);
                }
                optimizer_.zero_grad();
                scaler_.scale(loss * world_.size()).backward(); // ddp_ takes the mean of all ranks' gradients
                scaler_.step(optimizer_);
                scaler_.update();
                return rp::distributed::all_reduce(loss.detach(), world_);
            },
            {rp::spec({batch, seq}, rp::i32), rp::spec({batch, seq}, rp::i32), rp::spec({batch, seq})});
        for (const rp::Variable& p : net_.parameters()) history_.parameters += p.numel().value();
        const auto lines = static_cast<std::int64_t>(text.lines().size());
        history_.memory = step_.memory({std::min(options.batch, lines), text.longest()});
        history_.steps_per_epoch = (lines + options.batch - 1) / options.batch;
        steps_ = options.epochs * history_.steps_per_epoch;
        if (options.steps > 0) steps_ = std::min(steps_, options.steps);
        signature_ = signature();
    }

    History run(const Files& files)
    {
        if (options_.resume && has_checkpoint(files.checkpoint)) load(files.checkpoint);
        if (world_.rank() == 0) reporter_.recorded(history_);
        while (started_ < steps_ && !history_.interrupted) {
            run_epoch();
            if (world_.rank() == 0) rp::save_safetensors(files.weights, net_.state_dict());
            rp::distributed::save_checkpoint(files.checkpoint, parts(), world_);
            if (!history_.interrupted && world_.rank() == 0) reporter_.epoch(history_);
        }
        if (!history_.interrupted && world_.rank() == 0) write();
        return history_;
    }

private:
    struct Call {
        rp::Tensor loss;
        std::int64_t characters;
    };

    // Describes the run: a checkpoint of another one does not fit.
    std::string signature() const
    {
        std::ostringstream text;
        text << options_.layers << " layers of " << options_.features << " features, " << options_.precision
             << ", " << steps_ << " steps of " << options_.batch << " lines, seed " << options_.seed << ", "
             << text_.lines().size() << " lines of " << text_.characters() << " characters";
        return text.str();
    }
    std::vector<rp::train::Part> parts()
    {
        return {{"net", net_},
                {"optimizer", optimizer_},
                {"scaler", scaler_},
                {"signature", signature_},
                {"loss", history_.loss},
                {"epoch_loss", history_.epoch_loss},
                {"characters", characters_},
                {"seconds", history_.train_seconds}};
    }
    // As rank 0 sees it, so that all ranks agree.
    bool has_checkpoint(const std::filesystem::path& checkpoint) const
    {
        const std::vector<std::int32_t> found{std::filesystem::exists(checkpoint)};
        return rp::distributed::broadcast(rp::from_vector(found, {1}), world_).item<std::int32_t>() != 0;
    }
    void load(const std::filesystem::path& checkpoint)
    {
        require_same_run(checkpoint, signature_);
        rp::train::load_checkpoint(checkpoint, parts());
        started_ = static_cast<std::int64_t>(history_.loss.size());
        if (characters_ > 0)
            history_.characters_per_second = static_cast<double>(characters_) / history_.train_seconds;
    }

    void run_epoch()
    {
        const Clock::time_point start = Clock::now();
        const double before = history_.train_seconds;
        const auto seconds = [&] {
            return before + std::chrono::duration<double>(Clock::now() - start).count();
        };
        std::deque<Call> calls;
        const auto finish = [&] {
            history_.loss.push_back(calls.front().loss.item<float>());
            characters_ += calls.front().characters;
            calls.pop_front();
            history_.train_seconds = seconds();
            history_.characters_per_second = static_cast<double>(characters_) / history_.train_seconds;
            check_loss();
            if (world_.rank() == 0) report();
        };
        epoch_ = started_ / history_.steps_per_epoch;
        const std::int64_t begin = epoch_ * history_.steps_per_epoch,
                           end = std::min(steps_, begin + history_.steps_per_epoch);
        const auto batches =
            batches_of(text_, options_.batch, options_.seed + static_cast<std::uint64_t>(epoch_));
        while (started_ < end && !(history_.interrupted = reporter_.stop())) {
            const Batch b = make_batch(text_, batches[static_cast<std::size_t>(started_ - begin)],
                                       world_.rank(), world_.size());
            optimizer_.set_learning_rate(scheduled_rate());
            calls.push_back({step_(b.input, b.target, b.counts), b.characters});
            sizes_.insert({b.input.size(0).value(), b.input.size(1).value()});
            ++started_;
            if (!recordings_) recordings_ = rp::stats().recordings;
            if (calls.size() > calls_in_flight) finish();
        }
        while (!calls.empty()) finish();
        history_.sizes = sizes_.size();
        if (recordings_) history_.recordings = rp::stats().recordings - *recordings_;
        if (history_.interrupted) return;
        const auto first = history_.loss.begin() + begin;
        history_.epoch_loss.push_back(std::accumulate(first, history_.loss.end(), 0.0) /
                                      static_cast<double>(history_.loss.end() - first));
    }

    // Linear warmup from 0, then cosine decay.
    double scheduled_rate() const
    {
        if (started_ < warmup) return highest_rate * static_cast<double>(started_ + 1) / warmup;
        const double share = static_cast<double>(started_ - warmup) /
                             static_cast<double>(std::max(steps_ - warmup, std::int64_t{1}));
        return highest_rate * (0.05 + 0.95 * 0.5 * (1 + std::cos(std::numbers::pi * share)));
    }

    void check_loss() const
    {
        if (std::isfinite(history_.loss.back())) return;
        throw rp::Error(rp::ErrorKind::state, "The loss is not finite any more at step " +
                                                  std::to_string(history_.loss.size()) +
                                                  ": the training diverged; try another --seed or --batch.");
    }

    void report()
    {
        const auto done = static_cast<std::int64_t>(history_.loss.size());
        const std::size_t window = std::min<std::size_t>(history_.loss.size(), 20);
        double loss = 0;
        for (std::size_t i = history_.loss.size() - window; i < history_.loss.size(); ++i)
            loss += history_.loss[i];
        const std::int64_t per_epoch = history_.steps_per_epoch;
        reporter_.step({.epoch = epoch_ + 1,
                        .epochs = (steps_ + per_epoch - 1) / per_epoch,
                        .step = done - epoch_ * per_epoch,
                        .steps = std::min(per_epoch, steps_ - epoch_ * per_epoch),
                        .loss = loss / static_cast<double>(window),
                        .more = {},
                        .rate = history_.characters_per_second,
                        .unit = "characters",
                        .seconds_left = history_.train_seconds / static_cast<double>(done) *
                                        static_cast<double>(steps_ - done)});
    }

    // Each call appends one character; one program serves all lengths.
    void write()
    {
        net_.eval();
        const rp::Dim seq = rp::symbol("seq");
        const rp::Program next = rp::record(
            [&](rp::Tensor x) {
                const rp::no_grad guard;
                return rp::softmax(net_(x).narrow(1, x.size(1) - 1, 1).reshape({text_.characters()}) /
                                       options_.temperature,
                                   0);
            },
            {rp::spec({1, seq}, rp::i32)});
        std::mt19937_64 random(options_.seed);
        for (std::int64_t i = 0; i < options_.sentences && !reporter_.stop(); ++i) {
            std::vector<std::int32_t> line = {0};
            while (static_cast<std::int64_t>(line.size()) < options_.longest) {
                const auto shares = next(rp::from_vector(line, {1, line.size()})).to_vector<float>();
                std::discrete_distribution<std::int32_t> likely(shares.begin(), shares.end());
                line.push_back(likely(random));
                if (line.back() == 0) break;
            }
            std::erase(line, 0);
            history_.written.push_back(text_.text(line));
        }
    }

    const Options& options_;
    const Text& text_;
    const Reporter& reporter_;
    rp::distributed::World world_;
    gpt::Gpt net_;
    rp::nn::DistributedDataParallel<gpt::Gpt> ddp_{net_, world_, {.weight_by_samples = false}};
    // Each rank has a part of its state.
    rp::optim::ZeroRedundancyOptimizer<rp::optim::AdamW> optimizer_{ddp_, {.lr = highest_rate}};
    rp::GradScaler scaler_{
        {.enabled = options_.precision == "f16"}}; // f16 has too small a range for gradients
    rp::Program step_;
    History history_;
    std::string signature_;
    std::set<std::pair<std::int64_t, std::int64_t>> sizes_; // of this process, as recordings_
    std::optional<std::uint64_t> recordings_;
    std::int64_t steps_ = 0, started_ = 0, epoch_ = 0, characters_ = 0;
};

} // namespace

History train(const rp::distributed::World& world, const Options& options, const Text& text,
              const Files& files, const Reporter& reporter)
{
    rp::manual_seed(options.seed);
    return Training(world, options, text, reporter).run(files);
}

} // namespace char_gpt

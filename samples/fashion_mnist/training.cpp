#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numbers>
#include <sstream>
#include <tuple>

#include <reprise/train.hpp>

#include "../common/run.hpp"
#include "net.hpp"

namespace {

constexpr double first_learning_rate = 1e-3;
constexpr std::int64_t test_batch = 250;
constexpr std::size_t calls_in_flight = 2; // results are read later, so that host and device overlap

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

rp::data::DataLoader::Options batches(std::int64_t size, std::uint64_t seed)
{
    return {.batch_size = size,
            .seed = seed,
            .mean = {0.2860},
            .std = {0.3530}}; // mean and std of the training images
}

rp::Tensor correct(const rp::Tensor& logits, const rp::Tensor& y) // number of correct predictions
{
    return rp::sum(rp::cast(rp::argmax(logits, 1) == y, rp::f32));
}

class Training {
public:
    Training(const Options& options, const rp::data::TrainTest& data, const Reporter& reporter)
        : options_(options), reporter_(reporter),
          train_(limited(options, data.train), training_batches(options)),
          test_(data.test, batches(test_batch, options.seed))
    {
        const rp::Dim batch = rp::symbol("batch");
        const std::vector<rp::Spec> inputs = {rp::spec({batch, 1, 28, 28}), rp::spec({batch}, rp::i32)};
        step_ = rp::record(
            [&](rp::Tensor x, rp::Tensor y) {
                const rp::Tensor logits = net_(x);
                const rp::Tensor loss = rp::cross_entropy(logits, y);
                optimizer_.zero_grad();
                loss.backward();
                optimizer_.step();
                return std::tuple(loss.detach(), correct(logits.detach(), y));
            },
            inputs);
        net_.eval();
        test_step_ = rp::record(
            [&](rp::Tensor x, rp::Tensor y) {
                const rp::no_grad guard;
                const rp::Tensor logits = net_(x);
                return std::tuple(rp::cross_entropy(logits, y, rp::Reduction::sum), correct(logits, y));
            },
            inputs);
        net_.train();
        for (const rp::Variable& p : net_.parameters()) history_.parameters += p.numel().value();
        history_.memory = step_.memory({std::min(options.batch, train_.dataset().size())});
        history_.steps_per_epoch = train_.size();
        signature_ = signature();
    }

    History run(const Files& files)
    {
        if (options_.resume && std::filesystem::exists(files.checkpoint)) load(files.checkpoint);
        reporter_.recorded(history_);
        while (!history_.interrupted && static_cast<std::int64_t>(train_.next_epoch()) < options_.epochs) {
            epoch_ = static_cast<std::int64_t>(train_.next_epoch());
            run_epoch();
            if (!history_.interrupted) {
                test();
                seen_ = 0;
                hits_ = 0;
                rp::save_safetensors(files.weights, net_.state_dict());
            }
            rp::train::save_checkpoint(files.checkpoint, parts());
            if (!history_.interrupted) reporter_.epoch(history_);
        }
        return history_;
    }

private:
    struct Call {
        std::vector<rp::Tensor> results; // loss, number of correct images
        std::int64_t images;
    };

    static rp::data::ImageDataset limited(const Options& options, const rp::data::ImageDataset& all)
    {
        return options.train_limit > 0 ? all.first(options.train_limit) : all;
    }

    static rp::data::DataLoader::Options training_batches(const Options& options)
    {
        rp::data::DataLoader::Options out = batches(options.batch, options.seed);
        out.shuffle = true;
        return out;
    }

    // Describes the run: a checkpoint of another one does not fit.
    std::string signature() const
    {
        std::ostringstream text;
        text << options_.epochs << " epochs of " << train_.dataset().size() << " images, batch "
             << options_.batch << ", seed " << options_.seed;
        return text.str();
    }
    std::vector<rp::train::Part> parts()
    {
        return {{"net", net_},
                {"optimizer", optimizer_},
                {"loader", train_},
                {"signature", signature_},
                {"loss", history_.loss},
                {"accuracy", history_.accuracy},
                {"test_loss", history_.test_loss},
                {"test_accuracy", history_.test_accuracy},
                {"images", images_},
                {"images_of_epoch", seen_},
                {"correct_of_epoch", hits_},
                {"seconds", history_.train_seconds}};
    }
    void load(const std::filesystem::path& checkpoint)
    {
        require_same_run(checkpoint, signature_);
        rp::train::load_checkpoint(checkpoint, parts());
        started_ = static_cast<std::int64_t>(history_.loss.size());
        if (images_ > 0) history_.images_per_second = static_cast<double>(images_) / history_.train_seconds;
    }

    void run_epoch()
    {
        const Clock::time_point start = Clock::now();
        const double before = history_.train_seconds;
        std::deque<Call> calls;
        for (const auto& [x, y] : train_) {
            optimizer_.set_learning_rate(scheduled_rate());
            ++started_;
            calls.push_back({step_.call({x, y}), y.numel().value()});
            if (calls.size() > calls_in_flight) {
                finish(calls.front());
                calls.pop_front();
                history_.train_seconds = before + seconds_since(start);
                report();
            }
            // Only here: all batches before the loader's place, which a checkpoint has, were trained with.
            if ((history_.interrupted = reporter_.stop())) break;
        }
        for (const Call& call : calls) finish(call);
        history_.train_seconds = before + seconds_since(start);
        report();
    }

    // Cosine decay from the initial rate to 0.
    double scheduled_rate() const
    {
        const double share =
            static_cast<double>(started_) / static_cast<double>(options_.epochs * train_.size());
        return first_learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * share));
    }

    void finish(const Call& call)
    {
        const double loss = call.results[0].item<float>(), hits = call.results[1].item<float>();
        history_.loss.push_back(loss);
        history_.accuracy.push_back(hits / static_cast<double>(call.images));
        if (!std::isfinite(loss))
            throw rp::Error(rp::ErrorKind::state,
                            "The loss is not finite any more at step " +
                                std::to_string(history_.loss.size()) +
                                ": the training diverged; try another --seed or --batch.");
        hits_ += hits;
        seen_ += call.images;
        images_ += call.images;
    }

    void report()
    {
        const auto done = static_cast<std::int64_t>(history_.loss.size());
        if (seen_ == 0) return;
        const double step_seconds = history_.train_seconds / static_cast<double>(done);
        history_.images_per_second = static_cast<double>(images_) / history_.train_seconds;
        const std::size_t window = std::min<std::size_t>(history_.loss.size(), 20);
        double loss = 0;
        for (std::size_t i = history_.loss.size() - window; i < history_.loss.size(); ++i)
            loss += history_.loss[i];
        const double steps_left = static_cast<double>(options_.epochs * train_.size() - done);
        const double tests_left = static_cast<double>(options_.epochs - epoch_);
        reporter_.step({.epoch = epoch_ + 1,
                        .epochs = options_.epochs,
                        .step = done - epoch_ * train_.size(),
                        .steps = train_.size(),
                        .loss = loss / static_cast<double>(window),
                        .more = reprise::train::percent_text(hits_ / static_cast<double>(seen_)) + " right",
                        .rate = history_.images_per_second,
                        .unit = "images",
                        .seconds_left = step_seconds * steps_left + test_seconds() * tests_left,
                        .testing = {}});
    }

    // Returns the duration of one test. It is an estimate before the first test: a training step costs about three
    // times as much as its forward pass.
    double test_seconds() const
    {
        if (test_seconds_ > 0) return test_seconds_;
        return static_cast<double>(test_.dataset().size()) / (3 * history_.images_per_second);
    }

    void test()
    {
        const Clock::time_point start = Clock::now();
        std::deque<std::vector<rp::Tensor>> results;
        double loss = 0, hits = 0;
        reprise::train::Progress progress{
            .epoch = epoch_ + 1, .epochs = options_.epochs, .steps = test_.size()};
        progress.testing = "testing";
        const auto read_first = [&] {
            loss += results.front()[0].item<float>();
            hits += results.front()[1].item<float>();
            results.pop_front();
            ++progress.step;
            reporter_.step(progress);
        };
        for (const auto& [x, y] : test_) {
            results.push_back(test_step_.call({x, y}));
            if (results.size() > calls_in_flight) read_first();
        }
        while (!results.empty()) read_first();
        const auto images = static_cast<double>(test_.dataset().size());
        history_.test_loss.push_back(loss / images);
        history_.test_accuracy.push_back(hits / images);
        test_seconds_ = seconds_since(start);
    }

    const Options& options_;
    const Reporter& reporter_;
    rp::data::DataLoader train_, test_;
    Net net_;
    rp::optim::Adam optimizer_{net_.parameters(), {.lr = first_learning_rate}};
    rp::Program step_, test_step_;
    History history_;
    std::string signature_;
    std::int64_t epoch_ = 0, started_ = 0, images_ = 0, seen_ = 0;
    double hits_ = 0, test_seconds_ = 0;
};

} // namespace

History train(const Options& options, const rp::data::TrainTest& data, const Files& files,
              const Reporter& reporter)
{
    rp::manual_seed(options.seed);
    return Training(options, data, reporter).run(files);
}

#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <sstream>
#include <tuple>

#include <reprise/path_text.hpp>

#include "../common/bert_files.hpp"
#include "../common/run.hpp"

namespace bert_lora {

namespace rp = reprise;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t longest_warmup = 50; // steps
constexpr std::int64_t test_batch = 64;     // texts
constexpr std::size_t calls_in_flight = 2;  // results are read later, so that host and device overlap

using Clock = std::chrono::steady_clock;

// Seeds all that is drawn from here on: first the weights, then the adapters, then dropout.
const bert::Config& seeded(const Options& options, const bert::Config& config)
{
    rp::manual_seed(options.seed);
    return config;
}

rp::DType precision_of(const Options& o) { return o.precision == "bf16" ? rp::bf16 : rp::f32; }

} // namespace

Method base_method(const Options& o)
{
    return {.name = "base", .precision = precision_of(o), .rate = 5e-4, .epochs = o.base_epochs};
}

Method method_of(const Options& o, const std::string& name)
{
    Method m{.name = name, .adapters = name != "full", .precision = precision_of(o), .epochs = o.epochs};
    if (name == "qlora")
        m.weights = o.weights == "int8"   ? rp::QuantizedFormat::int8
                    : o.weights == "q8_0" ? rp::QuantizedFormat::q8_0
                                          : rp::QuantizedFormat::q4_0;
    m.rate = o.rate > 0 ? o.rate : m.adapters ? 2e-3 : 3e-4;
    if (o.budget > 0) m.budget = static_cast<std::uint64_t>(o.budget * 1024 * 1024);
    return m;
}

Training::Training(const Options& options, const Method& method, const bert::Config& config,
                   const Examples& examples, const fs::path& base)
    : options_(options), method_(method), config_(config), examples_(examples), net_(seeded(options, config))
{
    if (!base.empty()) bert::load_encoder(net_.bert, base);
    if (method_.weights)
        rp::nn::quantize(net_, {.format = *method_.weights,
                                .filter =
                                    [](const std::string& name) {
                                        return name != "classifier" && name != "bert.pooler.dense";
                                    },
                                .embeddings = true});
    if (method_.adapters)
        lora_.emplace(net_, rp::nn::LoraOptions{.rank = options.rank,
                                                .alpha = 2.0 * static_cast<double>(options.rank),
                                                .target_modules = {"query", "key", "value", "dense"},
                                                .exclude_modules = {"pooler.dense"},
                                                .modules_to_save = {"classifier", "pooler"}});
    const std::vector<rp::Variable> trained = lora_ ? lora_->parameters() : net_.parameters();
    optimizer_.emplace(trained, rp::optim::AdamW::Options{.lr = method_.rate});

    const rp::Dim batch = rp::symbol("batch"), seq = rp::symbol("seq");
    const std::vector<rp::Spec> inputs = {rp::spec({batch, seq}, rp::i32), rp::spec({batch}, rp::i32)};
    const auto loss_of = [&](const rp::Tensor& logits, const rp::Tensor& topics, rp::Reduction reduction) {
        return rp::cross_entropy(rp::cast(logits, rp::f32), topics, reduction);
    };
    step_ = rp::record(
        [&](rp::Tensor tokens, rp::Tensor topics) {
            rp::Tensor loss;
            {
                const rp::autocast guard(rp::bf16, method_.precision == rp::bf16);
                loss = loss_of(net_(tokens), topics, rp::Reduction::mean);
            }
            optimizer_->zero_grad();
            loss.backward();
            optimizer_->step();
            return loss.detach();
        },
        inputs, {.memory_budget = method_.budget});
    net_.eval();
    test_step_ = rp::record(
        [&](rp::Tensor tokens, rp::Tensor topics) {
            const rp::no_grad guard;
            const rp::Tensor logits = net_(tokens), best = rp::argmax(logits, 1);
            return std::tuple(loss_of(logits, topics, rp::Reduction::sum), best);
        },
        inputs);
    net_.train();

    history_.method = method_.name;
    for (const rp::Variable& p : trained) history_.trained += p.numel().value();
    const auto texts = static_cast<std::int64_t>(examples.train.size());
    history_.memory = step_.memory({std::min(options.batch, texts), options.longest});
    history_.steps_per_epoch = (texts + options.batch - 1) / options.batch;
    steps_ = method_.epochs * history_.steps_per_epoch;
    if (options.steps > 0) steps_ = std::min(steps_, options.steps);
    signature_ = signature();
}

History Training::run(const fs::path& checkpoint, const Reporter& reporter)
{
    if (options_.resume && fs::exists(checkpoint)) load(checkpoint);
    while (started_ < steps_) {
        history_.interrupted = !run_epoch(reporter);
        if (!history_.interrupted) test();
        rp::train::save_checkpoint(checkpoint, parts());
        if (history_.interrupted) break;
        reporter.epoch(history_);
    }
    return history_;
}

// Returns false if it was interrupted.
bool Training::run_epoch(const Reporter& reporter)
{
    const Clock::time_point start = Clock::now();
    const double before = history_.seconds;
    const std::int64_t epoch = started_ / history_.steps_per_epoch,
                       end = std::min(steps_, (epoch + 1) * history_.steps_per_epoch);
    const auto batches =
        batches_of(examples_.train, options_.batch, options_.seed + static_cast<std::uint64_t>(epoch));
    std::deque<std::pair<rp::Tensor, std::size_t>> calls; // the loss, the number of texts
    const auto finish = [&] {
        history_.loss.push_back(calls.front().first.item<float>());
        texts_ += static_cast<std::int64_t>(calls.front().second);
        calls.pop_front();
        history_.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
        history_.texts_per_second = static_cast<double>(texts_) / history_.seconds;
        if (!std::isfinite(history_.loss.back()))
            throw rp::Error(rp::ErrorKind::state, "The loss is not finite any more at step " +
                                                      std::to_string(history_.loss.size()) +
                                                      ": the training diverged; try a smaller --rate.");
        report(reporter);
    };
    bool complete = true;
    while (started_ < end && (complete = !reporter.stop())) {
        const auto& numbers = batches[static_cast<std::size_t>(started_ - epoch * history_.steps_per_epoch)];
        const Batch b = make_batch(examples_.train, numbers);
        optimizer_->set_learning_rate(scheduled_rate());
        calls.emplace_back(step_(b.tokens, b.topics), numbers.size());
        ++started_;
        if (!recordings_) recordings_ = rp::stats().recordings;
        if (calls.size() > calls_in_flight) finish();
    }
    while (!calls.empty()) finish();
    if (recordings_) history_.recordings = rp::stats().recordings - *recordings_;
    if (!complete) return false;
    const auto first = history_.loss.begin() + epoch * history_.steps_per_epoch;
    history_.epoch_loss.push_back(std::accumulate(first, history_.loss.end(), 0.0) /
                                  static_cast<double>(history_.loss.end() - first));
    return true;
}

// Linear warmup from 0 during a tenth of the steps, at most 50, and linear decay to 0.
double Training::scheduled_rate() const
{
    const std::int64_t warmup = std::clamp<std::int64_t>(steps_ / 10, 1, longest_warmup);
    const auto share = [](std::int64_t part, std::int64_t all) {
        return static_cast<double>(part) / static_cast<double>(all);
    };
    if (started_ < warmup) return method_.rate * share(started_ + 1, warmup);
    return method_.rate * share(steps_ - started_, steps_ - warmup);
}

void Training::report(const Reporter& reporter) const
{
    const auto done = static_cast<std::int64_t>(history_.loss.size());
    const std::int64_t per_epoch = history_.steps_per_epoch, epoch = (done - 1) / per_epoch;
    const std::int64_t window = std::min<std::int64_t>(done, 20);
    reporter.step(
        {.epoch = epoch + 1,
         .epochs = (steps_ + per_epoch - 1) / per_epoch,
         .step = done - epoch * per_epoch,
         .steps = std::min(per_epoch, steps_ - epoch * per_epoch),
         .loss = std::accumulate(history_.loss.end() - window, history_.loss.end(), 0.0) /
                 static_cast<double>(window),
         .more = {},
         .rate = history_.texts_per_second,
         .unit = "texts",
         .seconds_left = history_.seconds / static_cast<double>(done) * static_cast<double>(steps_ - done),
         .testing = {}});
}

void Training::test()
{
    net_.eval();
    double loss = 0, hits = 0;
    const auto texts = static_cast<double>(examples_.test.size());
    for (const auto& numbers : batches_of(examples_.test, test_batch, 0)) {
        const Batch b = make_batch(examples_.test, numbers);
        const auto results = test_step_.call({b.tokens, b.topics});
        loss += results[0].item<float>();
        hits += rp::sum(rp::cast(results[1] == b.topics, rp::f32)).item<float>();
    }
    net_.train();
    history_.test_loss.push_back(loss / texts);
    history_.test_accuracy.push_back(hits / texts);
}

std::vector<std::int64_t> Training::predict(const std::vector<std::size_t>& numbers)
{
    const Batch b = make_batch(examples_.test, numbers);
    net_.eval();
    const std::vector<rp::Tensor> results = test_step_.call({b.tokens, b.topics});
    net_.train();
    return rp::cast(results[1], rp::i64).to_vector<std::int64_t>();
}

// ---- checkpoints ----

std::string Training::signature() const
{
    const Options& o = options_;
    std::ostringstream text;
    text.precision(17);
    text << method_.name << (method_.weights ? " over " + o.weights : "") << ", "
         << rp::name_of(method_.precision) << ", rank " << o.rank << ", rate " << method_.rate << ", "
         << steps_ << " steps of " << o.batch << " texts of " << o.longest << " tokens, seed " << o.seed
         << ", base ";
    if (o.base.empty())
        text << "of " << o.layers << " layers of " << o.features << " features with " << o.vocabulary
             << " pieces, " << o.base_epochs << " epochs";
    else text << rp::path_text(o.base);
    text << ", " << examples_.train.size() << " texts of " << rp::path_text(o.data) << ", topics";
    for (const std::string& topic : examples_.topics) text << " " << topic;
    return text.str();
}

std::vector<rp::train::Part> Training::parts()
{
    return {lora_ ? rp::train::Part("model", *lora_) : rp::train::Part("model", net_),
            {"optimizer", *optimizer_},
            {"signature", signature_},
            {"loss", history_.loss},
            {"epoch_loss", history_.epoch_loss},
            {"test_loss", history_.test_loss},
            {"test_accuracy", history_.test_accuracy},
            {"texts", texts_},
            {"seconds", history_.seconds}};
}

void Training::load(const fs::path& path)
{
    require_same_run(path, signature_);
    rp::train::load_checkpoint(path, parts());
    started_ = static_cast<std::int64_t>(history_.loss.size());
    if (texts_ > 0) history_.texts_per_second = static_cast<double>(texts_) / history_.seconds;
}

} // namespace bert_lora

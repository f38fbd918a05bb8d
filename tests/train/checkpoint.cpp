// Checkpoints of training runs: what they hold, that loading changes all or nothing, and which files stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, std::vector<std::byte>> bytes_of(const std::map<std::string, Tensor>& state)
{
    std::map<std::string, std::vector<std::byte>> out;
    for (const auto& [name, value] : state) out.emplace(name, to_bytes(value));
    return out;
}

// Returns the text of the error that the call throws, of this kind.
template <class Call> std::string failure(const Call& call, ErrorKind kind)
{
    const Caught caught = error_of([&] { return call(), 0; });
    EXPECT_EQ(caught.kind, kind) << caught.text;
    return caught.text;
}

// A run with every kind of part.
struct TrainingRun {
    nn::Sequential net;
    optim::Adam optimizer;
    optim::StepLR schedule;
    GradScaler scaler{{.enabled = false}}; // without a state
    data::DataLoader loader;
    std::int64_t step = 0;
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> losses;
    std::string note;

    explicit TrainingRun(std::int64_t features = 4, double lr = 0.01)
        : net(nn::Linear(3, features), nn::Dropout(0.5), nn::Linear(features, 2)),
          optimizer(net->parameters(), {.lr = lr}), schedule(optimizer, 2),
          loader(data::TensorDataset(reshape(arange(30, {.dtype = f32}), {10, 3}), arange(10) % 2),
                 {.batch_size = 2, .shuffle = true})
    {}

    std::vector<train::Part> parts()
    {
        return {{"net", *net},      {"optimizer", optimizer}, {"schedule", schedule},
                {"scaler", scaler}, {"loader", loader},       {"step", step},
                {"best", best},     {"losses", losses},       {"note", note}};
    }
    void train(std::int64_t steps)
    {
        for (;;)
            for (const auto& [x, y] : loader) {
                if (steps-- == 0) return;
                optimizer.zero_grad();
                const Tensor loss = cross_entropy((*net)(x), y.to(i32));
                loss.backward();
                optimizer.step();
                schedule.step();
                losses.push_back(loss.item<float>());
                best = std::min(best, losses.back());
                note = "after " + std::to_string(++step);
            }
    }
};

TEST(Checkpoint, GoesOnToTheSameBits)
{
    const Scratch folder;
    for (const std::int64_t at : {0, 1, 4, 5, 6}) { // 5: the end of an epoch
        manual_seed(3);
        TrainingRun straight;
        straight.train(12);
        manual_seed(3);
        {
            TrainingRun first;
            std::int64_t left = at;
            for (auto it = first.loader.begin(); left-- > 0; ++it) { // saves inside of the loop
                if (it == first.loader.end()) it = first.loader.begin();
                first.optimizer.zero_grad();
                const Tensor loss = cross_entropy((*first.net)(it->data), it->target.to(i32));
                loss.backward();
                first.optimizer.step();
                first.schedule.step();
                first.losses.push_back(loss.item<float>());
                first.best = std::min(first.best, first.losses.back());
                first.note = "after " + std::to_string(++first.step);
                if (left == 0) break;
            }
            train::save_checkpoint(folder / "run", first.parts());
        }
        manual_seed(99);
        TrainingRun second(4, 0.5);
        second.losses = {1, 2, 3};
        train::load_checkpoint(folder / "run", second.parts());
        EXPECT_EQ(second.step, at);
        second.train(12 - at);
        EXPECT_EQ(bytes_of(second.net->state_dict()), bytes_of(straight.net->state_dict())) << at;
        EXPECT_EQ(bytes_of(second.optimizer.state_dict()), bytes_of(straight.optimizer.state_dict())) << at;
        EXPECT_EQ(second.losses, straight.losses) << at;
        EXPECT_EQ(second.best, straight.best);
        EXPECT_EQ(second.note, straight.note);
    }
}

TEST(Checkpoint, IsASafetensorsFile)
{
    const Scratch folder;
    TrainingRun run;
    run.train(1);
    train::save_checkpoint(folder / "run.safetensors", run.parts());
    const auto all = load_safetensors(folder / "run.safetensors");
    EXPECT_EQ(to_bytes(all.at("net.0.weight")), to_bytes(run.net->state_dict().at("0.weight")));
    EXPECT_EQ(all.at("step").item<std::int64_t>(), 1);
    EXPECT_TRUE(all.contains("optimizer.0.exp_avg") && all.contains("loader.epoch") &&
                all.contains("generator"));
    EXPECT_EQ(folder.files(), 1u);
}

TEST(Checkpoint, KeepsNumbersAndTextsOfAllKinds)
{
    const Scratch folder;
    std::int64_t number = std::numeric_limits<std::int64_t>::min();
    double nan = std::nan(""), tiny = 5e-324;
    std::vector<double> none, some{0.1, -0.0};
    std::string text("a\0b", 3), empty;
    const std::vector<train::Part> parts{{"number", number}, {"nan", nan},   {"tiny", tiny},  {"none", none},
                                         {"some", some},     {"text", text}, {"empty", empty}};
    int small = -7;
    bool yes = true;
    Tensor tensor = from_vector<float>({1, 2}, {2}), undefined;
    std::vector<train::Part> more = parts;
    more.insert(more.end(), {{"small", small}, {"yes", yes}, {"tensor", tensor}});
    train::save_checkpoint(folder / "more", more);
    small = 0, yes = false, tensor = undefined;
    train::load_checkpoint(folder / "more", more);
    EXPECT_TRUE(small == -7 && yes);
    EXPECT_EQ(tensor.to_vector<float>(), (std::vector<float>{1, 2}));
    train::save_checkpoint(folder / "run", parts);
    EXPECT_THAT(failure(
                    [&] {
                        train::load_checkpoint(folder / "run", {{"number", small}}, {.strict = false});
                    },
                    ErrorKind::argument),
                HasSubstr("does not fit its variable"));
    EXPECT_EQ(small, -7);
    number = 1, nan = tiny = 1, none = {1}, some = {}, text = "x", empty = "y";
    train::load_checkpoint(folder / "run", parts);
    EXPECT_EQ(number, std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(std::isnan(nan) && tiny == 5e-324 && none.empty() && text == std::string("a\0b", 3) &&
                empty.empty());
    EXPECT_EQ(some, (std::vector{0.1, -0.0}));
}

TEST(Checkpoint, SetsTheGeneratorUnlessToldNotTo)
{
    const Scratch folder;
    std::int64_t n = 0;
    set_generator_state({~std::uint64_t{0}, 5});
    train::save_checkpoint(folder / "run", {{"n", n}});
    set_generator_state({1, 2});
    train::load_checkpoint(folder / "run", {{"n", n}}, {.generator = false});
    EXPECT_EQ(generator_state().ordinal, 2u);
    train::load_checkpoint(folder / "run", {{"n", n}});
    EXPECT_EQ(generator_state().seed, ~std::uint64_t{0});
    EXPECT_EQ(generator_state().ordinal, 5u);
}

TEST(Checkpoint, OfOtherPartsIsAnError)
{
    const Scratch folder;
    std::int64_t a = 1, b = 2, c = 3;
    train::save_checkpoint(folder / "run", {{"a", a}, {"b", b}});
    a = b = 0;
    EXPECT_THAT(failure(
                    [&] {
                        train::load_checkpoint(folder / "run", {{"a", a}, {"c", c}});
                    },
                    ErrorKind::argument),
                testing::EndsWith("has the parts (a b), but those to load are (a c). The file is (" +
                                  path_text(folder / "run") + ")."));
    EXPECT_THAT(failure(
                    [&] {
                        train::load_checkpoint(folder / "run", {{"b", b}});
                    },
                    ErrorKind::argument),
                HasSubstr("leave out some with strict = false"));
    EXPECT_EQ(b, 0);
    train::load_checkpoint(folder / "run", {{"b", b}}, {.strict = false});
    EXPECT_EQ(b, 2);
    EXPECT_THAT(failure(
                    [&] {
                        train::save_checkpoint(folder / "x", {{"a", a}, {"a", b}});
                    },
                    ErrorKind::argument),
                HasSubstr("Two parts have the same name (a)"));
    for (const char* name : {"", "a.b", "a b", "generator", "__metadata__", "1"})
        EXPECT_THAT(failure([&] { train::Part(name, a); }, ErrorKind::argument),
                    HasSubstr("begin with a letter"));
    std::string text;
    EXPECT_THAT(failure(
                    [&] {
                        train::load_checkpoint(folder / "run", {{"a", text}}, {.strict = false});
                    },
                    ErrorKind::argument),
                testing::AllOf(HasSubstr("The part is (a)"), HasSubstr("run)")));
}

TEST(Checkpoint, ChangesNothingAfterAnError)
{
    const Scratch folder;
    manual_seed(1);
    TrainingRun large(5), run;
    run.train(3), large.train(2);
    train::save_checkpoint(folder / "run", large.parts());
    const auto net = bytes_of(run.net->state_dict()), optimizer = bytes_of(run.optimizer.state_dict());
    const GeneratorState random = generator_state();
    std::vector<train::Part> parts = run.parts();
    std::swap(parts[0], parts[5]); // a number and the loader are loaded before the optimizer, which fails
    std::swap(parts[1], parts[4]);
    const std::string error =
        failure([&] { train::load_checkpoint(folder / "run", parts); }, ErrorKind::shape);
    EXPECT_THAT(error, HasSubstr("The part is (optimizer)"));
    EXPECT_EQ(bytes_of(run.net->state_dict()), net);
    EXPECT_EQ(bytes_of(run.optimizer.state_dict()), optimizer);
    EXPECT_EQ(run.step, 3);
    EXPECT_EQ(run.loader.state_dict().at("batch").item<std::int64_t>(), 4); // the loop began one more
    EXPECT_EQ(generator_state().ordinal, random.ordinal);
}

// Modules, optimizers and a class of the program's own, whose state is its live tensors, get their values back where a
// later part fails, with any exception.
TEST(Checkpoint, GivesLoadedPartsTheirValuesBack)
{
    struct Own {
        Variable value{ones({2})};
        bool fails = false;
        std::map<std::string, Tensor> state_dict() const { return {{"value", value}}; }
        void load_state_dict(const std::map<std::string, Tensor>& state)
        {
            value.assign(state.at("value").to(value.device()));
            if (fails) throw std::bad_alloc();
        }
    };
    const Scratch folder;
    manual_seed(2);
    TrainingRun saved, run;
    saved.train(4), run.train(7);
    Own own, other;
    other.value.assign(zeros({2}));
    const auto with_own = [](TrainingRun& r, Own& o) {
        std::vector<train::Part> parts = r.parts();
        parts.insert(parts.begin(), train::Part("own", o));
        return parts;
    };
    train::save_checkpoint(folder / "run", with_own(saved, other));
    const auto net = bytes_of(run.net->state_dict()), optimizer = bytes_of(run.optimizer.state_dict()),
               schedule = bytes_of(run.schedule.state_dict());
    auto it = run.loader.begin();
    *it;
    const auto place = bytes_of(run.loader.state_dict());
    const std::uint64_t next = run.loader.next_epoch();
    const std::vector<float> before = own.value.to_vector<float>();
    for (const bool throws : {false, true}) {
        std::vector<train::Part> parts = with_own(run, own);
        own.fails = throws;
        if (throws) std::swap(parts.front(), parts.back());
        else parts.back() = {"note", run.best}; // a number, where the file has a text
        EXPECT_ANY_THROW(train::load_checkpoint(folder / "run", parts));
        own.fails = false;
        EXPECT_EQ(bytes_of(run.net->state_dict()), net);
        EXPECT_EQ(bytes_of(run.optimizer.state_dict()), optimizer);
        EXPECT_EQ(bytes_of(run.schedule.state_dict()), schedule);
        EXPECT_EQ(own.value.to_vector<float>(), before);
        EXPECT_EQ(bytes_of(run.loader.state_dict()), place);
        EXPECT_EQ(run.loader.next_epoch(), next);
        EXPECT_EQ(run.step, 7);
    }
    ++it;
    *it; // the loop goes on, and moves the loader's place
    EXPECT_NE(bytes_of(run.loader.state_dict()), place);
}

TEST(Checkpoint, OfADamagedOrOtherFileIsAnError)
{
    const Scratch folder;
    std::int64_t n = 1;
    const auto error = [&](const char* name, ErrorKind kind) {
        return failure([&] { train::load_checkpoint(folder / name, {{"n", n}}); }, kind);
    };
    EXPECT_THAT(error("missing", ErrorKind::file), HasSubstr("missing"));
    save_safetensors(folder / "other", {{"n", ones({1})}});
    EXPECT_THAT(error("other", ErrorKind::argument), HasSubstr("is no checkpoint"));
    train::save_checkpoint(folder / "run", {{"n", n}});
    EXPECT_THAT(failure(
                    [&] {
                        train::save_checkpoint(folder / "run.json", {{"n", n}});
                    },
                    ErrorKind::argument),
                HasSubstr("another name than .json"));
    save_safetensors(folder / "next", {{"n", ones({1})}}, {.metadata = {{"format", "reprise checkpoint 2"}}});
    EXPECT_THAT(error("next", ErrorKind::argument), HasSubstr("of another version (2) than (1)"));
    const std::string whole = read_text(folder / "run");
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        write_text(folder / "cut", whole.substr(0, size));
        error("cut", ErrorKind::file);
    }
}

TEST(Checkpoints, KeepTheLastOnesAndTheBest)
{
    const Scratch folder;
    write_text(folder / "step-000000000007.safetensors.partial-12", "half");
    write_text(folder / "notes.txt", "mine");
    write_text(folder / "step-000000000007-mine.safetensors", "mine");
    std::int64_t n = 0;
    const std::vector<train::Part> parts{{"n", n}};
    {
        train::Checkpoints kept(folder.path(), {.keep_last = 2});
        EXPECT_EQ(kept.load_last(parts), std::nullopt);
        EXPECT_EQ(kept.load_best(parts), std::nullopt);
        const std::vector<double> losses{3, 1, std::nan(""), 2};
        for (n = 0; n < 4; ++n) kept.save(n * 100, parts, losses[static_cast<std::size_t>(n)]);
        kept.save(12345, parts);
    }
    EXPECT_EQ(folder.files(), 5u); // two steps, the best, and what others wrote
    train::Checkpoints again(folder.path());
    EXPECT_THAT(again.files(), ElementsAre(folder / "step-000000000300.safetensors",
                                           folder / "step-000000012345.safetensors"));
    EXPECT_EQ(again.best_metric(), 1.0);
    n = -1;
    EXPECT_EQ(again.load_best(parts), 100);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(again.load_last(parts), 12345);
    EXPECT_EQ(n, 4);
    again.save(12346, parts, 0.5);
    EXPECT_EQ(again.best_metric(), 0.5);
    train::Checkpoints accuracy(folder.path(), {.keep_last = 1, .higher_is_better = true});
    accuracy.save(12347, parts, 0.25);
    EXPECT_EQ(again.best_metric(), 0.5);
    accuracy.save(12348, parts, 0.75);
    EXPECT_EQ(again.best_metric(), 0.75);
    EXPECT_THAT(again.files(), ElementsAre(folder / "step-000000012348.safetensors"));
}

// A run that goes back to the best step, or another one in the same folder, does not mix with later files.
TEST(Checkpoints, OfLaterStepsAreNotMixedIn)
{
    const Scratch folder;
    std::int64_t n = 0;
    const std::vector<train::Part> parts{{"n", n}};
    train::Checkpoints kept(folder.path());
    for (n = 0; n < 3; ++n) kept.save(1000 + n, parts, n == 0 ? 1.0 : 2.0);
    EXPECT_EQ(kept.load_best(parts), 1000);
    EXPECT_THAT(failure([&] { kept.save(1001, parts); }, ErrorKind::state),
                HasSubstr("a later step (1002) than (1001)"));
    EXPECT_EQ(kept.files().size(), 2u);
    kept.remove_after(1000);
    EXPECT_TRUE(kept.files().empty());
    EXPECT_EQ(kept.best_metric(), 1.0);
    kept.save(1001, parts);
    kept.save(1001, parts); // again
    EXPECT_EQ(kept.load_last(parts), 1001);
}

TEST(Checkpoints, SaveBesideADamagedBestOne)
{
    const Scratch folder;
    std::int64_t n = 5;
    write_text(folder / "best.safetensors", "damaged");
    train::Checkpoints kept(folder.path());
    failure([&] { kept.best_metric(); }, ErrorKind::file);
    kept.save(1, {{"n", n}}, 3.0);
    EXPECT_EQ(kept.best_metric(), 3.0);
    EXPECT_EQ(kept.load_last({{"n", n}}), 1);
}

TEST(Checkpoints, RefuseWhatTheyCannotDo)
{
    const Scratch folder;
    std::int64_t n = 0;
    train::Checkpoints kept(folder / "new");
    EXPECT_EQ(kept.load_last({{"n", n}}), std::nullopt);
    EXPECT_EQ(kept.load_best({{"n", n}}), std::nullopt);
    EXPECT_EQ(folder.files(), 0u); // a reader creates nothing
    EXPECT_THAT(failure([&] { kept.save(-1, {{"n", n}}); }, ErrorKind::argument), HasSubstr("(-1)"));
    EXPECT_THAT(failure(
                    [&] {
                        kept.save(1'000'000'000'000, {{"n", n}});
                    },
                    ErrorKind::argument),
                HasSubstr("step"));
    EXPECT_THAT(failure([&] { train::Checkpoints(folder.path(), {.keep_last = 0}); }, ErrorKind::argument),
                HasSubstr("keep_last"));
    write_text(folder / "file", "");
    EXPECT_THAT(failure(
                    [&] {
                        train::Checkpoints(folder / "file").save(0, {{"n", n}});
                    },
                    ErrorKind::file),
                HasSubstr("can't be used"));
    std::filesystem::create_directory(folder / "new");
    train::save_checkpoint(folder / "new" / "step-000000000001.safetensors", {{"n", n}});
    EXPECT_THAT(failure(
                    [&] {
                        kept.load_last({{"n", n}});
                    },
                    ErrorKind::argument),
                HasSubstr("no number of a step"));
}

} // namespace

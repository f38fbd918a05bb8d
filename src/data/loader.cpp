
#include <utility>

#include <reprise/data/loader.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/random.hpp>

#include "data/run.hpp"

namespace reprise::data {

using detail::fail;

namespace {

void check(const DataLoaderSettings& o)
{
    constexpr std::size_t max_workers = 1024, max_prefetch = std::size_t{1} << 20;
    if (o.batch_size < 1)
        fail(ErrorKind::argument, "DataLoader", "The batch_size (", o.batch_size, ") must be at least 1.");
    if (o.num_workers > max_workers)
        fail(ErrorKind::argument, "DataLoader", "The num_workers (", o.num_workers, ") must be at most ",
             max_workers, ".");
    if (o.prefetch < 1 || o.prefetch > max_prefetch)
        fail(ErrorKind::argument, "DataLoader", "The prefetch (", o.prefetch, ") must be from 1 to ",
             max_prefetch, ".");
    if (o.shuffle && o.sampler)
        fail(ErrorKind::argument, "DataLoader",
             "There are shuffle and a sampler, which both give the order: leave one out.");
}

} // namespace

DataLoader::DataLoader(std::shared_ptr<const BatchSource> source, Options options)
    : source_(std::move(source)), options_(std::move(options))
{
    if (!source_) fail(ErrorKind::argument, "DataLoader", "The data set is a null pointer.");
    check(options_);
    if (!options_.seed) options_.seed = draw_seed();
    if (!options_.sampler && options_.shuffle)
        options_.sampler = std::make_shared<const samplers::RandomSampler>();
    else if (!options_.sampler) options_.sampler = std::make_shared<const samplers::SequentialSampler>();
    const std::int64_t examples = options_.sampler->count(source_->size());
    const bool rest = examples % options_.batch_size != 0;
    batches_ = examples / options_.batch_size + (rest && !options_.drop_last ? 1 : 0);
}

DataLoader::DataLoader(std::shared_ptr<const ImageDataset> dataset, Options options)
    : DataLoader(source_of_images(std::move(dataset), options), options)
{}

DataLoader::Iterator DataLoader::run(std::uint64_t epoch, std::shared_ptr<Place> place) const
{
    const std::int64_t size = source_->size();
    const std::uint64_t seed = *options_.seed;
    const std::vector<std::int64_t> order = options_.sampler->order(size, seed, epoch);
    Random seeds(Random(Random(seed).next() + epoch).next());
    std::vector<Pick> picks;
    picks.reserve(order.size());
    for (const std::int64_t index : order) {
        if (index < 0 || index >= size)
            fail(ErrorKind::argument, "DataLoader", "The sampler gave the index (", index,
                 "), but the data set has (", size, ") examples.");
        picks.push_back({index, seeds.next()});
    }
    if (static_cast<std::int64_t>(order.size()) != options_.sampler->count(size))
        fail(ErrorKind::argument, "DataLoader", "The sampler gave (", order.size(),
             ") indices, but told of (", options_.sampler->count(size), ").");
    return Iterator(std::make_shared<Run>(source_, std::move(picks), batches_, options_, std::move(place)));
}

DataLoader::Iterator DataLoader::begin()
{
    auto place = std::make_shared<Place>(Place{next_epoch_, resumes_ ? place_->batch : 0});
    Iterator first = run(next_epoch_, place);
    place_ = std::move(place);
    resumes_ = false;
    ++next_epoch_;
    return first;
}

void DataLoader::set_epoch(std::uint64_t next) noexcept
{
    next_epoch_ = next;
    if (resumes_ && place_->epoch == next) return;
    resumes_ = false;
    place_ = nullptr;
}

std::map<std::string, Tensor> DataLoader::state_dict() const
{
    const auto number = [](auto n) {
        return from_vector(std::vector{static_cast<std::int64_t>(n)}, {}, {.device = Device("reference")});
    };
    return {{"seed", number(*options_.seed)},
            {"epoch", number(place_ ? place_->epoch : next_epoch_)},
            {"batch", number(place_ ? place_->batch : 0)},
            {"batch_size", number(options_.batch_size)},
            {"examples", number(source_->size())}};
}

void DataLoader::load_state_dict(const std::map<std::string, Tensor>& state)
{
    const auto number = [&](const char* name) {
        const auto found = state.find(name);
        if (found == state.end() || !found->second.defined() || found->second.dtype() != i64 ||
            found->second.dim() != 0)
            fail(ErrorKind::argument, "load_state_dict", "The entry (", name,
                 ") of a DataLoader is missing or is not i64 [].");
        return found->second.item<std::int64_t>();
    };
    const std::int64_t seed = number("seed"), epoch = number("epoch"), batch = number("batch"),
                       batch_size = number("batch_size"), examples = number("examples");
    if (state.size() != 5)
        fail(ErrorKind::argument, "load_state_dict", "The state has (", state.size(),
             ") entries, but that of a DataLoader has (5).");
    if (batch_size != options_.batch_size || examples != source_->size() || batch < 0 || batch > batches_)
        fail(ErrorKind::argument, "load_state_dict", "The state was saved after (", batch, ") batches of (",
             batch_size, ") of (", examples, ") examples, but this DataLoader has (", batches_,
             ") batches of (", options_.batch_size, ") of (", source_->size(), ").");
    options_.seed = static_cast<std::uint64_t>(seed);
    next_epoch_ = static_cast<std::uint64_t>(epoch);
    place_ = std::make_shared<Place>(Place{next_epoch_, batch});
    resumes_ = true;
}

std::function<void()> DataLoader::backup()
{
    return [this, before = *this, place = place_ ? *place_ : Place{}] {
        *this = before;
        if (place_) *place_ = place; // a loop may have moved it
    };
}

DataLoader::Batch& DataLoader::Iterator::operator*() const { return run_->current(); }
bool DataLoader::Iterator::at_end() const { return run_->at_end(); }

DataLoader::Iterator& DataLoader::Iterator::operator++()
{
    run_->advance();
    return *this;
}

} // namespace reprise::data

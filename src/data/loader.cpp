
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
    : source_(std::move(source)), options_(std::move(options)), place_(std::make_shared<Place>())
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

DataLoader::DataLoader(const DataLoader& other)
    : source_(other.source_), options_(other.options_), batches_(other.batches_),
      next_epoch_(other.next_epoch_), place_(std::make_shared<Place>(*other.place_))
{}

DataLoader& DataLoader::operator=(const DataLoader& other) { return *this = DataLoader(other); }

DataLoader::Iterator DataLoader::run(std::uint64_t epoch) const
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
    *place_ = {.epoch = epoch, .batch = place_->resumes && place_->epoch == epoch ? place_->batch : 0};
    return Iterator(std::make_shared<Run>(source_, std::move(picks), batches_, options_, place_));
}

void DataLoader::set_epoch(std::uint64_t next) noexcept
{
    next_epoch_ = next;
    *place_ = {.epoch = next};
}

std::map<std::string, Tensor> DataLoader::state_dict() const
{
    const auto number = [](std::uint64_t n) {
        return from_vector(std::vector{static_cast<std::int64_t>(n)}, {}, {.device = Device("reference")});
    };
    return {{"seed", number(*options_.seed)},
            {"epoch", number(place_->epoch)},
            {"batch", number(static_cast<std::uint64_t>(place_->batch))}};
}

void DataLoader::load_state_dict(const std::map<std::string, Tensor>& state)
{
    const auto number = [&](const char* name) {
        const auto found = state.find(name);
        if (found == state.end() || !found->second.defined() || found->second.dtype() != i64 ||
            found->second.dim() != 0)
            fail(ErrorKind::argument, "load_state_dict", "The entry (", name,
                 ") of a loader is missing or is not i64 [].");
        return static_cast<std::uint64_t>(found->second.item<std::int64_t>());
    };
    const std::uint64_t seed = number("seed"), epoch = number("epoch"), batch = number("batch");
    for (const auto& [name, value] : state)
        if (name != "seed" && name != "epoch" && name != "batch")
            fail(ErrorKind::argument, "load_state_dict", "The entry (", name, ") is not of a loader.");
    if (batch > static_cast<std::uint64_t>(batches_))
        fail(ErrorKind::argument, "load_state_dict", "The state is behind (", batch,
             ") batches, but an epoch has (", batches_, "): the data set or the batch size is another one.");
    options_.seed = seed;
    next_epoch_ = epoch;
    *place_ = {.epoch = epoch, .batch = static_cast<std::int64_t>(batch), .resumes = true};
}

DataLoader::Batch& DataLoader::Iterator::operator*() const { return run_->current(); }
bool DataLoader::Iterator::at_end() const { return run_->at_end(); }

DataLoader::Iterator& DataLoader::Iterator::operator++()
{
    run_->advance();
    return *this;
}

} // namespace reprise::data

#include <reprise/distributed/device_group.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include <reprise/error.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "ops/random.hpp"

namespace reprise::distributed {

using detail::fail;

namespace {

struct Threads {
    std::vector<std::thread> all{};
    ~Threads()
    {
        for (std::thread& t : all) t.join();
    }
};

} // namespace

DeviceGroup::DeviceGroup(std::vector<Device> devices) : devices_(std::move(devices))
{
    if (devices_.empty())
        fail(ErrorKind::argument, "DeviceGroup", "There are no devices: give at least one.");
    for (std::size_t k = 0; k < devices_.size(); ++k)
        for (std::size_t j = 0; j < k; ++j)
            if (devices_[j] == devices_[k])
                fail(ErrorKind::argument, "DeviceGroup", "The device (", devices_[k].name(),
                     ") comes twice: a device can't wait for itself.");
    const auto is_cuda = [](const Device& d) { return d.name().starts_with("cuda:"); };
    if (std::count_if(devices_.begin(), devices_.end(), is_cuda) > 1)
        fail(ErrorKind::unsupported, "DeviceGroup",
             "CUDA may run the host functions of all its devices in one thread, where exchanges would wait "
             "for "
             "each other: give each CUDA device a process.");
    set_shares(std::vector<double>(devices_.size(), 1));
}

void DeviceGroup::run(const std::function<void(const World&, const Device&)>& f) const
{
    if (is_recording())
        fail(ErrorKind::state, "DeviceGroup", "A recording is of one thread: record inside of run().");
    std::vector<World> worlds = local_worlds(size());
    std::mutex mutex;
    std::exception_ptr first;
    const GeneratorState begin = generator_state();
    GeneratorState end = begin;
    const auto call = [&](std::size_t k) {
        const DeviceGuard guard(devices_[k]);
        const ops::ThreadGenerator own(begin);
        try {
            f(worlds[k], devices_[k]);
            if (k == 0) end = generator_state();
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!first) first = std::current_exception();
        }
        worlds[k].leave(); // so that the others do not wait for this rank
    };
    {
        Threads threads;
        for (std::size_t k = 0; k < devices_.size(); ++k) threads.all.emplace_back(call, k);
    }
    if (first) std::rethrow_exception(first);
    set_generator_state(end);
}

void DeviceGroup::measure(const std::function<std::int64_t(const Device&)>& f, std::chrono::milliseconds time)
{
    using Clock = std::chrono::steady_clock;
    const auto computed = [&](const Device& device) {
        const std::int64_t samples = f(device);
        if (samples < 1)
            fail(ErrorKind::argument, "DeviceGroup", "The function has computed (", samples,
                 ") samples: let it compute at least one.");
        return samples;
    };
    std::vector<double> speeds(devices_.size());
    const GeneratorState before = generator_state();
    run([&](World world, const Device& device) {
        world.set_timeout(std::chrono::hours(1)); // a slow device may compile kernels for long
        computed(device);
        world.barrier();
        const Clock::time_point begin = Clock::now();
        std::int64_t samples = 0;
        std::chrono::duration<double> taken{};
        do {
            samples += computed(device);
            taken = Clock::now() - begin;
        } while (taken < time);
        speeds[static_cast<std::size_t>(world.rank())] = static_cast<double>(samples) / taken.count();
    });
    set_generator_state(before); // how often f ran depends on the time
    set_shares(speeds);
    speeds_ = std::move(speeds);
}

void DeviceGroup::set_shares(std::vector<double> shares)
{
    if (shares.size() != devices_.size())
        fail(ErrorKind::argument, "DeviceGroup", "There are (", shares.size(), ") shares for (",
             devices_.size(), ") devices: give one for each.");
    for (const double s : shares)
        if (!(s > 0) || std::isinf(s))
            fail(ErrorKind::argument, "DeviceGroup", "The share (", s, ") must be a positive number.");
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (std::isinf(sum)) fail(ErrorKind::argument, "DeviceGroup", "The sum of the shares is infinite.");
    for (double& s : shares) s /= sum;
    shares_ = std::move(shares);
    speeds_.clear();
}

DeviceGroup::Part DeviceGroup::part(std::int64_t rows, int rank) const
{
    if (rows < 0) fail(ErrorKind::argument, "DeviceGroup", "A batch has (", rows, ") rows: give at least 0.");
    if (rank < 0 || rank >= size())
        fail(ErrorKind::argument, "DeviceGroup", "There is no rank (", rank, "): the group has (", size(),
             ").");
    const std::int64_t least = rows >= size() ? 1 : 0; // rows of each rank
    Part part;
    double share = 0; // of the ranks up to this one
    for (int k = 0; k <= rank; ++k) {
        share += shares_[static_cast<std::size_t>(k)];
        part.begin = part.end;
        const auto end = static_cast<std::int64_t>(std::llround(share * static_cast<double>(rows)));
        part.end =
            k + 1 == size() ? rows : std::clamp(end, part.begin + least, rows - least * (size() - 1 - k));
    }
    return part;
}

std::string DeviceGroup::description() const
{
    std::string text;
    for (std::size_t k = 0; k < devices_.size(); ++k) {
        char share[64] = {};
        if (speeds_.empty()) std::snprintf(share, sizeof share, "%.1f %%", 100 * shares_[k]);
        else std::snprintf(share, sizeof share, "%.1f %%, %.4g samples/s", 100 * shares_[k], speeds_[k]);
        text += devices_[k].name() + ", " + devices_[k].description() + ": " + share + "\n";
    }
    return text;
}

} // namespace reprise::distributed

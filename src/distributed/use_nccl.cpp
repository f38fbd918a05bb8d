#include <reprise/distributed/nccl.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <reprise/error.hpp>

#include "distributed/world_state.hpp"
#include "eager/context.hpp"

namespace reprise::distributed {

namespace {

// Exchanges the errors of all ranks, and throws those that differ on all of them.  Some may come late, as they have
// waited for one that has failed.
void agree(WorldState& world, const std::string& what, ErrorKind kind, const std::string& error)
{
    const std::vector<std::string> errors = world.gather_texts(what, error, 3 * world.timeout());
    std::string all;
    std::set<std::string> told;
    for (std::size_t k = 0; k < errors.size(); ++k)
        if (!errors[k].empty() && told.insert(errors[k]).second)
            all += (all.empty() ? "" : " ") + ("Rank (" + std::to_string(k)) + "): " + errors[k];
    if (!all.empty()) detail::fail(kind, "use_nccl", all);
}

// Returns the message of the Error that f throws; empty: it throws none.
template <class F> std::string error_of(const F& f)
{
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

// Ends the communicators that are left at the process's end.  Constructed after the first one, so that it is destroyed
// before NCCL and CUDA end: the world of mpi_world() lives longer than they.
class Ended {
public:
    void add(const std::shared_ptr<WorldState>& world)
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(worlds_, [](const auto& w) { return w.expired(); });
        worlds_.push_back(world);
    }
    ~Ended()
    {
        for (const std::weak_ptr<WorldState>& w : worlds_)
            if (const auto world = w.lock()) world->end_nccl();
        Nccl::wait_until_closed();
    }

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<WorldState>> worlds_;
};

} // namespace

void use_nccl(const World& world, const Device& device)
{
    WorldState& state = *world.state();
    state.require_unused("use_nccl");
    std::string id; // rank 0's
    agree(state, "use_nccl", ErrorKind::unsupported, error_of([&] {
              if (!device.context()->device()->capabilities().is_cuda())
                  detail::fail(ErrorKind::unsupported, "use_nccl", "The device (", device.name(),
                               ") is no CUDA device.");
              Nccl::version();
              if (world.rank() > 0) return;
              const NcclId made = Nccl::make_id();
              id.assign(made.bytes.begin(), made.bytes.end());
          }));
    id = state.gather_texts("the id of NCCL", id, {})[0];
    std::shared_ptr<Nccl> communicator;
    agree(state, "the start of NCCL", ErrorKind::distributed, error_of([&] {
              NcclId same;
              std::copy(id.begin(), id.end(), same.bytes.begin());
              communicator = std::make_shared<Nccl>(same, world.rank(), world.size(),
                                                    device.context()->device(), state.timeout());
          }));
    state.use(device);
    state.set_nccl(std::move(communicator));
    static Ended ended;
    ended.add(world.state());
}

} // namespace reprise::distributed

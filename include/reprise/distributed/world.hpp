// Worlds: the processes, or threads, that train together.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/device.hpp>

namespace reprise::distributed {

// An engine that carries bytes between the ranks of a world, such as MPI.  Of one rank; only one thread at a time calls
// exchange().
class Transport {
public:
    Transport() = default;
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    virtual int rank() const = 0;                // 0 <= rank < size
    virtual int size() const = 0;                // number of ranks
    virtual int local_rank() const = 0;          // the number of this rank among those on its machine
    virtual std::string description() const = 0; // "Open MPI 4.1.4"

    // What a rank is about to exchange.  Ranks that exchange something with each other must agree in it.
    struct Label {
        std::uint64_t number = 0; // of the exchange in this world, from 0
        char text[56] = {};       // "all_reduce f32 [1024]"
    };
    // Sends send[k] to rank k and receives receive[k] from it, for all ranks k but its own.  Returns when all of it has
    // happened.  Ranks with which nothing is exchanged are not waited for.  Throws Error(distributed), which names the
    // rank, if one has another label, is gone, or sends nothing for the time `limit`; all further exchanges throw, too.
    virtual void exchange(const Label&, std::span<const std::span<const std::byte>> send,
                          std::span<const std::span<std::byte>> receive, std::chrono::milliseconds limit) = 0;

    // Tells the other ranks, where the engine can, that this one takes part in no more exchanges.
    virtual void leave() {}
};

class WorldState; // src/distributed/world_state.hpp

// A handle to the ranks that compute together.  Copies share the world.  All tensors of its collectives are on one
// device of the rank.  A transport belongs to one world.
class World {
public:
    World();                                    // of one rank: this process by itself
    explicit World(std::shared_ptr<Transport>); // of a transport's ranks; Error(argument) for null

    int rank() const;                // number of this rank, from 0
    int size() const;                // number of ranks
    int local_rank() const;          // number of this rank among those on its machine; see local_device()
    std::string description() const; // "Open MPI v4.1.4, NCCL 2.27.3"

    // The time after which an exchange fails that another rank does not take part in; 30 s by default.  After
    // use_nccl(), NCCL then has as long again, and a second for each 10 MB.
    void set_timeout(std::chrono::milliseconds);

    // Counts since the world exists, of this rank.  After use_nccl() only labels are counted, a byte for each rank.
    struct Traffic {
        std::uint64_t exchanges = 0;      // an all-reduce is two
        std::uint64_t bytes_sent = 0;     // without labels
        std::uint64_t bytes_received = 0; // the same
        double seconds = 0; // in exchanges, including the time in which other ranks were waited for
    };
    Traffic traffic() const; // returns the counts

    // Waits until all ranks have called it, and until the collectives before it have ended.  Throws
    // Error(distributed).
    void barrier() const;

    // Waits for the collectives of this rank, and takes part in no more: those of local_worlds() that still wait for it
    // get an Error(distributed) at once instead of after the timeout.  DeviceGroup calls it when a rank returns or
    // throws.
    void leave() const;

    friend bool operator==(const World&, const World&) = default;
    // For the library itself.
    const std::shared_ptr<WorldState>& state() const { return state_; }

private:
    std::shared_ptr<WorldState> state_;
};

// Returns a device for this rank: the ranks of one machine take its devices of the best one's kind in turn.  Where the
// environment variable REPRISE_DEVICE names a device, it is default_device().
Device local_device(const World&);

// Returns the ranks of a world inside this process, each for a thread with a device of its own.  A rank is gone for the
// others after leave().  Error(argument) for fewer than 1.
std::vector<World> local_worlds(int size);

} // namespace reprise::distributed

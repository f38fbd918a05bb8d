// The transport of MPI: nonblocking sends and receives, which the thread that exchanges waits for.
#include <reprise/distributed/mpi.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <mpi.h>

#include <reprise/error.hpp>

#include "distributed/labels.hpp"

namespace reprise::distributed {

namespace {

constexpr std::size_t max_message = std::size_t{1} << 30; // bytes; counts of MPI are ints
// How long a wait polls before it sleeps between polls: for a rank that is late, and while bytes move, which MPI
// carries in many small parts that each need a poll.
constexpr std::chrono::microseconds polls_for_label{200}, polls_for_bytes{5000};
enum Tag : int { of_label, of_bytes };

void check(int result, const char* function)
{
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(result, text, &length);
    detail::fail(ErrorKind::distributed, function, "MPI has failed: ", text,
                 ": start all ranks again from the last save.");
}

class MpiTransport final : public Transport {
public:
    explicit MpiTransport(bool finalizes) : finalizes_(finalizes)
    {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "MPI_Comm_dup");
        check(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(ranks_, &size_), "MPI_Comm_size");
        MPI_Comm here = MPI_COMM_NULL;
        check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here),
              "MPI_Comm_split_type");
        check(MPI_Comm_rank(here, &local_rank_), "MPI_Comm_rank");
        check(MPI_Comm_free(&here), "MPI_Comm_free");
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
        int length = 0;
        check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
        description_ = std::string(text, std::strcspn(text, ",\n"));
    }
    ~MpiTransport() override
    {
        int finalized = 0; // by the program
        MPI_Finalized(&finalized);
        if (failed_ || finalized) return; // after a failure MPI would wait for the ranks that are gone
        MPI_Comm_free(&ranks_);
        if (finalizes_) MPI_Finalize();
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    std::string description() const override { return description_; }
    void leave() override { failed_ = true; } // so that nothing waits for the others at exit

    void exchange(const Label& label, std::span<const std::span<const std::byte>> send,
                  std::span<const std::span<std::byte>> receive, std::chrono::milliseconds limit) override
    {
        if (failed_) fail_again();
        try {
            Exchange(*this, label, send, receive).run(limit);
        } catch (...) {
            failed_ = true;
            throw;
        }
    }

private:
    class Exchange {
    public:
        Exchange(const MpiTransport& t, const Label& label, std::span<const std::span<const std::byte>> send,
                 std::span<const std::span<std::byte>> receive)
            : ranks_(t.ranks_), label_(label), send_(send), receive_(receive)
        {
            for (int k = 0; k < t.size_; ++k)
                if (k != t.rank_ && (!bytes_to(k).empty() || !bytes_from(k).empty())) peers_.push_back(k);
            labels_.resize(peers_.size());
            own_.reset(new Label(label)); // sends may outlive a failed exchange
        }
        // After a failure MPI should not write into buffers any more.  Nothing is waited for, as the peer may be gone.
        ~Exchange()
        {
            bool is_left = false;
            for (std::size_t i = 0; i < requests_.size(); ++i) {
                if (requests_[i] == MPI_REQUEST_NULL) continue;
                is_left = true;
                MPI_Cancel(&requests_[i]);
                MPI_Request_free(&requests_[i]);
            }
            if (!is_left) return;
            static_cast<void>(own_.release()); // MPI may still use the labels
            (new std::vector<Label>)->swap(labels_);
        }
        Exchange(const Exchange&) = delete;
        Exchange& operator=(const Exchange&) = delete;

        // The labels are compared before bytes are received: their sizes may differ.
        void run(std::chrono::milliseconds limit)
        {
            end_ = std::chrono::steady_clock::now() + limit;
            limit_ = limit;
            for (std::size_t i = 0; i < peers_.size(); ++i) {
                receive_from(peers_[i], std::as_writable_bytes(std::span(&labels_[i], 1)), of_label);
                send_to(peers_[i], std::as_bytes(std::span(own_.get(), 1)), of_label);
                send_to(peers_[i], bytes_to(peers_[i]), of_bytes);
            }
            wait(polls_for_label, [&](const Pending& p) { return p.tag == of_label && p.receives; });
            for (std::size_t i = 0; i < peers_.size(); ++i) require_same(label_, labels_[i], peers_[i]);
            for (const int k : peers_) receive_from(k, bytes_from(k), of_bytes);
            wait(polls_for_bytes, [](const Pending&) { return true; });
        }

    private:
        struct Pending {
            int peer;
            Tag tag;
            bool receives;
        };

        std::span<const std::byte> bytes_to(int k) const { return send_[static_cast<std::size_t>(k)]; }
        std::span<std::byte> bytes_from(int k) const { return receive_[static_cast<std::size_t>(k)]; }

        void send_to(int k, std::span<const std::byte> bytes, Tag tag)
        {
            for (std::size_t at = 0; at < bytes.size(); at += max_message) {
                const auto part = bytes.subspan(at, std::min(max_message, bytes.size() - at));
                check(MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, k, tag, ranks_,
                                &add(k, tag, false)),
                      "MPI_Isend");
            }
        }
        void receive_from(int k, std::span<std::byte> bytes, Tag tag)
        {
            for (std::size_t at = 0; at < bytes.size(); at += max_message) {
                const auto part = bytes.subspan(at, std::min(max_message, bytes.size() - at));
                check(MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, k, tag, ranks_,
                                &add(k, tag, true)),
                      "MPI_Irecv");
            }
        }
        MPI_Request& add(int k, Tag tag, bool receives)
        {
            pending_.push_back({k, tag, receives});
            return requests_.emplace_back(MPI_REQUEST_NULL);
        }

        // Waits for the requests that `which` chooses, and polls for the time `polls` before it sleeps.
        template <class Which> void wait(std::chrono::microseconds polls, const Which& which)
        {
            auto from = std::chrono::steady_clock::now();
            std::vector<int> late;
            for (;;) {
                int some = 0;
                done_.resize(requests_.size());
                check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &some, done_.data(),
                                   MPI_STATUSES_IGNORE),
                      "MPI_Testsome");
                late.clear();
                for (std::size_t i = 0; i < requests_.size(); ++i)
                    if (requests_[i] != MPI_REQUEST_NULL && which(pending_[i]))
                        late.push_back(pending_[i].peer);
                if (late.empty()) return;
                const auto now = std::chrono::steady_clock::now();
                if (some > 0 && some != MPI_UNDEFINED) { // something has arrived
                    end_ = now + limit_;
                    from = now;
                }
                if (now > end_) break;
                if (now - from < polls) std::this_thread::yield();
                else std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            std::sort(late.begin(), late.end());
            late.erase(std::unique(late.begin(), late.end()), late.end());
            fail_late(label_, late, limit_);
        }

        MPI_Comm ranks_;
        Label label_;
        std::span<const std::span<const std::byte>> send_;
        std::span<const std::span<std::byte>> receive_;
        std::vector<int> peers_, done_;
        std::unique_ptr<Label> own_;
        std::vector<Label> labels_; // by peer
        std::vector<MPI_Request> requests_;
        std::vector<Pending> pending_; // by request
        std::chrono::steady_clock::time_point end_{};
        std::chrono::milliseconds limit_{};
    };

    MPI_Comm ranks_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, local_rank_ = 0;
    std::string description_;
    bool finalizes_, failed_ = false;
};

bool was_launched()
{
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK",
                                   "SLURM_STEP_ID"};
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* v) { return std::getenv(v) != nullptr; });
}

World make_world()
{
    int initialized = 0, level = 0;
    MPI_Initialized(&initialized);
    if (!initialized && !was_launched()) return World();
    if (initialized) MPI_Query_thread(&level);
    else check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_MULTIPLE)
        detail::fail(
            ErrorKind::distributed, "mpi_world",
            "MPI has no MPI_THREAD_MULTIPLE: ask MPI_Init_thread() for it, or use an MPI that has it.");
    return World(std::make_shared<MpiTransport>(!initialized));
}

} // namespace

World mpi_world()
{
    static const World world = make_world();
    return world;
}

} // namespace reprise::distributed

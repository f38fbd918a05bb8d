#include "work.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

namespace cuda_emulation {

State& state()
{
    static State& s = *new State; // the program's static objects may outlive the driver's
    return s;
}

std::uint64_t setting(const char* name, std::uint64_t otherwise)
{
    const char* all = std::getenv("REPRISE_EMULATED_CUDA");
    std::istringstream words(all ? all : "");
    for (std::string word; words >> word;)
        if (word.rfind(std::string(name) + "=", 0) == 0)
            return std::stoull(word.substr(std::strlen(name) + 1));
    return otherwise;
}

bool work_once()
{
    State& s = state();
    std::vector<Stream*> ready;
    for (Stream* stream : s.streams) {
        if (stream->waiting.empty() || stream->runs) continue;
        const Piece& first = stream->waiting.front();
        if (!first.is_ready || first.is_ready()) ready.push_back(stream);
    }
    if (ready.empty()) return false;
    Stream& stream = *ready[ready.size() == 1 ? 0 : s.random() % ready.size()];
    Piece piece = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    if (piece.is_on_host) { // in a thread of the driver
        stream.runs = true;
        std::thread([&s, &stream, work = std::move(piece.work)] {
            work();
            const std::lock_guard lock(s.mutex);
            stream.runs = false;
            ++*stream.done;
        }).detach();
        return true;
    }
    piece.work();
    ++*stream.done;
    return true;
}

void work_until(const std::function<bool()>& is_done)
{
    State& s = state();
    while (!is_done()) {
        if (work_once()) continue;
        s.mutex.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        s.mutex.lock();
    }
}

void work_until_all_is_done()
{
    work_until([] {
        const auto& streams = state().streams;
        return std::all_of(streams.begin(), streams.end(),
                           [](const Stream* s) { return *s->done == s->sent; });
    });
}

void send(CUstream to, Piece piece)
{
    auto& stream = *reinterpret_cast<Stream*>(to);
    stream.waiting.push_back(std::move(piece));
    ++stream.sent;
    if (stream.waiting.size() <= 256) return;
    while (stream.waiting.size() > 128 && work_once()) {}
}

void run(const Launch& l)
{
    if (l.kernel && l.enabled &&
        !cuda_emulation::run(*l.kernel, l.blocks, reinterpret_cast<const void*>(l.record),
                             l.constants.data()))
        state().sticky = CUDA_ERROR_LAUNCH_FAILED;
    for (const Work& work : l.inner) work();
}

void run(const Executable& e)
{
    std::vector<std::size_t> waits(e.launches.size());
    std::vector<std::vector<std::size_t>> before(e.launches.size());
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < e.launches.size(); ++i) {
        waits[i] = e.after[i].size();
        if (waits[i] == 0) ready.push_back(i);
        for (const std::size_t first : e.after[i]) before[first].push_back(i);
    }
    while (!ready.empty()) {
        const auto libraries = std::count_if(ready.begin(), ready.end(),
                                             [&](std::size_t i) { return !e.launches[i].inner.empty(); });
        if (libraries > 1) state().sticky = CUDA_ERROR_LAUNCH_FAILED; // two at once, in one workspace
        std::swap(ready[state().random() % ready.size()], ready.back());
        const std::size_t i = ready.back();
        ready.pop_back();
        run(e.launches[i]);
        for (const std::size_t next : before[i])
            if (--waits[next] == 0) ready.push_back(next);
    }
}

Launch launch_of(CUfunction f, unsigned blocks, void** parameters)
{
    Launch l;
    l.kernel = reinterpret_cast<Kernel*>(f);
    l.blocks = blocks;
    std::memcpy(&l.record, parameters[0], sizeof l.record);
    constexpr std::size_t constants_bytes = 4 * 25; // rp::Constants
    const auto* bytes = static_cast<const unsigned char*>(parameters[1]);
    l.constants.assign(bytes, bytes + constants_bytes);
    return l;
}

CUresult refusal(const char* function)
{
    State& s = state();
    if (s.sticky != CUDA_SUCCESS) return s.sticky;
    const auto order = s.failures.find(function);
    if (order == s.failures.end() || --order->second.first > 0) return CUDA_SUCCESS;
    const CUresult result = order->second.second;
    s.failures.erase(order);
    if (result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED) s.sticky = result;
    return result;
}

} // namespace cuda_emulation

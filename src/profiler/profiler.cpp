#include <reprise/profiler.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include <nlohmann/json.hpp>

#include <reprise/error.hpp>
#include <reprise/whole_file.hpp>

#include "execution/call_observer.hpp"

namespace reprise {

using detail::fail;

namespace {

constexpr const char* op = "Profiler";

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

enum class Phase : std::uint8_t { idle, warmup, active };

Phase phase_of(const ProfilerSchedule& s, std::int64_t step)
{
    const std::int64_t after = step - s.skip_first;
    if (after < 0) return Phase::idle;
    constexpr std::int64_t longest = std::int64_t{1} << 62;
    const std::int64_t before_active = s.wait + s.warmup;
    const std::int64_t cycle = s.active > longest - before_active ? longest : before_active + s.active;
    if (s.repeat > 0 && after / cycle >= s.repeat) return Phase::idle;
    const std::int64_t at = after % cycle;
    return at < s.wait ? Phase::idle : at < before_active ? Phase::warmup : Phase::active;
}

void check(const ProfilerSchedule& s)
{
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"skip_first", s.skip_first}, {"wait", s.wait}, {"warmup", s.warmup}, {"repeat", s.repeat}};
    constexpr std::int64_t most = std::int64_t{1} << 60;
    for (const auto& [name, value] : numbers)
        if (value < 0 || value > most)
            fail(ErrorKind::argument, op, "The ", name, " (", value, ") must be from 0 to 2^60.");
    if (s.active < 1) fail(ErrorKind::argument, op, "The active (", s.active, ") must be at least 1.");
}

// Returns a launch's label without the numbers of nodes: "exp (%3 exp)" as "exp (exp)".
std::string without_numbers(const std::string& label)
{
    std::string out;
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (label[i] == '%') {
            const std::size_t end = label.find_first_not_of("0123456789", i + 1);
            if (end != std::string::npos && end > i + 1 && label[end] == ' ') {
                i = end;
                continue;
            }
        }
        out += label[i];
    }
    return out;
}

// A call of a program or an evaluation, or a range of the user.
struct Span {
    std::string name;
    std::size_t thread = 0;
    double begin = 0, end = 0; // microseconds
};
struct MemorySample {
    std::string device;
    double time = 0;
    std::uint64_t bytes = 0;
};

} // namespace

class Profiler::Recorder : public execution::CallObserver {
public:
    explicit Recorder(const ProfilerSchedule& s) : schedule_(s), phase_(phase_of(s, 0)) {}

    bool wants_calls() const override
    {
        const std::lock_guard lock(mutex_);
        return phase_ != Phase::idle;
    }
    void called(execution::ObservedCall call) override
    {
        const std::lock_guard lock(mutex_);
        if (phase_ != Phase::active) return;
        const double submitted = microseconds(call.submitted - start_);
        spans_.push_back({"call", thread_number(), submitted, microseconds(call.done - start_)});
        memory_.push_back({call.device, microseconds(call.done - start_), call.live_bytes});
        for (execution::ObservedLaunch& l : call.launches)
            launches_.push_back({.label = std::move(l.label),
                                 .kernel = std::move(l.kernel),
                                 .device = call.device,
                                 .step = step_,
                                 .begin = submitted + l.begin / 1000,
                                 .end = submitted + l.end / 1000,
                                 .flops = l.flops,
                                 .bytes = l.bytes});
    }

    void step()
    {
        const std::lock_guard lock(mutex_);
        if (stopped_) return;
        phase_ = phase_of(schedule_, ++step_);
    }
    void stop()
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        phase_ = Phase::idle;
    }
    // Returns the time at which a range begins; nullopt where steps are not recorded.
    std::optional<double> begin_range() const
    {
        const std::lock_guard lock(mutex_);
        return phase_ == Phase::active ? std::optional(now()) : std::nullopt;
    }
    void add_range(const std::string& name, double begin)
    {
        const std::lock_guard lock(mutex_);
        spans_.push_back({name, thread_number(), begin, now()});
    }

    std::vector<ProfiledLaunch> launches() const
    {
        const std::lock_guard lock(mutex_);
        std::vector<ProfiledLaunch> out = launches_;
        std::stable_sort(out.begin(), out.end(),
                         [](const auto& a, const auto& b) { return a.begin < b.begin; });
        return out;
    }
    std::vector<Span> spans() const
    {
        const std::lock_guard lock(mutex_);
        return spans_;
    }
    std::vector<MemorySample> memory() const
    {
        const std::lock_guard lock(mutex_);
        return memory_;
    }

    static std::shared_ptr<Recorder> current();

private:
    double now() const { return microseconds(Clock::now() - start_); }
    std::size_t thread_number()
    {
        return threads_.try_emplace(std::this_thread::get_id(), threads_.size()).first->second;
    }

    const ProfilerSchedule schedule_;
    const Clock::time_point start_ = Clock::now();
    mutable std::mutex mutex_;
    Phase phase_;
    bool stopped_ = false;
    std::int64_t step_ = 0;
    std::vector<ProfiledLaunch> launches_;
    std::vector<Span> spans_;
    std::vector<MemorySample> memory_;
    std::map<std::thread::id, std::size_t> threads_;
};

namespace {

std::mutex recorder_mutex;
std::weak_ptr<void>& recorder()
{
    static std::weak_ptr<void> one;
    return one;
}

} // namespace

std::shared_ptr<Profiler::Recorder> Profiler::Recorder::current()
{
    const std::lock_guard lock(recorder_mutex);
    return std::static_pointer_cast<Recorder>(recorder().lock());
}

Profiler::Profiler(const Options& options)
{
    check(options.schedule);
    const std::lock_guard lock(recorder_mutex);
    if (!recorder().expired()) fail(ErrorKind::state, op, "Another Profiler exists: destroy it first.");
    recorder_ = std::make_shared<Recorder>(options.schedule);
    peak_ = options.peak;
    recorder() = recorder_;
    execution::set_call_observer(recorder_);
}

Profiler::~Profiler()
{
    recorder_->stop();
    execution::set_call_observer(nullptr);
    const std::lock_guard lock(recorder_mutex);
    recorder().reset(); // ranges may still hold it
}

void Profiler::step() { recorder_->step(); }
void Profiler::stop() { recorder_->stop(); }
std::vector<ProfiledLaunch> Profiler::launches() const { return recorder_->launches(); }

namespace {

double share_of(const DevicePeak& peak, const ProfiledKind& kind)
{
    const double seconds = 1e-6 * kind.total;
    const auto share = [&](double done, double most) {
        return most > 0 && seconds > 0 ? done / seconds / most : 0;
    };
    return std::max(share(kind.flops, peak.flops_per_second), share(kind.bytes, peak.bytes_per_second));
}

} // namespace

std::vector<ProfiledKind> Profiler::key_averages() const
{
    std::map<std::tuple<std::string, std::string, std::string>, ProfiledKind> kinds;
    double all = 0;
    for (const ProfiledLaunch& l : launches()) {
        std::string label = without_numbers(l.label);
        ProfiledKind& kind = kinds[{label, l.kernel, l.device}];
        kind.label = std::move(label);
        kind.kernel = l.kernel;
        kind.device = l.device;
        ++kind.count;
        kind.total += l.end - l.begin;
        kind.flops += l.flops;
        kind.bytes += l.bytes;
        all += l.end - l.begin;
    }
    std::vector<ProfiledKind> out;
    for (auto& [key, kind] : kinds) {
        kind.share = all > 0 ? kind.total / all : 0;
        if (kind.device == peak_.device) kind.share_of_peak = share_of(peak_, kind);
        out.push_back(std::move(kind));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
    return out;
}

std::string Profiler::table(std::size_t rows) const
{
    const std::vector<ProfiledKind> kinds = key_averages();
    std::array<char, 256> line{};
    std::string out;
    const auto add = [&](const char* format, auto... values) {
        std::snprintf(line.data(), line.size(), format, values...);
        out += line.data();
    };
    add("%7s %9s %6s %9s %9s %9s", "count", "total ms", "%", "mean us", "GFLOP/s", "GB/s");
    const bool has_peak = !peak_.device.empty();
    out += has_peak ? "  % of peak  ops\n" : "  ops\n";
    std::int64_t launches = 0;
    double total = 0;
    for (const ProfiledKind& k : kinds) {
        launches += k.count;
        total += k.total;
    }
    for (std::size_t i = 0; i < std::min(rows, kinds.size()); ++i) {
        const ProfiledKind& k = kinds[i];
        const double per_ns = k.total > 0 ? 1 / (1000 * k.total) : 0;
        add("%7lld %9.3f %6.1f %9.2f %9.1f %9.1f", static_cast<long long>(k.count), k.total / 1000,
            100 * k.share, k.total / static_cast<double>(k.count), k.flops * per_ns, k.bytes * per_ns);
        if (has_peak) add("  %9.1f", 100 * k.share_of_peak);
        out += "  " + k.label.substr(0, has_peak ? 41 : 52) + "\n";
    }
    add("%7lld %9.3f  all launches\n", static_cast<long long>(launches), total / 1000);
    return out;
}

void Profiler::export_chrome_trace(const std::filesystem::path& path) const
{
    using Json = nlohmann::ordered_json;
    constexpr int host = 0, first_device = 1;
    std::map<std::string, int> devices;
    Json events = Json::array();
    const auto process_of = [&](const std::string& device) {
        return devices.try_emplace(device, first_device + static_cast<int>(devices.size())).first->second;
    };
    for (const ProfiledLaunch& l : launches())
        events.push_back(
            {{"name", l.label},
             {"cat", "launch"},
             {"ph", "X"},
             {"ts", l.begin},
             {"dur", l.end - l.begin},
             {"pid", process_of(l.device)},
             {"tid", 0},
             {"args", {{"kernel", l.kernel}, {"step", l.step}, {"flops", l.flops}, {"bytes", l.bytes}}}});
    for (const Span& s : recorder_->spans())
        events.push_back({{"name", s.name},
                          {"cat", s.name == "call" ? "call" : "range"},
                          {"ph", "X"},
                          {"ts", s.begin},
                          {"dur", s.end - s.begin},
                          {"pid", host},
                          {"tid", s.thread}});
    for (const MemorySample& m : recorder_->memory())
        events.push_back({{"name", "memory"},
                          {"ph", "C"},
                          {"ts", m.time},
                          {"pid", process_of(m.device)},
                          {"args", {{"MiB", static_cast<double>(m.bytes) / (1 << 20)}}}});
    const auto name = [&](int process, const std::string& text) {
        events.push_back(
            {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", text}}}});
    };
    name(host, "host");
    for (const auto& [device, process] : devices) name(process, device);
    WholeFile file(path);
    file.write(Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(-1, ' ', false,
                                                                             Json::error_handler_t::replace));
    file.commit();
}

ProfilerRange::ProfilerRange(std::string name) : name_(std::move(name))
{
    recorder_ = Profiler::Recorder::current();
    const auto recorder = std::static_pointer_cast<Profiler::Recorder>(recorder_);
    if (const auto begin = recorder ? recorder->begin_range() : std::nullopt) begin_ = *begin;
    else recorder_.reset();
}

ProfilerRange::~ProfilerRange()
{
    if (recorder_) std::static_pointer_cast<Profiler::Recorder>(recorder_)->add_range(name_, begin_);
}

} // namespace reprise

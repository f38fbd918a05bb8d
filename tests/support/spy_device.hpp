// A device that forwards to another one and counts the kernels that run.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "device/device.hpp"

namespace reprise::test {

// The number of runs of each kernel; keys are "<name> <workgroups>".
using Runs = std::map<std::string, int>;

class SpyDevice : public device::Device {
public:
    explicit SpyDevice(std::shared_ptr<device::Device> to) : to_(std::move(to)) {}

    Runs take() { return std::exchange(runs_, {}); } // returns those since the last take()

    const device::Capabilities& capabilities() const override { return to_->capabilities(); }
    device::Counters counters() const override { return to_->counters(); }
    std::unique_ptr<device::Memory> allocate(std::uint64_t bytes) override { return to_->allocate(bytes); }
    std::unique_ptr<device::Memory> allocate_readable(std::uint64_t bytes) override
    {
        return to_->allocate_readable(bytes);
    }
    void set_memory_limit(std::uint64_t bytes) override { to_->set_memory_limit(bytes); }
    void reset_peak() override { to_->reset_peak(); }
    void upload(device::Address to, std::span<const std::byte> from) override { to_->upload(to, from); }
    void download(device::Address from, std::span<std::byte> to) override { to_->download(from, to); }
    void download_result(device::Address from, std::span<std::byte> to, device::Ticket by) override
    {
        to_->download_result(from, to, by);
    }
    std::unique_ptr<device::Recording> record(std::span<const device::LaunchDeclaration> launches,
                                              const device::RecordingOptions& options) override
    {
        return std::make_unique<Recording>(*this, launches, to_->record(launches, options));
    }
    void register_kernel(const std::string& name, std::vector<std::uint32_t> words) override
    {
        to_->register_kernel(name, std::move(words));
    }
    device::Ticket submitted() const override { return to_->submitted(); }
    bool done(device::Ticket t) override { return to_->done(t); }
    void wait(device::Ticket t) override { to_->wait(t); }
    void wait_idle() override { to_->wait_idle(); }
    void fail_next(const std::string& kind, std::uint32_t n, Fault fault) override
    {
        to_->fail_next(kind, n, fault);
    }
    void clear_faults() override { to_->clear_faults(); }
    bool lost() const override { return to_->lost(); }
    void close() override { to_->close(); }

private:
    class Recording : public device::Recording {
    public:
        Recording(SpyDevice& spy, std::span<const device::LaunchDeclaration> launches,
                  std::unique_ptr<device::Recording> to)
            : spy_(spy), launches_(launches.begin(), launches.end()), groups_(launches.size()),
              to_(std::move(to))
        {}
        void begin() override { to_->begin(); }
        void set(std::uint32_t launch, const device::LaunchArguments& a) override
        {
            groups_[launch] = a.groups;
            to_->set(launch, a);
        }
        device::Ticket submit() override
        {
            for (std::size_t i = 0; i < launches_.size(); ++i) {
                if (groups_[i] == 0) continue;
                ++spy_.runs_[launches_[i].kernel.name + " " + std::to_string(groups_[i])];
            }
            return to_->submit();
        }
        Times times() override { return to_->times(); }

    private:
        SpyDevice& spy_;
        std::vector<device::LaunchDeclaration> launches_;
        std::vector<std::uint64_t> groups_;
        std::unique_ptr<device::Recording> to_;
    };

    std::shared_ptr<device::Device> to_;
    Runs runs_;
};

} // namespace reprise::test

// A tour through all controls that needs no hands, for tests: prints a line of figures for each part.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app.hpp"

namespace desktop {

class Script {
public:
    // Screenshots go to this folder; none where it is empty.
    Script(App&, std::filesystem::path screenshots);
    bool done() const { return part_ == parts_.size(); }
    void frame(); // after each frame of the program

private:
    struct Part {
        std::string name;
        double seconds;
        std::function<void()> begin;                 // at its start
        std::function<void(double)> each_frame = {}; // with the share of its time that has passed
        const char* screenshot = nullptr;
    };
    void begin();
    void end();
    void cancel();
    void add_parts();

    App& app_;
    std::filesystem::path screenshots_;
    std::vector<Part> parts_;
    std::size_t part_ = 0;
    bool has_begun_ = false;
    std::int64_t steps_ = 0;
    std::uint64_t recordings_ = 0, pipelines_ = 0;
};

} // namespace desktop

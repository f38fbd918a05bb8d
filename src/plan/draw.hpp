// Draws the arena of a plan at given sizes as SVG: a rectangle per temporary, epochs as x and addresses as y.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "plan/plan.hpp"

namespace reprise::plan {

struct ArenaPicture {
    std::span<const std::uint64_t> bytes, offsets; // by plan value
    std::uint64_t arena = 0, lower_bound = 0;      // bytes
    std::string title;
};
std::string draw_svg(const Plan&, const ArenaPicture&);

} // namespace reprise::plan

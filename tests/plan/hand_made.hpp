// Plans written by hand.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "plan/pipeline.hpp"

namespace reprise::plan {

class HandMade {
public:
    Plan plan;
    device::Capabilities capabilities{}; // of a CPU

    std::uint32_t value(Place place, const Dim& elements = 64)
    {
        PlanValue v;
        v.place = place;
        v.elements = elements;
        v.name = "value " + std::to_string(plan.values.size());
        plan.values.push_back(v);
        return static_cast<std::uint32_t>(plan.values.size() - 1);
    }
    std::uint32_t external() { return value(Place::external); }
    std::uint32_t output() { return value(Place::output); }
    std::uint32_t temporary(const Dim& elements = 64) { return value(Place::temporary, elements); }

    std::uint32_t launch(std::initializer_list<std::uint32_t> reads,
                         std::initializer_list<std::uint32_t> writes, bool in_place = false)
    {
        PlanLaunch l;
        l.label = "launch " + std::to_string(plan.launches.size());
        for (std::uint32_t v : reads) l.operands.push_back({v, 0, DType::f32, ops::Use::read});
        for (std::uint32_t v : writes) l.operands.push_back({v, 0, DType::f32, ops::Use::write});
        l.groups = 1;
        l.in_place = in_place;
        plan.launches.push_back(std::move(l));
        return static_cast<std::uint32_t>(plan.launches.size() - 1);
    }
    std::uint32_t fallback(std::uint32_t of, std::initializer_list<std::uint32_t> reads,
                           std::initializer_list<std::uint32_t> writes)
    {
        const std::uint32_t l = launch(reads, writes);
        plan.launches[l].fallback_of = of;
        return l;
    }

    std::vector<std::string> labels() const
    {
        std::vector<std::string> out;
        for (const PlanLaunch& l : plan.launches) out.push_back(l.label);
        return out;
    }

    std::vector<std::uint32_t> epochs()
    {
        schedule(plan, capabilities);
        find_lifetimes(plan);
        std::vector<std::uint32_t> out;
        for (const PlanLaunch& l : plan.launches) out.push_back(l.epoch);
        return out;
    }
};

} // namespace reprise::plan

// simulate_accesses: runs workloads of the bench on a simulated GPU that counts accesses to memory, and prints a line
// of JSON for each kernel of each workload.  scripts/check_accesses reads them.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/workload.hpp"
#include "simulator/device.hpp"
#include "support/devices.hpp"

namespace {

using nlohmann::json;
using namespace reprise::simulator;

json json_of(const Counted& c)
{
    json global = json::array(), shared = json::array();
    for (const GlobalCount& g : c.counts.global())
        if (g.least[0] > 0)
            global.push_back({{"operand", g.operand - 1},
                              {"stores", g.stores},
                              {"bytes", g.bytes},
                              {"sectors", g.sectors},
                              {"least", g.least}});
    for (const SharedCount& s : c.counts.shared())
        if (s.least > 0)
            shared.push_back({{"variable", s.variable},
                              {"stores", s.stores},
                              {"bytes", s.bytes},
                              {"cycles", s.cycles},
                              {"least", s.least}});
    return {{"kernel", c.kernel},
            {"constants", c.constants},
            {"launches", c.launches},
            {"groups", c.groups},
            {"global", global},
            {"shared", shared},
            {"lanes", c.counts.idle().lanes},
            {"idle", c.counts.idle().idle}};
}

std::vector<bench::Workload> all_workloads()
{
    std::vector<bench::Workload> all = bench::op_workloads();
    for (bench::Workload& w : bench::training_workloads()) all.push_back(std::move(w));
    for (bench::Workload& w : bench::gpt_workloads()) all.push_back(std::move(w));
    return all;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app{"Counts the accesses to memory of the kernels of workloads, on a simulated GPU."};
    std::vector<std::string> names;
    Options options{.counts = true, .sampled_groups = 6};
    app.add_option("workloads", names, "Names that `reprise_bench --list` prints")->required();
    app.add_option("--groups", options.sampled_groups, "Workgroups of each launch that are run; 0: all");
    CLI11_PARSE(app, argc, argv);
    try {
        const auto device = make_simulator(options);
        reprise::set_default_device(reprise::test::open(device));
        const std::vector<bench::Workload> all = all_workloads();
        for (const std::string& name : names)
            if (std::ranges::none_of(all, [&](const bench::Workload& w) { return w.name == name; }))
                throw std::invalid_argument("There is no workload (" + name + "): see reprise_bench --list.");
        for (const bench::Workload& w : all) {
            if (std::find(names.begin(), names.end(), w.name) == names.end()) continue;
            const bench::Run run = w.make();
            device->clear_counts(); // of the inputs
            run();
            reprise::default_device().synchronize();
            for (const Counted* c : device->counted()) {
                json line = json_of(*c);
                line["workload"] = w.name;
                std::printf("%s\n", line.dump().c_str());
            }
            std::fflush(stdout);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "simulate_accesses: %s\n", e.what());
        return 1;
    }
    return 0;
}

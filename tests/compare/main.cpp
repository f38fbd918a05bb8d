// What scripts/compare_with_pytorch calls: the rows of src/testing/op_info, and the optimizers', on inputs of its own.
//
//   compare_ops --list                               the rows, as JSON
//   compare_ops CASES.json IN.safetensors OUT.safetensors
//
// A case is {"id", "row", "sample": its number}; its inputs are <id>.in<k>, its cotangents, where gradients are asked
// for, <id>.dy<k>.  It answers with <id>.out<k> and <id>.grad<k>, one for each input that needs a gradient,
// or with <id>.error, the sentence as bytes.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include <reprise/io.hpp>

#include "compare/optimizers.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

using Json = nlohmann::ordered_json;
using Tensors = std::map<std::string, Tensor>;

std::vector<OpInfo> all_rows()
{
    std::vector<OpInfo> rows = op_infos();
    for (OpInfo& row : optimizer_rows()) rows.push_back(std::move(row));
    return rows;
}

Json describe_argument(const Argument& a, const std::vector<std::int64_t>& sizes)
{
    Json shapes = Json::array();
    for (const std::int64_t size : sizes) {
        Json shape = Json::array();
        for (const Dim& d : a.sizes) shape.push_back(d.evaluate([&](std::uint32_t) { return size; }));
        shapes.push_back(std::move(shape));
    }
    return {{"dtype", name_of(a.dtype)}, {"low", a.low},     {"high", a.high},
            {"number", a.number},        {"shapes", shapes}, {"gradient", asks_gradient(a)}};
}

Json list()
{
    Json rows = Json::array();
    for (const OpInfo& row : all_rows()) {
        Json samples = Json::array();
        for (const Sample& s : row.samples) {
            Json arguments = Json::array();
            for (const Argument& a : s.arguments) arguments.push_back(describe_argument(a, s.sizes));
            samples.push_back({{"what", s.what},
                               {"differentiable", row.differentiable && s.differentiable},
                               {"sizes", s.sizes},
                               {"arguments", arguments}});
        }
        rows.push_back({{"name", row.name}, {"samples", samples}});
    }
    return rows;
}

Tensor take(const Tensors& given, const std::string& name)
{
    const auto found = given.find(name);
    return found == given.end() ? Tensor() : found->second;
}

void answer(const std::string& id, const Sample& sample, const Tensors& given, Tensors& out)
{
    std::vector<Tensor> in, seeds;
    for (std::size_t k = 0; k < sample.arguments.size(); ++k) {
        in.push_back(take(given, id + ".in" + std::to_string(k)));
        if (sample.arguments[k].number) // one that the host knows
            in.back() = full({}, doubles(in.back())[0], {.dtype = in.back().dtype()});
    }
    bool gradient = false;
    const std::size_t outputs = sample.call(in).size();
    for (std::size_t k = 0; k < outputs; ++k) {
        seeds.push_back(take(given, id + ".dy" + std::to_string(k)));
        gradient = gradient || seeds.back().defined();
    }
    const Outcome o = evaluate(sample, in, gradient ? seeds : std::vector<Tensor>());
    for (std::size_t k = 0; k < o.outputs.size(); ++k) out[id + ".out" + std::to_string(k)] = o.outputs[k];
    for (std::size_t k = 0; k < o.gradients.size(); ++k)
        if (o.gradients[k].defined()) out[id + ".grad" + std::to_string(k)] = o.gradients[k];
    for (auto it = out.lower_bound(id + "."); it != out.end() && it->first.starts_with(id + "."); ++it)
        it->second = it->second.detach().contiguous();
}

void answer_all(const char* cases, const char* from, const char* to)
{
    const std::vector<OpInfo> rows = all_rows();
    std::map<std::string, const OpInfo*> by_name;
    for (const OpInfo& row : rows) by_name[row.name] = &row;
    const Tensors given = load_safetensors(from);
    Tensors out;
    std::ifstream file(cases);
    for (const Json& c : Json::parse(file)) {
        const auto id = c.at("id").get<std::string>();
        try {
            const OpInfo& row = *by_name.at(c.at("row"));
            answer(id, row.samples.at(c.at("sample")), given, out);
        } catch (const std::exception& error) {
            const std::string text = error.what();
            std::vector<std::uint8_t> bytes(text.begin(), text.end());
            out[id + ".error"] = from_vector(bytes, {static_cast<std::int64_t>(bytes.size())});
        }
    }
    save_safetensors(to, out);
}

} // namespace
} // namespace reprise::test

int main(int argc, char** argv)
{
    try {
        if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
            std::cout << reprise::test::list().dump() << "\n";
            return 0;
        }
        if (argc != 4) {
            std::fprintf(stderr, "compare_ops --list, or compare_ops CASES IN OUT\n");
            return 2;
        }
        reprise::test::answer_all(argv[1], argv[2], argv[3]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

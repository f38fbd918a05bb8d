#include <reprise/nn/summary.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include <reprise/dtype.hpp>

namespace reprise {

namespace {

std::size_t depth_of(const std::string& name)
{
    return name.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
}

// "1,234,567"
std::string grouped(std::int64_t number)
{
    std::string digits = std::to_string(number);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return digits;
}

std::string shapes_of(const std::vector<Shape>& all)
{
    std::string out;
    for (const Shape& s : all) out += (out.empty() ? "" : ", ") + to_string(s);
    return out.empty() ? "not called" : out;
}

} // namespace

namespace detail {

Summarizer::Summarizer(nn::Module& net) : net_(net)
{
    for (const auto& [name, module] : net.named_modules()) {
        modes_.emplace_back(module.get(), module->is_training());
        hooks_.push_back(module->register_forward_hook(
            [this](nn::Module& m, const std::vector<Tensor>&, const std::vector<Tensor>& results) {
                std::vector<Shape>& shapes = outputs_[&m];
                shapes.clear();
                for (const Tensor& t : results) shapes.push_back(t.shape());
            }));
    }
    net.eval();
}

Summarizer::~Summarizer()
{
    for (HookHandle& hook : hooks_) hook.remove();
    for (const auto& [module, training] : modes_) module->train(training); // parents before their children
}

nn::Summary Summarizer::result() const
{
    nn::Summary out;
    std::set<const void*> counted; // a shared parameter counts where it comes first
    for (const auto& [name, module] : net_.named_modules()) {
        nn::SummaryRow row{.name = name, .type = module->name(), .depth = depth_of(name)};
        if (const auto found = outputs_.find(module.get()); found != outputs_.end())
            row.outputs = found->second;
        for (const Variable& p : module->parameters(false)) {
            if (!p.defined() || !counted.insert(p.cell().get()).second) continue;
            const std::int64_t elements = p.numel().value();
            row.parameters += elements;
            if (p.requires_grad()) row.trainable += elements;
            out.parameter_bytes += static_cast<std::uint64_t>(elements) * size_of(p.dtype());
        }
        out.parameters += row.parameters;
        out.trainable += row.trainable;
        out.rows.push_back(std::move(row));
    }
    return out;
}

} // namespace detail

namespace nn {

std::string to_string(const Summary& s)
{
    using Cells = std::array<std::string, 4>;
    std::vector<Cells> table{{"layer", "output", "parameters", "trainable"}};
    for (const SummaryRow& r : s.rows) {
        const std::string own = r.name.substr(r.name.rfind('.') + 1);
        table.push_back({std::string(2 * r.depth, ' ') + (own.empty() ? r.type : own + " (" + r.type + ")"),
                         shapes_of(r.outputs), r.parameters == 0 ? "" : grouped(r.parameters),
                         r.parameters == 0 ? "" : grouped(r.trainable)});
    }
    table.push_back({"all", "", grouped(s.parameters), grouped(s.trainable)});
    std::array<std::size_t, 4> widths{};
    for (const Cells& row : table)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string out;
    for (const Cells& row : table) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string space(widths[c] - row[c].size(), ' ');
            line +=
                (c ? "  " : "") + (c < 2 ? row[c] + space : space + row[c]); // numbers end at the same column
        }
        line.resize(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out + "The parameters take " + grouped(static_cast<std::int64_t>(s.parameter_bytes)) + " bytes.\n";
}

std::ostream& operator<<(std::ostream& to, const Summary& s) { return to << to_string(s); }

} // namespace nn

} // namespace reprise

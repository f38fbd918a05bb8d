#include <reprise/nn/summary.hpp>

#include <algorithm>
#include <array>
#include <map>
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

namespace nn {

// Notes the outputs of all modules, and sets them to evaluation mode, while it exists.
class Summarizer {
public:
    explicit Summarizer(Module& net) : modules_(net.named_modules())
    {
        for (const auto& [name, module] : modules_) {
            modes_.push_back(module->is_training());
            hooks_.push_back(module->register_forward_hook(
                [this](Module& m, const std::vector<Tensor>&, const std::vector<Tensor>& results) {
                    std::vector<Shape>& shapes = outputs_[&m];
                    shapes.clear();
                    for (const Tensor& t : results) shapes.push_back(t.shape());
                }));
        }
        net.eval();
    }
    ~Summarizer()
    {
        for (const HookHandle& hook : hooks_) hook.remove();
        // One by one: train() would also set the modules below.
        for (std::size_t i = 0; i < modes_.size(); ++i) modules_[i].second->training_.set(modes_[i]);
    }
    Summarizer(const Summarizer&) = delete;
    Summarizer& operator=(const Summarizer&) = delete;

    Summary result() const
    {
        Summary out;
        std::set<const void*> counted; // what modules share counts where it comes first
        const auto bytes = [&](const Variable& v) -> std::uint64_t {
            if (!v.defined() || !counted.insert(v.cell().get()).second) return 0;
            return static_cast<std::uint64_t>(v.numel().value()) * size_of(v.dtype());
        };
        for (const auto& [name, module] : modules_) {
            SummaryRow row{.name = name, .type = module->name(), .depth = depth_of(name)};
            if (const auto found = outputs_.find(module.get()); found != outputs_.end())
                row.outputs = found->second;
            for (const Variable& p : module->parameters(false)) {
                const std::uint64_t of_parameter = bytes(p);
                if (of_parameter == 0) continue;
                row.parameters += p.numel().value();
                if (p.requires_grad()) row.trainable += p.numel().value();
                out.parameter_bytes += of_parameter;
            }
            for (const Variable& b : module->buffers(false)) out.buffer_bytes += bytes(b);
            out.parameters += row.parameters;
            out.trainable += row.trainable;
            out.rows.push_back(std::move(row));
        }
        return out;
    }

private:
    OrderedDict<ModulePointer> modules_;
    std::vector<bool> modes_; // whether each module was in training mode
    std::vector<HookHandle> hooks_;
    std::map<const Module*, std::vector<Shape>> outputs_;
};

Summary summarize(Module& net, const std::function<void()>& call)
{
    const Summarizer notes(net);
    call();
    return notes.result();
}

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
    out += "The parameters take " + grouped(static_cast<std::int64_t>(s.parameter_bytes)) + " bytes";
    if (s.buffer_bytes > 0) out += ", the buffers " + grouped(static_cast<std::int64_t>(s.buffer_bytes));
    return out + ".\n";
}

std::ostream& operator<<(std::ostream& to, const Summary& s) { return to << to_string(s); }

} // namespace nn

} // namespace reprise

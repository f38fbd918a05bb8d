#include <reprise/autograd/anomaly.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

#include "graph/cell.hpp"
#include "graph/notes.hpp"
#include "ops/reference.hpp"

namespace reprise {

using graph::Node;
using graph::Value;

namespace {

std::string text_of(const std::source_location& place)
{
    if (place.line() == 0) return "an unknown place";
    return std::string(place.file_name()) + ':' + std::to_string(place.line()) + " (" +
           place.function_name() + ')';
}

const char* text_of(double bad) { return std::isnan(bad) ? "nan" : bad > 0 ? "inf" : "-inf"; }

std::string type_text(const Value& v) { return name_of(v.type().dtype) + to_string(v.type().shape); }

} // namespace

struct detect_anomaly::Watch final : graph::Scope {
    explicit Watch(const AnomalyOptions& o) : options(o) {}

    struct Finding {
        std::int64_t index = 0; // row-major
        double value = 0;
    };

    std::optional<Finding> first_bad(const Value& v) const
    {
        if (!is_floating(v.type().dtype)) return std::nullopt;
        ops::HostTensor host{.dtype = v.type().dtype, .data = nullptr, .sizes = {}, .strides = {}};
        std::int64_t count = 1;
        for (const Dim& d : v.type().shape) count *= d.value();
        std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(host.dtype));
        v.node->evaluator->read(v, bytes);
        host.data = bytes.data();
        for (std::int64_t i = 0; i < count; ++i)
            if (const double x = host.get(i); std::isnan(x) || (options.infinities && std::isinf(x)))
                return Finding{i, x};
        return std::nullopt;
    }

    bool checks_indices() const override { return true; }

    void applied(const Node& n) override
    {
        std::string& place = graph::notes_of(n).place;
        place = text_of(graph::ambient().place);
        if (n.trace)
            detail::fail(ErrorKind::state, n.op->name,
                         "detect_anomaly looks at the value of each op, and an op of a recording has none: "
                         "call the function without record().");
        const auto inputs = n.inputs; // evaluation may drop them
        for (std::uint32_t i = 0; i < n.outputs.size(); ++i) {
            const auto bad = first_bad({n.shared_from_this(), i});
            if (!bad) continue;
            std::string of;
            for (const Value& v : inputs) {
                of += (of.empty() ? "" : ", ") + type_text(v);
                if (const auto given = first_bad(v))
                    of += std::string(" with ") + text_of(given->value) + " at element " +
                          std::to_string(given->index);
            }
            detail::fail(ErrorKind::state, n.op->name, "The result holds (", text_of(bad->value),
                         ") at element (", bad->index, "), the first of this pass. Its inputs are (", of,
                         "). It was called at ", place, ".");
        }
    }

    void differentiated(const Node& n, std::vector<Tensor>& cotangents) override
    {
        for (std::size_t i = 0; i < cotangents.size(); ++i) {
            if (!cotangents[i].defined()) continue;
            const auto bad = first_bad(graph::read(cotangents[i]));
            if (!bad) continue;
            const std::string place =
                n.notes && !n.notes->place.empty() ? n.notes->place : text_of(std::source_location());
            detail::fail(ErrorKind::state, n.op->name, "The gradient by input (", i, ") of the op holds (",
                         text_of(bad->value), ") at element (", bad->index,
                         "), the first of this backward pass. The op was called at ", place, ".");
        }
    }

    AnomalyOptions options;
};

detect_anomaly::detect_anomaly(const AnomalyOptions& options, std::source_location where)
    : watch_(std::make_unique<Watch>(options)), before_(std::exchange(graph::ambient().place, where))
{}
detect_anomaly::~detect_anomaly() { graph::ambient().place = before_; }

void mark_line(std::source_location where) { graph::ambient().place = where; }

detail::Place::Place(std::source_location where) : before_(std::exchange(graph::ambient().place, where)) {}
detail::Place::~Place() { graph::ambient().place = before_; }
std::source_location detail::present_place() { return graph::ambient().place; }

} // namespace reprise

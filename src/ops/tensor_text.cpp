// Prints tensors by the rules of PyTorch (torch/_tensor_str.py): digits, widths, line breaks and omitted elements.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"

namespace reprise {

namespace {

constexpr std::int64_t edge = 3, threshold = 1000; // elements at each end; most elements printed in full
constexpr std::size_t line_width = 80;

std::string printed(const char* format, double value)
{
    char text[400];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

// Formats the elements of one tensor, all with the same digits and width.
class Writer {
public:
    Writer(DType dtype, std::vector<double> values, std::vector<std::int64_t> whole)
        : dtype_(dtype), values_(std::move(values)), whole_(std::move(whole))
    {
        if (is_floating(dtype)) choose_format();
        for (std::size_t i = 0; i < std::max(values_.size(), whole_.size()); ++i)
            if (!is_floating(dtype) || (std::isfinite(values_[i]) && values_[i] != 0))
                width_ = std::max(width_, plain(i).size());
    }
    std::size_t width() const { return width_; }
    std::string operator()(std::size_t i) const
    {
        const std::string text = plain(i);
        return text.size() < width_ ? std::string(width_ - text.size(), ' ') + text : text;
    }
    std::string plain(std::size_t i) const
    {
        if (dtype_ == boolean) return whole_[i] ? "True" : "False";
        if (!is_floating(dtype_)) return std::to_string(whole_[i]);
        const double v = values_[i];
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
        return printed(scientific_ ? "%.4e" : whole_numbers_ ? "%.0f." : "%.4f", v);
    }

private:
    void choose_format()
    {
        double smallest = std::numeric_limits<double>::infinity(), largest = 0;
        for (const double v : values_) {
            if (!std::isfinite(v) || v == 0) continue;
            smallest = std::min(smallest, std::fabs(v));
            largest = std::max(largest, std::fabs(v));
            whole_numbers_ &= v == std::ceil(v);
        }
        if (largest == 0) return;
        scientific_ = largest / smallest > 1000 || largest > 1e8 || (!whole_numbers_ && smallest < 1e-4);
    }

    DType dtype_;
    std::vector<double> values_;      // of floating dtypes
    std::vector<std::int64_t> whole_; // of the others
    bool whole_numbers_ = true, scientific_ = false;
    std::size_t width_ = 1;
};

class Layout {
public:
    // `cut`: the dimensions of which only the first three and the last three elements are printed.
    Layout(const Writer& writer, std::vector<std::int64_t> sizes, std::vector<bool> cut)
        : writer_(writer), sizes_(std::move(sizes)), cut_(std::move(cut))
    {}
    std::string text(std::size_t indent) { return sizes_.empty() ? writer_.plain(0) : part(0, indent); }

private:
    std::string part(std::size_t d, std::size_t indent)
    {
        return d + 1 == sizes_.size() ? line(d, indent) : block(d, indent);
    }
    std::string line(std::size_t d, std::size_t indent)
    {
        std::vector<std::string> items;
        for (std::int64_t i = 0; i < sizes_[d]; ++i) {
            if (cut_[d] && i == edge) items.push_back(" ...");
            items.push_back(writer_(next_++));
        }
        const std::size_t room = line_width > indent ? line_width - indent : 0;
        const std::size_t in_line = std::max<std::size_t>(room / (writer_.width() + 2), 1);
        std::string out = "[";
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i) out += i % in_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
            out += items[i];
        }
        return out + "]";
    }
    std::string block(std::size_t d, std::size_t indent)
    {
        const std::string between =
            "," + std::string(sizes_.size() - 1 - d, '\n') + std::string(indent + 1, ' ');
        std::string out = "[";
        for (std::int64_t i = 0; i < sizes_[d]; ++i) {
            if (i) out += between;
            if (cut_[d] && i == edge) out += "..." + between;
            out += part(d + 1, indent + 1);
        }
        return out + "]";
    }

    const Writer& writer_;
    std::vector<std::int64_t> sizes_;
    std::vector<bool> cut_;
    std::size_t next_ = 0;
};

std::string elements(const Tensor& t, std::size_t indent)
{
    Tensor shown = t.detach();
    std::vector<std::int64_t> sizes;
    std::vector<bool> cut;
    const bool whole = t.numel().value() <= threshold;
    for (std::int64_t d = 0; d < t.dim(); ++d) {
        const std::int64_t size = t.size(d).value();
        cut.push_back(!whole && size > 2 * edge);
        if (cut.back()) shown = cat({narrow(shown, d, 0, edge), narrow(shown, d, size - edge, edge)}, d);
        sizes.push_back(cut.back() ? 2 * edge : size);
    }
    std::vector<double> values;
    std::vector<std::int64_t> integers;
    if (t.dtype() == boolean) {
        const std::vector<bool> bools = shown.to_vector<bool>();
        integers.assign(bools.begin(), bools.end());
    } else if (is_floating(t.dtype())) values = shown.to_vector<double>();
    else integers = shown.to_vector<std::int64_t>();
    const Writer writer(t.dtype(), std::move(values), std::move(integers));
    return Layout(writer, std::move(sizes), std::move(cut)).text(indent);
}

const char* op_name(const graph::Node& n) { return n.op ? n.op->name : "input"; }

// Returns the properties that are printed after the elements.
std::vector<std::string> remarks(const Tensor& t, bool empty)
{
    std::vector<std::string> out;
    if (empty && t.dim() != 1) out.push_back("size=" + to_string(t.shape()));
    const DType dtype = t.dtype();
    const bool expected = dtype == f32 || (!empty && (dtype == i64 || dtype == boolean));
    if (!expected) out.push_back(std::string("dtype=") + name_of(dtype));
    if (const Device device = t.device(); device != default_device())
        out.push_back("device='" + device.name() + "'");
    if (t.requires_grad())
        out.push_back(t.is_leaf() ? std::string("requires_grad=True")
                                  : std::string("grad_fn=<") + op_name(*graph::read(t).node) + ">");
    return out;
}

} // namespace

std::string to_string(const Tensor& t)
{
    if (!t.defined()) return "tensor(undefined)";
    const graph::Value v = graph::read(t);
    if (v.node->trace)
        return std::string("tensor(<") + name_of(v.type().dtype) + to_string(v.type().shape) + ", made by " +
               op_name(*v.node) + " while recording>)";
    std::string out = "tensor(";
    const std::size_t indent = out.size();
    const bool empty = same(t.numel(), 0);
    out += empty ? "[]" : elements(t, indent);
    const std::size_t newline = out.rfind('\n');
    std::size_t last = newline == out.npos ? out.size() : out.size() - newline;
    for (const std::string& remark : remarks(t, empty)) {
        const bool fits = last + remark.size() + 2 <= line_width;
        out += fits ? ", " + remark : ",\n" + std::string(indent, ' ') + remark;
        last = fits ? last + remark.size() + 2 : indent + remark.size();
    }
    return out + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << to_string(t); }
std::ostream& operator<<(std::ostream& out, const Device& d) { return out << d.name(); }
std::ostream& operator<<(std::ostream& out, const Shape& s) { return out << to_string(s); }

} // namespace reprise

// Elementwise kernels (shaders/elementwise.comp): one module for each row and part, specialised to how its
// operands lie.
#include <array>
#include <string>

#include <reprise/error.hpp>

#include "kernels/variants.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

namespace {

using ops::Lowering;
using ops::Scalar;
using ops::Use;
using ops::View;

enum Mode : std::uint32_t { contiguous, scalar, strided, immediate, rows, splat }; // as in elementwise.comp
constexpr std::size_t max_rank = 6;
constexpr std::size_t max_slots = ops::max_arity + 2;

struct Slot {
    View view;
    bool absent = true; // the part does not read it
    Mode mode = immediate;
    shape::Strides strides; // of the broadcast shape
};

// The input's strides as the output walks it.
shape::Strides broadcast_strides(const View& v, const Shape& to)
{
    shape::Strides out(to.size(), Dim(0));
    const std::size_t missing = to.size() - v.sizes().size();
    for (std::size_t d = 0; d < v.sizes().size(); ++d)
        if (v.sizes()[d] != Dim(1)) out[d + missing] = v.layout.strides[d]; // only the constant 1 is repeated
    return out;
}

bool all_zero(const shape::Strides& strides)
{
    for (const Dim& s : strides)
        if (s != Dim(0)) return false;
    return true;
}

bool starts_aligned(const View& v)
{
    return v.layout.offset.divisible_by(16 / static_cast<std::int64_t>(size_of(v.dtype)));
}

// Collapsed dimensions of one operand: how they are walked.
Mode mode_of(const View& v, const shape::Strides& s, const Shape& sizes)
{
    if (all_zero(s)) return scalar;
    if (sizes.size() == 1 && s[0] == Dim(1) && starts_aligned(v)) return contiguous;
    if (!sizes.back().divisible_by(4)) return strided;
    if (s.back() == Dim(0)) return splat;
    if (s.back() != Dim(1) || !starts_aligned(v)) return strided;
    for (std::size_t d = 0; d + 1 < s.size(); ++d)
        if (!s[d].divisible_by(4)) return strided;
    return rows;
}

// Row-major in the whole output: may be read in place of any walk.
bool covers(const View& v, const Shape& to) { return v.sizes() == to && v.contiguous() && starts_aligned(v); }

class Builder {
public:
    Builder(Lowering& l, const graph::Op& op, const std::vector<View>& inputs, const View& output)
        : l_(l), op_(op), row_(*static_cast<const ops::Row*>(op.row)), output_(output)
    {
        slots_.resize(static_cast<std::size_t>(row_.arity()) + (op.part ? 2 : 0));
        std::size_t next = 0;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (op.part && !(row_.reads[static_cast<std::size_t>(op.part)] >> i & 1)) continue;
            slots_[i].view = inputs[next++];
            slots_[i].absent = false;
        }
        lay_out();
    }

    void emit(bool texels_pay)
    {
        if (texels_pay) l_.launch(launch(true), launch(false));
        else l_.launch(launch(false));
    }

private:
    void lay_out()
    {
        std::vector<shape::Strides> strides;
        for (Slot& s : slots_) {
            if (s.absent || s.view.number) continue;
            s.strides = broadcast_strides(s.view, output_.sizes());
            strides.push_back(s.strides);
        }
        shape::Collapsed c = shape::collapse(output_.sizes(), strides);
        if (c.sizes.size() > max_rank)
            detail::fail(ErrorKind::unsupported, op_.name, "The strides of the inputs need (", c.sizes.size(),
                         ") dimensions after merging, more than the kernels' (", max_rank,
                         "): make an input contiguous.");
        std::size_t k = 0;
        for (Slot& s : slots_) {
            if (s.absent || s.view.number) continue;
            s.strides = c.strides[k++];
            s.mode = c.sizes.empty()                   ? scalar
                     : covers(s.view, output_.sizes()) ? contiguous
                                                       : mode_of(s.view, s.strides, c.sizes);
            if (s.mode == strided || s.mode == rows || s.mode == splat) walked_ = true;
        }
        if (walked_) sizes_ = c.sizes;
    }

    bool integer() const
    {
        if (!row_.takes_integers()) return false;
        for (const Slot& s : slots_)
            if (!s.absent && s.view.dtype != boolean) return !is_floating(s.view.dtype);
        return !is_floating(output_.dtype);
    }

    // Memory of the type that the kernel computes in.
    bool own_type(DType t, char type) const
    {
        return t == (type == 'B' ? boolean : type == 'N' && integer() ? i32 : f32);
    }

    // Served by the smaller kernel, which knows its operands' types and walks nothing.
    bool plain() const
    {
        if (walked_ || !own_type(output_.dtype, op_.part ? 'F' : row_.types.back())) return false;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const Slot& s = slots_[i];
            const char type = i < static_cast<std::size_t>(row_.arity()) ? row_.types[i] : 'F';
            if (!s.absent && !s.view.number && !own_type(s.view.dtype, type)) return false;
        }
        return true;
    }

    std::string kernel() const
    {
        std::string name = std::string("elementwise_") + row_.name +
                           (op_.part ? "_d" + std::to_string(op_.part - 1) : "_fwd");
        if (integer()) name += "_i32";
        return plain() ? name + "_plain" : name;
    }

    ops::LaunchSpec launch(bool texels) const
    {
        ops::LaunchSpec spec;
        spec.kernel = kernel();
        spec.texels = texels;
        spec.in_place = true;
        spec.constants = {texels ? 1u : 0u, static_cast<std::uint32_t>(sizes_.size())};
        Dim count = 1;
        for (const Dim& d : output_.sizes()) count *= d;
        spec.ints.push_back(count);
        spec.ints.insert(spec.ints.end(), sizes_.begin(), sizes_.end());
        for (const Slot& s : slots_) {
            spec.constants.push_back(static_cast<std::uint32_t>(s.view.dtype));
            spec.constants.push_back(s.mode);
            const bool memory = !s.absent && !s.view.number;
            spec.operands.push_back({s.view, Use::read, !memory});
            spec.floats.push_back(s.view.number.value_or(Scalar(0)));
            for (std::size_t d = 0; d < sizes_.size(); ++d)
                spec.ints.push_back(memory ? s.strides[d] : Dim(0));
            // another index of the input than the output's is read: the output may not lie on it
            if (memory && s.mode != contiguous) spec.in_place = false;
            if (memory && size_of(s.view.dtype) != size_of(output_.dtype)) spec.in_place = false;
        }
        for (std::size_t i = slots_.size(); i < max_slots; ++i)
            spec.constants.insert(spec.constants.end(), {0u, 0u});
        spec.constants.push_back(static_cast<std::uint32_t>(output_.dtype));
        if (integer())
            for (const Slot& s : slots_)
                spec.ints.push_back(s.view.number ? number_as_int(*s.view.number) : Dim(0));
        spec.operands.push_back({output_, Use::write});
        spec.groups = ceil_div(count, 512);
        return spec;
    }

    Dim number_as_int(const Scalar& s) const
    {
        if (s.source)
            detail::fail(ErrorKind::unsupported, op_.name,
                         "A host scalar can't be an operand of an integer op: cast it first.");
        return Dim(static_cast<std::int64_t>(s.constant)) * s.factor;
    }

    Lowering& l_;
    const graph::Op& op_;
    const ops::Row& row_;
    View output_;
    std::vector<Slot> slots_;
    Shape sizes_; // of the walk; empty where nothing is strided
    bool walked_ = false;
};

} // namespace

void elementwise(Lowering& l, const device::Capabilities& caps, const graph::Op& op,
                 const std::vector<View>& inputs, const View& output)
{
    Builder(l, op, inputs, output).emit(caps.prefer_texels);
}

void copy(Lowering& l, const device::Capabilities& caps, const View& from, const View& to)
{
    const bool to_bool = to.dtype == boolean && from.dtype != boolean;
    Builder(l, ops::row_op(to_bool ? "to_bool" : "cast"), {from}, to).emit(caps.prefer_texels);
}

} // namespace reprise::kernels

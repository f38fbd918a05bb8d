// Launches of one op of the table (shaders/elementwise.comp): there is one module per row and part, specialised to the
// memory layouts of its operands.
#include <string>

#include <reprise/error.hpp>

#include "kernels/chain.hpp"
#include "kernels/walk.hpp"
#include "ops/readers.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

namespace {

using ops::LaunchOperand;
using ops::Scalar;
using ops::Use;
using ops::View;

constexpr std::size_t max_slots = ops::max_arity + 2;

class Builder {
public:
    Builder(const Chain& c, std::span<const LaunchOperand> operands)
        : chain_(c), step_(c.steps[0]), row_(ops::row_of(*step_.op)), output_(operands.back()),
          double_(computes_doubles(c)), long_(computes_longs(c)),
          integer_(!double_ && !long_ && computes_integers(c, step_))
    {
        const int part = step_.op->part;
        slots_.resize(static_cast<std::size_t>(row_.arity()) + (part ? 2 : 0));
        std::size_t next = 0;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (part && !(row_.reads[static_cast<std::size_t>(part)] >> i & 1)) continue;
            const Chain::Input& in = c.inputs[step_.sources[next++].index];
            slots_[i] = {&in, in.number ? LaunchOperand(View{.dtype = in.dtype}, Use::read, true)
                                        : operands[in.operand]};
            slots_[i].mode = walk_of(c, in, slots_[i].operand.offset);
            walked_ |= walks(slots_[i].mode);
        }
        if (walked_) sizes_ = c.sizes;
    }

    ops::LaunchSpec launch(bool texels) const
    {
        ops::LaunchSpec spec;
        spec.kernel = kernel();
        spec.texels = texels;
        spec.doubles = double_;
        spec.constants = {texels ? 1u : 0u, static_cast<std::uint32_t>(sizes_.size())};
        spec.ints.push_back(shape::element_count(chain_.sizes));
        spec.ints.insert(spec.ints.end(), sizes_.begin(), sizes_.end());
        for (const Slot& s : slots_) {
            spec.constants.push_back(static_cast<std::uint32_t>(s.operand.dtype));
            spec.constants.push_back(static_cast<std::uint32_t>(s.mode));
            spec.operands.push_back(s.operand);
            spec.floats.push_back(s.input ? s.input->number.value_or(Scalar(0)) : Scalar(0));
            for (std::size_t d = 0; d < sizes_.size(); ++d)
                spec.ints.push_back(s.operand.absent ? Dim(0) : s.input->strides[d]);
        }
        for (std::size_t i = slots_.size(); i < max_slots; ++i)
            spec.constants.insert(spec.constants.end(), {0u, 0u});
        spec.constants.push_back(static_cast<std::uint32_t>(output_.dtype));
        spec.words = long_;
        if (integer_ || long_)
            for (const Slot& s : slots_) {
                const Dim number =
                    s.input && s.input->number ? as_integer(*s.input->number, step_.op->name) : Dim(0);
                if (long_) ops::add_words(spec.ints, number);
                else spec.ints.push_back(number);
            }
        spec.operands.push_back(output_);
        spec.groups = groups_of(chain_);
        return spec;
    }

private:
    struct Slot {
        const Chain::Input* input = nullptr; // null: the part does not read this slot
        LaunchOperand operand{View(), Use::read, true};
        Walk mode = Walk::immediate;
    };

    // Whether the dtype in memory is the type that the kernel computes in.
    bool is_computed_type(DType t, char type) const
    {
        return t == (type == 'B' ? boolean : type == 'I' || (type == 'N' && integer_) ? i32 : f32);
    }

    // Whether the smaller kernel can run, which has fixed operand types and no strides.
    bool plain() const
    {
        if (walked_ || !is_computed_type(output_.dtype, step_.op->part ? 'F' : row_.types.back()))
            return false;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const Slot& s = slots_[i];
            const char type = i < static_cast<std::size_t>(row_.arity()) ? row_.types[i] : 'F';
            if (!s.operand.absent && !is_computed_type(s.operand.dtype, type)) return false;
        }
        return true;
    }

    std::string kernel() const
    {
        std::string name = kernel_name(*step_.op);
        if (integer_) name += "_i32";
        if (double_) return name + "_f64";
        if (long_) return name + "_i64";
        return plain() ? name + "_plain" : name;
    }

    const Chain& chain_;
    const Chain::Step& step_;
    const ops::Row& row_;
    LaunchOperand output_;
    bool double_, long_, integer_;
    std::vector<Slot> slots_;
    Shape sizes_; // of the iteration space; empty if no operand needs strides
    bool walked_ = false;
};

} // namespace

Dim as_integer(const Scalar& s, const char* op)
{
    if (s.source)
        detail::fail(ErrorKind::unsupported, op,
                     "A host scalar can't be an operand of an integer op: cast it first.");
    return Dim(static_cast<std::int64_t>(s.constant)) * s.factor;
}

Walk walk_of(const Chain& c, const Chain::Input& in, const Dim& offset)
{
    if (in.number) return Walk::immediate;
    const auto& s = in.strides;
    bool repeated = true;
    for (const Dim& d : s) repeated &= same(d, 0);
    if (repeated) return Walk::scalar;
    const bool aligned = offset.divisible_by(16 / static_cast<std::int64_t>(size_of(in.dtype)));
    if (aligned && c.flat(in)) return Walk::contiguous;
    if (!c.sizes.back().divisible_by(4)) return Walk::strided;
    if (same(s.back(), 0)) return Walk::splat;
    if (!same(s.back(), 1) || !aligned) return Walk::strided;
    for (std::size_t d = 0; d + 1 < s.size(); ++d)
        if (!s[d].divisible_by(4)) return Walk::strided;
    return Walk::rows;
}

ops::LaunchSpec launch_of_one(const Chain& c, std::span<const LaunchOperand> operands, bool texels)
{
    return Builder(c, operands).launch(texels);
}

} // namespace reprise::kernels

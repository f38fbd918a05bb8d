#include "types.hpp"

#include <algorithm>

#include <reprise/error.hpp>

namespace reprise::simulator {

const Type& Types::at(std::uint32_t id) const
{
    const auto found = types_.find(id);
    if (found == types_.end())
        reprise::detail::fail(ErrorKind::unsupported, "simulator", "The module has no type (", id, ").");
    return found->second;
}

std::uint32_t Types::part(std::uint32_t id, std::uint32_t index) const
{
    const Type& type = at(id);
    return type.form == Type::Form::structure ? type.members.at(index) : type.element;
}

std::uint32_t Types::parts(std::uint32_t id) const
{
    const Type& type = at(id);
    return type.form == Type::Form::structure ? static_cast<std::uint32_t>(type.members.size()) : type.count;
}

void Types::add_fields(std::uint32_t id, Layout layout, std::uint32_t offset, std::vector<Field>& to) const
{
    const Type& type = at(id);
    if (type.form == Type::Form::scalar || type.form == Type::Form::pointer) {
        to.push_back({offset, type.form == Type::Form::pointer ? Scalar::address : type.scalar});
        return;
    }
    const bool is_structure = type.form == Type::Form::structure;
    for (std::uint32_t i = 0; i < parts(id); ++i)
        add_fields(part(id, i), layout,
                   offset + (is_structure ? this->offset(id, i, layout) : i * stride(id, layout)), to);
}

std::vector<Field> Types::fields(std::uint32_t id, Layout layout) const
{
    std::vector<Field> found;
    add_fields(id, layout, 0, found);
    return found;
}

std::vector<Scalar> Types::scalars(std::uint32_t id) const
{
    std::vector<Scalar> found;
    for (const Field& f : fields(id, Layout::words)) found.push_back(f.scalar);
    return found;
}

std::uint32_t Types::size(std::uint32_t id, Layout layout) const
{
    const Type& type = at(id);
    if (type.form == Type::Form::pointer) return 8;
    if (type.form == Type::Form::scalar)
        return layout == Layout::words ? register_bytes(type.scalar) : bytes_of(type.scalar);
    if (type.form != Type::Form::structure) return type.count * stride(id, layout);
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < type.members.size(); ++i)
        end = std::max(end, offset(id, i, layout) + size(type.members[i], layout));
    return end;
}

std::uint32_t Types::stride(std::uint32_t id, Layout layout) const
{
    if (layout == Layout::decorated)
        if (const auto found = strides_.find(id); found != strides_.end()) return found->second;
    return size(at(id).element, layout);
}

std::uint32_t Types::offset(std::uint32_t structure, std::uint32_t member, Layout layout) const
{
    if (layout == Layout::decorated)
        if (const auto found = offsets_.find({structure, member}); found != offsets_.end())
            return found->second;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < member; ++i) sum += size(at(structure).members[i], layout);
    return sum;
}

} // namespace reprise::simulator

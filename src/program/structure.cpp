// Descriptions of structures of tensors and sizes, and errors for mismatches.
#include <reprise/structure.hpp>

#include <reprise/program.hpp>

namespace reprise::detail {

std::string describe(const Layout& l)
{
    if (l.kind == Layout::Kind::tensor) return "tensor";
    if (l.kind == Layout::Kind::size) return "size";
    const bool keyed = l.kind == Layout::Kind::dictionary;
    std::string text = keyed ? "{" : "[";
    for (std::size_t i = 0; i < l.items.size(); ++i)
        text += (i ? ", " : "") + (keyed ? l.keys[i] + ": " : "") + describe(l.items[i]);
    return text + (keyed ? "}" : "]");
}

void check_count(std::size_t takes, std::size_t specs)
{
    if (takes != specs)
        fail(ErrorKind::argument, "record", "The function takes (", takes, ") arguments but there are (",
             specs, ") specs: give one for each.");
}

void check_argument(std::size_t index, bool fits, const Layout& spec)
{
    if (!fits)
        fail(ErrorKind::argument, "record", "The spec of argument (", index, ") is (", describe(spec),
             "), which the function does not take: give a spec for each tensor, a symbol for each size.");
}

void check_inputs(const Layout& recorded, const Layout& given)
{
    for (std::size_t i = 0; i < recorded.items.size(); ++i)
        if (recorded.items[i] != given.items[i])
            fail(ErrorKind::argument, "program", "Argument (", i, ") is (", describe(given.items[i]),
                 ") but was recorded as (", describe(recorded.items[i]), ").");
}

void check_result(const Leaves& leaves)
{
    if (!leaves.sizes.empty())
        fail(ErrorKind::argument, "record", "The function gives the size (", leaves.sizes.front(),
             "): only tensors can be results.");
}

} // namespace reprise::detail

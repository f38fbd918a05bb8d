#include "testing/op_info/rows.hpp"

#include <stdexcept>

namespace reprise::test {

const Dim& n()
{
    static const Dim symbol = reprise::symbol("n");
    return symbol;
}

const std::vector<OpInfo>& op_infos()
{
    static const std::vector<OpInfo> all = [] {
        Rows rows;
        add_elementwise(rows);
        add_activations(rows);
        add_element_functions(rows);
        add_running(rows);
        add_indexing(rows);
        add_sorting(rows);
        add_places(rows);
        add_sampled(rows);
        add_vectors(rows);
        add_random(rows);
        add_rearranged(rows);
        add_more_losses(rows);
        add_creation(rows);
        add_views(rows);
        add_dynamic(rows);
        add_symbols(rows);
        add_parts(rows);
        add_reductions(rows);
        add_products(rows);
        add_pooling(rows);
        add_interpolation(rows);
        add_convolution(rows);
        add_attention(rows);
        add_losses(rows);
        add_normalization(rows);
        add_updates(rows);
        add_named(rows);
        return std::move(rows.all);
    }();
    return all;
}

const OpInfo& op_info(std::string_view name)
{
    for (const OpInfo& row : op_infos())
        if (row.name == name) return row;
    throw std::out_of_range(std::string(name));
}

} // namespace reprise::test

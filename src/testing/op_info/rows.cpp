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
#define ROWS(file) add_##file(rows);
#include "testing/op_info/files.def"
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

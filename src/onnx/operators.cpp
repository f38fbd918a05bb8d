#include "onnx/operators.hpp"

#include <map>
#include <utility>

namespace reprise::onnx {

namespace {

using Table = std::map<std::pair<std::string, std::string>, const Operator*>; // by domain and name

const Table& table()
{
    static const Table all = [] {
        Table rows;
        for (const auto part :
             {activation_operators,    arithmetic_operators,  attention_operators,    cast_operators,
              control_operators,       convolution_operators, creation_operators,     detection_operators,
              image_operators,         indexing_operators,    loss_operators,         matrix_operators,
              normalization_operators, pooling_operators,     quantization_operators, recurrent_operators,
              reduction_operators,     selection_operators,   sequence_operators,     shape_operators,
              signal_operators,        training_operators})
            for (const Operator& row : part()) rows.emplace(std::pair(row.options.domain, row.name), &row);
        return rows;
    }();
    return all;
}

} // namespace

const Operator* find_operator(const std::string& domain, const std::string& name)
{
    const auto found = table().find({domain == "ai.onnx" ? "" : domain, name});
    return found == table().end() ? nullptr : found->second;
}

std::vector<const Operator*> all_operators()
{
    std::vector<const Operator*> rows;
    for (const auto& [key, row] : table()) rows.push_back(row);
    return rows;
}

} // namespace reprise::onnx

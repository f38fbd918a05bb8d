// The table of operators.  Each file of operators has a part of it; a row is all that the importer knows about an
// operator.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "onnx/value.hpp"

namespace reprise::onnx {

class Call;
using Values = std::vector<Value>;

// What the type of an operator's results is, where it has no dtype of its own.
enum class Typed : std::uint8_t {
    by_dtype,   // that of the result's dtype
    as_input,   // that of the first input, as for operators that move elements
    first,      // the same for the first result only
    arithmetic, // the same, and integers wrap around
};

// Options of a row.
struct OperatorOptions {
    Typed typed = Typed::by_dtype;
    // Computes the result from integers of the host where all inputs are such; nullopt where it can't.
    std::optional<Value> (*on_host)(const Call&) = nullptr;
    std::uint32_t constants = 0;  // bits of inputs that are read on the host, such as the scales of Resize
    std::uint32_t statistics = 0; // bits of inputs whose initializers are buffers, not parameters
    std::int64_t since = 1;       // the lowest opset whose nodes are imported
    std::int64_t until = 1 << 20; // the highest one
    const char* limits = "";      // what is not imported, for docs/onnx.md
    const char* domain = "";      // "" is ai.onnx
};

// One row.
struct Operator {
    const char* name;
    std::variant<Value (*)(Call&), Values (*)(Call&)> run; // for operators of one and of several results
    OperatorOptions options{};
};

// Returns the row of an operator; null where there is none.
const Operator* find_operator(const std::string& domain, const std::string& name);
// Returns all rows.
std::vector<const Operator*> all_operators();

// The parts, by the file that defines each.
using Operators = std::span<const Operator>;
Operators activation_operators();
Operators arithmetic_operators();
Operators attention_operators();
Operators cast_operators();
Operators control_operators();
Operators convolution_operators();
Operators creation_operators();
Operators detection_operators();
Operators image_operators();
Operators indexing_operators();
Operators loss_operators();
Operators matrix_operators();
Operators normalization_operators();
Operators pooling_operators();
Operators quantization_operators();
Operators recurrent_operators();
Operators reduction_operators();
Operators selection_operators();
Operators sequence_operators();
Operators shape_operators();
Operators signal_operators();
Operators training_operators();

} // namespace reprise::onnx

// The operations on scalars that instructions consist of.
#pragma once
#include "registers.hpp"

#include <spirv/unified1/spirv.hpp11>

namespace reprise::simulator {

// An instruction that applies one function to each component of its operands, by the type of its first operand.
struct Operation {
    spv::Op opcode;
    const char* name;
    int operands;
    Step::Function of[scalar_types]; // null: the function is not defined for the type
};

// Returns null if there is none.
const Operation* find_operation(spv::Op);

// An instruction of GLSL.std.450 of this kind.
struct GlslOperation {
    std::uint32_t number; // GLSLstd450...
    const char* name;
    int operands;
    Step::Function of[scalar_types];
};
const GlslOperation* find_glsl_operation(std::uint32_t number);

// Instructions with two results, which are the halves of a product, or a sum and what is carried.
struct Pair {
    spv::Op opcode;
    Step::Function low, high; // of 32 bits
};
const Pair* find_pair(spv::Op);

// A conversion of a number's value; null if there is none.
Step::Function find_conversion(spv::Op, Scalar from, Scalar to);

// Parts of instructions.
void copy_4(const Lanes&, const Step&);
void copy_8(const Lanes&, const Step&);
void select_4(const Lanes&, const Step&); // in: condition, value if true, value if false
void select_8(const Lanes&, const Step&);
void join_words(const Lanes&, const Step&); // out: 64 bits; in: low and high word
void low_word(const Lanes&, const Step&);
void high_word(const Lanes&, const Step&);
void unpack_low_half(const Lanes&, const Step&); // out: f32; in: two f16 in a word
void unpack_high_half(const Lanes&, const Step&);
void logical_and(const Lanes&, const Step&);
void logical_or(const Lanes&, const Step&);
void subgroup_shuffle_4(const Lanes&, const Step&); // in: value, lane of the subgroup; extra: its size
void subgroup_shuffle_8(const Lanes&, const Step&);

} // namespace reprise::simulator

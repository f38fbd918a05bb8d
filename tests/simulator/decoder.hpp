// Translates a SPIR-V module to a program.  The instructions of a module are handled by tables of members of this
// class, which several files define.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>

#include "device/spirv.hpp"
#include "operations.hpp"
#include "program.hpp"
#include "types.hpp"

namespace reprise::simulator {

using Words = device::SpirvWords; // of one instruction

// A value of the module.  Composites have a register for each scalar; instructions that only take composites apart or
// put them together cost no step, since values never change.
struct Value {
    std::uint32_t type = 0;
    std::vector<Slot> slots;
    // Of pointers.  Those to global memory have the address in a register; others may have an offset in one.
    Access::Memory memory = Access::Memory::global;
    bool is_variable = false; // inputs and push constants, which are in `slots`
    bool has_index = false;
    std::uint32_t displacement = 0, begin = 0, end = 0; // bytes
};

class Decoder {
public:
    Decoder(const std::string& name, const std::vector<std::uint32_t>& constants,
            std::uint32_t subgroup_size);
    Program decode(Words module);

private:
    friend struct Handlers;
    using Handler = void (Decoder::*)(Words);
    static Handler handler(spv::Op);
    [[noreturn]] void fail(const std::string& what) const;

    // Declarations (declarations.cpp).
    void read_decoration(Words);
    void find_size(Words module);
    void declare_type(Words);
    void declare_constant(Words);
    void declare_truth(Words);
    void declare_composite_constant(Words);
    void declare_null(Words);
    void declare_operation(Words);
    void declare_variable(Words);

    // Values (values.cpp).
    Slot new_slot(Scalar);
    std::vector<Slot> new_slots(std::uint32_t type);
    Value& define(Words, std::vector<Slot>); // the result of an instruction
    const Value& value(std::uint32_t id) const;
    Slot slot(std::uint32_t id) const { return value(id).slots.at(0); } // of a scalar
    Scalar scalar_of(std::uint32_t type) const { return types_.scalars(type).at(0); }
    std::uint32_t number(std::uint32_t id) const; // of a constant
    bool is_constant(std::uint32_t id) const { return constant_ids_.count(id) != 0; }
    template <class T> void set(Slot s, T value)
    {
        T* to = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(program_.registers.data()) + s);
        for (std::uint32_t lane = 0; lane < program_.lanes; ++lane) to[lane] = value;
    }
    void set_bits(Slot, Scalar, std::uint64_t);
    // Appends a step; outside of functions it runs at once, for constants.
    void emit(Step);
    void emit(Step::Function f, Slot out, std::initializer_list<Slot> in, std::uint32_t extra = 0);
    void emit_copy(Scalar, Slot out, Slot in);

    // Instructions that compute (instructions.cpp).
    bool apply_operation(Words);
    void convert(Words);
    void bitcast(Words);
    void select(Words);
    void all_or_any(Words);
    void scale_vector(Words);
    void double_result(Words);
    void extended_instruction(Words);
    void shuffle(Words);
    void ignore(Words) {}

    // Composites (composites.cpp).
    std::pair<std::size_t, std::uint32_t> find_part(std::uint32_t type, Words indices) const;
    void extract(Words);
    void construct(Words);
    void insert(Words);
    void shuffle_vector(Words);
    void extract_dynamic(Words);
    void copy_object(Words);
    void undefined(Words);

    // Memory (pointers.cpp).
    static Layout layout_of(const Value&);
    Slot address_of(const Value&); // of a pointer to global memory, with its displacement
    void access_chain(Words);
    void load(Words);
    void store(Words);
    void emit_access(const Value& pointer, std::uint32_t pointer_id, bool stores, const std::vector<Slot>&,
                     std::uint32_t alignment);
    void name_image(Words);
    void fetch_texel(Words); // fails if it is run
    void variable(Words);    // within a function
    void barrier(Words);

    // Control flow (flow.cpp).
    struct Part { // a block of the module
        std::vector<Words> phis, body;
        Words merge{}, end{};
        std::uint32_t number = 0; // in the program
    };
    void split_function(Words module);
    std::set<std::uint32_t> reachable_blocks() const;
    void order_blocks();
    std::vector<std::uint32_t> successors(const Part&) const;
    void add_edge(Block&, std::uint32_t from, std::uint32_t to);
    void end_block(std::uint32_t label);

    std::vector<std::uint32_t> constants_; // specialization constants
    std::uint32_t subgroup_size_;
    Program program_;
    Types types_;
    std::map<std::uint32_t, Value> values_;
    std::set<std::uint32_t> constant_ids_;
    std::map<std::uint32_t, std::uint32_t> spec_ids_, builtins_; // by id
    std::uint32_t glsl_ = 0;                                     // id of the imported functions
    std::uint32_t entry_ = 0, size_id_ = 0;
    std::map<std::uint32_t, Part> parts_; // by label
    std::vector<std::uint32_t> order_;    // labels
    Block* block_ = nullptr;              // that is being translated
};

} // namespace reprise::simulator

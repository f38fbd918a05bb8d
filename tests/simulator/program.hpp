// A kernel in the form in which it is run: blocks of steps, in an order in which lanes that diverged meet again.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "registers.hpp"

namespace reprise::simulator {

// What a step does that accesses memory.
struct Access {
    enum class Memory : std::uint8_t { global, shared, lane };
    struct Part {
        std::uint32_t offset; // bytes from the address
        Scalar scalar;
        Slot slot;
    };
    Memory memory = Memory::global;
    bool stores = false;
    bool has_index = false;      // the step's first input is an address (global) or an offset (other memory)
    std::uint32_t bytes = 0;     // of the whole access
    std::uint32_t alignment = 1; // that the instruction promises
    std::uint32_t displacement = 0;   // added to the address or offset
    std::uint32_t begin = 0, end = 0; // of the variable, in its memory
    std::vector<Part> parts;
    std::uint32_t id = 0; // of the pointer in the module, for errors
};

// A jump to another block, with the copies to its phis.
struct Edge {
    std::uint32_t target = 0;
    std::vector<Step> copies;
};

struct Block {
    enum class End : std::uint8_t { jump, branch, choice, finish, unreachable };
    std::vector<Step> steps;
    End end = End::finish;
    Slot condition = 0;                // of a branch; the number of a choice
    std::vector<std::uint32_t> values; // of a choice
    std::vector<Edge> edges; // jump: 1; branch: if true, if false; choice: default, then one for each value
};

// Variables that a launch or a workgroup sets before it starts.
struct Input {
    std::uint32_t builtin;
    std::vector<Slot> slots;
};
struct PushConstant {
    std::uint32_t offset;
    Scalar scalar;
    Slot slot;
};

struct Program {
    std::string name;                     // with its constants, for errors
    std::array<std::uint32_t, 3> size{};  // of a workgroup
    std::uint32_t lanes = 0;              // size[0] * size[1] * size[2]
    std::vector<std::uint64_t> registers; // the file, with the values of constants
    std::vector<Block> blocks;            // the first one is the entry
    std::vector<Access> accesses;
    std::vector<Input> inputs;
    std::vector<PushConstant> push_constants;
    // Registers that are the memory of lanes: the first one, and the bytes of all lanes.
    std::vector<std::pair<Slot, std::size_t>> lane_memory;
    std::uint32_t shared_bytes = 0;
    std::uint32_t unit = 4; // bytes of the smallest access
};

// Throws Error(unsupported) with the name of an instruction that is not known.
Program decode(const std::string& name, const std::vector<std::uint32_t>& code,
               const std::vector<std::uint32_t>& constants, std::uint32_t subgroup_size);

} // namespace reprise::simulator

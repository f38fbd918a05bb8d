// The types of a SPIR-V module.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "registers.hpp"

namespace reprise::simulator {

// How values lie in memory.
enum class Layout : std::uint8_t {
    decorated, // by the module's decorations: buffers and push constants
    packed,    // without gaps: memory of a workgroup
    words      // without gaps, and at least 4 bytes for each scalar: memory of a lane
};

struct Type {
    enum class Form : std::uint8_t { other, nothing, scalar, vector, array, list, structure, pointer };
    Form form = Form::other;
    Scalar scalar = Scalar::i32;        // of a scalar
    bool is_signed = false;             // of a scalar
    std::uint32_t element = 0;          // type of elements, or of what a pointer points to
    std::uint32_t count = 0;            // of elements; 0: a list (runtime array)
    std::vector<std::uint32_t> members; // types, of a structure
    spv::StorageClass storage = spv::StorageClass::Function; // of a pointer
};

// A scalar within a value in memory.
struct Field {
    std::uint32_t offset; // bytes
    Scalar scalar;
};

// The types by their ids, with the decorations of their layout.
class Types {
public:
    Type& operator[](std::uint32_t id) { return types_[id]; }
    const Type& at(std::uint32_t id) const;

    void set_stride(std::uint32_t array, std::uint32_t bytes) { strides_[array] = bytes; }
    void set_offset(std::uint32_t structure, std::uint32_t member, std::uint32_t bytes)
    {
        offsets_[{structure, member}] = bytes;
    }

    // The type of an element or member.
    std::uint32_t part(std::uint32_t id, std::uint32_t index) const;
    std::uint32_t parts(std::uint32_t id) const; // number of elements or members
    // The scalars that a value consists of, in order, and their places in memory.
    std::vector<Field> fields(std::uint32_t id, Layout) const;
    std::vector<Scalar> scalars(std::uint32_t id) const;

    std::uint32_t size(std::uint32_t id, Layout) const; // bytes, without a list at the end
    std::uint32_t stride(std::uint32_t id, Layout) const;
    std::uint32_t offset(std::uint32_t structure, std::uint32_t member, Layout) const;

private:
    void add_fields(std::uint32_t id, Layout, std::uint32_t offset, std::vector<Field>&) const;

    std::map<std::uint32_t, Type> types_;
    std::map<std::uint32_t, std::uint32_t> strides_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> offsets_;
};

} // namespace reprise::simulator

// The launch ABI (docs/architecture/replay.md): the only argument of a kernel is a pointer to its record.
//
//   record = Operand[OPERANDS]  16 bytes each: device address, texel index in the slab, bytes/16
//            float[FLOATS]      scalars; with DOUBLE double[FLOATS]
//            int[]              sizes, strides, ...: listed in the comment of the kernel
//
// A shader declares the members of its record in a block, which defines `record`:
//
//   RECORD(flip)
//   INPUT(x) OUTPUT(y)            operands that are read or written; UPDATE(p): both
//   FLOAT(eps)
//   INT(outer) INT(inner)
//   MEMBER(Windows, windows)      a structure of ints that several kernels use, from shaders/common/*.glsl
//   LIST(sizes) LIST(strides)     lists of ints, one after the other in record.lists
//   CHAIN_OPERANDS                after the operands: those of a chain that is fused into the kernel
//   END_RECORD
//
// The build generates structures for the host from the block (cmake/RepriseRecords.cmake): reprise::ops::records::flip,
// which ops fill to launch the kernel, and reprise::device::records::flip, which a device reads.  Without a block the
// including file defines OPERANDS and FLOATS (may be 0), and reads record.operand[i], record.f[i] and record.n[i].
// A shader that uses the slab's views defines SLAB.
// Read the record into locals at the top of main: a read inside a branch costs one load per lane on lavapipe.
#ifndef COMMON_ABI
#define COMMON_ABI
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Ints { int v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Longs { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vec4s { vec4 v[]; };
// For memory that the kernel does not write: compilers for GPUs may then reorder the loads, and load several at once.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer ReadFloats { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer ReadVec4s { vec4 v[]; };

// The type in which a kernel computes.  With DOUBLE it is f64, and the record's floats have 64 bits.
#ifdef DOUBLE
#define REAL double
#define REAL4 dvec4
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Reals { double v[]; };
#else
#define REAL float
#define REAL4 vec4
#define Reals Floats
#endif
// The type of elements that are only copied; with WIDE of any dtype of 64 bits.
#if defined(WIDE)
#define CELL uvec2
#define Cells Longs
#elif defined(DOUBLE)
#define CELL double
#define Cells Reals
#else
#define CELL uint
#define Cells Words
#endif

struct Operand {
    uvec2 address;
    uint texel; // first texel of the tensor in the slab, in units of 16 bytes; meaningless outside of the slab
    uint units; // size in units of 16 bytes
};
#ifdef OPERANDS
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Record {
    Operand operand[OPERANDS];
#if FLOATS > 0
    REAL f[FLOATS];
#endif
    int n[];
};
#ifdef ADDRESS_OF_RECORD // as an address, for kernels that define their own layout
layout(push_constant) uniform Push { uvec2 record; };
#else
layout(push_constant) uniform Push { Record record; };
#endif
#else
#define RECORD(name) layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Record {
#define INPUT(name) Operand name;
#define OUTPUT(name) Operand name;
#define UPDATE(name) Operand name;
#define FLOAT(name) REAL name;
#define INT(name) int name;
#define MEMBER(type, name) type name;
#define LIST(name)
#ifndef CHAIN_OPERANDS
#define CHAIN_OPERANDS
#endif
#define END_RECORD int lists[]; }; layout(push_constant) uniform Push { Record record; };
#endif

#ifdef SLAB
layout(set = 0, binding = 0) uniform samplerBuffer slab;                       // RGBA32F view of the whole slab
layout(set = 0, binding = 1) buffer Window { vec4 v[]; } slab_window[16];      // 128 MiB each, 2^23 texels
#define WINDOW_OF(texel) ((texel) >> 23)
#define IN_WINDOW(texel) ((texel) & 0x7FFFFFu)
#endif

// Returns the flat workgroup index.  The host splits the count into x and y (at most 65,535 each), and kernels return
// early in the excess workgroups.
uint flat_group() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
#endif

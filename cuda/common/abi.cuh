// The CUDA version of shaders/common/abi.glsl; included inside the struct that a shader is translated to.
#ifndef COMMON_ABI
#define COMMON_ABI
#undef SLAB // only Vulkan has views
#define RP_FN RP_DEVICE
#ifdef DOUBLE
#define REAL double
#define REAL4 dvec4
using Reals = Doubles;
#else
#define REAL float
#define REAL4 vec4
using Reals = Floats;
#endif
#if defined(WIDE)
#define CELL uvec2
using Cells = Longs;
#elif defined(DOUBLE)
#define CELL double
using Cells = Reals;
#else
#define CELL uint
using Cells = Words;
#endif

#ifndef OPERANDS
#define RECORD(name) struct Record {
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
#define END_RECORD                                                                                           \
    int lists[1 << 20];                                                                                      \
    }                                                                                                        \
    ;                                                                                                        \
    const Record& record = *Elements<const Record>(rp_record_address).v;
#elif defined(ADDRESS_OF_RECORD)
const uvec2 record = rp_record_address;
#else
struct Record {
    const Operand* operand;
    const REAL* f;
    const int* n;
    RP_DEVICE explicit Record(uvec2 address)
        : operand(Elements<const Operand>(address).v), f(reinterpret_cast<const REAL*>(operand + OPERANDS)),
          n(reinterpret_cast<const int*>(f + FLOATS))
    {}
};
const Record record = Record(rp_record_address);
#endif

RP_DEVICE uint flat_group() { return blockIdx.x; }
#define gl_LocalInvocationID threadIdx
#define gl_LocalInvocationIndex threadIdx.x
#endif

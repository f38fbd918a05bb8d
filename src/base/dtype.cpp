#include <ostream>

#include <reprise/dtype.hpp>

namespace reprise {

std::size_t size_of(DType t) noexcept
{
    switch (t) {
    case DType::f64:
    case DType::i64: return 8;
    case DType::f32:
    case DType::i32: return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16: return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean: return 1;
    }
    return 0;
}

const char* name_of(DType t) noexcept
{
    switch (t) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::f64: return "f64";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::i16: return "i16";
    case DType::i8: return "i8";
    case DType::u8: return "u8";
    case DType::boolean: return "bool";
    }
    return "?";
}

bool is_floating(DType t) noexcept
{
    return t == DType::f32 || t == DType::f16 || t == DType::bf16 || t == DType::f64;
}

std::ostream& operator<<(std::ostream& out, DType t) { return out << name_of(t); }

bool is_integer(DType t) noexcept { return !is_floating(t) && t != DType::boolean; }

} // namespace reprise

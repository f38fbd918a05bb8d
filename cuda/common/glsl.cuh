// The part of GLSL that shaders/ uses, as C++: vectors, their arithmetic and the built-in functions.  With it, a shader
// that tools/build/cuda_of_glsl.cpp has rewritten compiles for CUDA, by nvcc and NVRTC, and for the host.
#pragma once
#include "common/host.cuh"

using uint = unsigned int;
using uint16_t = unsigned short;

namespace rp {

template <class T> struct Vec2 {
    T x, y;
    Vec2() = default;
    RP_DEVICE Vec2(T s) : x(s), y(s) {}
    RP_DEVICE Vec2(T a, T b) : x(a), y(b) {}
    template <class U> RP_DEVICE explicit Vec2(const Vec2<U>& v) : x(T(v.x)), y(T(v.y)) {}
    RP_DEVICE T& operator[](uint i) { return i == 0u ? x : y; }
    RP_DEVICE T operator[](uint i) const { return i == 0u ? x : y; }
};
template <class T> struct Vec3 {
    T x, y, z;
    Vec3() = default;
    RP_DEVICE Vec3(T s) : x(s), y(s), z(s) {}
    RP_DEVICE Vec3(T a, T b, T c) : x(a), y(b), z(c) {}
    template <class U> RP_DEVICE explicit Vec3(const Vec3<U>& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)) {}
    RP_DEVICE T& operator[](uint i) { return i == 0u ? x : (i == 1u ? y : z); }
    RP_DEVICE T operator[](uint i) const { return i == 0u ? x : (i == 1u ? y : z); }
};
template <class T> struct alignas(sizeof(T) == 1 ? 4 : 16) Vec4 {
    T x, y, z, w;
    Vec4() = default;
    RP_DEVICE Vec4(T s) : x(s), y(s), z(s), w(s) {}
    RP_DEVICE Vec4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
    RP_DEVICE Vec4(Vec2<T> a, Vec2<T> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
    template <class U> RP_DEVICE explicit Vec4(const Vec4<U>& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)), w(T(v.w)) {}
    RP_DEVICE T& operator[](uint i) { return i < 2u ? (i == 0u ? x : y) : (i == 2u ? z : w); }
    RP_DEVICE T operator[](uint i) const { return i < 2u ? (i == 0u ? x : y) : (i == 2u ? z : w); }
};

// An element of an array in shared memory: components are indexed in memory, where those of a Vec4 are chosen in
// registers.
template <class T> struct SharedElement {
    using type = T;
};
template <class T> struct SharedElement<Vec4<T>> {
    struct type : Vec4<T> {
        type() = default;
        RP_DEVICE type& operator=(Vec4<T> v)
        {
            static_cast<Vec4<T>&>(*this) = v;
            return *this;
        }
        RP_DEVICE T& operator[](uint i) { return reinterpret_cast<T*>(this)[i]; }
        RP_DEVICE T operator[](uint i) const { return reinterpret_cast<const T*>(this)[i]; }
    };
};

// Applies an operation to each component; a scalar is applied to every component.
template <class F, class T> RP_DEVICE auto each(F f, Vec2<T> a, Vec2<T> b) -> Vec2<decltype(f(a.x, b.x))>
{
    return {f(a.x, b.x), f(a.y, b.y)};
}
template <class F, class T> RP_DEVICE auto each(F f, Vec3<T> a, Vec3<T> b) -> Vec3<decltype(f(a.x, b.x))>
{
    return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)};
}
template <class F, class T> RP_DEVICE auto each(F f, Vec4<T> a, Vec4<T> b) -> Vec4<decltype(f(a.x, b.x))>
{
    return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)};
}

template <class T> struct Same {
    using type = T;
};

#define RP_VECTOR_OPERATOR(V, op, name)                                                                     \
    template <class T> RP_DEVICE auto operator op(V<T> a, V<T> b) { return each(name(), a, b); }            \
    template <class T> RP_DEVICE auto operator op(V<T> a, typename Same<T>::type b)                         \
    {                                                                                                       \
        return each(name(), a, V<T>(b));                                                                    \
    }                                                                                                       \
    template <class T> RP_DEVICE auto operator op(typename Same<T>::type a, V<T> b)                         \
    {                                                                                                       \
        return each(name(), V<T>(a), b);                                                                    \
    }
#define RP_VECTOR_ASSIGNMENT(V, op)                                                                         \
    template <class T> RP_DEVICE V<T>& operator op##=(V<T>& a, V<T> b) { return a = a op b; }               \
    template <class T> RP_DEVICE V<T>& operator op##=(V<T>& a, typename Same<T>::type b) { return a = a op b; }
#define RP_OPERATOR(op, name)                                                                               \
    struct name {                                                                                           \
        template <class T> RP_DEVICE T operator()(T a, T b) const { return T(a op b); }                     \
    };                                                                                                      \
    RP_VECTOR_OPERATOR(Vec2, op, name)                                                                      \
    RP_VECTOR_OPERATOR(Vec3, op, name)                                                                      \
    RP_VECTOR_OPERATOR(Vec4, op, name)                                                                      \
    RP_VECTOR_ASSIGNMENT(Vec2, op)                                                                          \
    RP_VECTOR_ASSIGNMENT(Vec3, op)                                                                          \
    RP_VECTOR_ASSIGNMENT(Vec4, op)
RP_OPERATOR(+, Plus)
RP_OPERATOR(-, Minus)
RP_OPERATOR(*, Times)
RP_OPERATOR(/, Over)
RP_OPERATOR(%, Modulo)
RP_OPERATOR(&, And)
RP_OPERATOR(|, Or)
RP_OPERATOR(^, Xor)
RP_OPERATOR(<<, ShiftLeft)
RP_OPERATOR(>>, ShiftRight)
#undef RP_OPERATOR
#undef RP_VECTOR_ASSIGNMENT
#undef RP_VECTOR_OPERATOR

template <class T> RP_DEVICE Vec2<T> operator-(Vec2<T> a) { return {-a.x, -a.y}; }
template <class T> RP_DEVICE Vec3<T> operator-(Vec3<T> a) { return {-a.x, -a.y, -a.z}; }
template <class T> RP_DEVICE Vec4<T> operator-(Vec4<T> a) { return {-a.x, -a.y, -a.z, -a.w}; }
template <class T> RP_DEVICE Vec2<T> operator~(Vec2<T> a) { return {~a.x, ~a.y}; }
template <class T> RP_DEVICE Vec4<T> operator~(Vec4<T> a) { return {~a.x, ~a.y, ~a.z, ~a.w}; }
template <class T> RP_DEVICE bool operator==(Vec2<T> a, Vec2<T> b) { return a.x == b.x && a.y == b.y; }
template <class T> RP_DEVICE bool operator!=(Vec2<T> a, Vec2<T> b) { return !(a == b); }

// -- built-in functions --
#define RP_SCALAR_FUNCTION(T)                                                                               \
    RP_DEVICE T min(T a, T b) { return b < a ? b : a; }                                                     \
    RP_DEVICE T max(T a, T b) { return a < b ? b : a; }                                                     \
    RP_DEVICE T clamp(T v, T low, T high) { return min(max(v, low), high); }
RP_SCALAR_FUNCTION(int)
RP_SCALAR_FUNCTION(uint)
RP_SCALAR_FUNCTION(float)
RP_SCALAR_FUNCTION(double)
#undef RP_SCALAR_FUNCTION
RP_DEVICE int abs(int v) { return v < 0 ? -v : v; }
// Only users' kernels call these: the library's own kernels use the vocabulary (src/ops/vocabulary.inc).
#define RP_MATHEMATICAL(name, f32, f64)                                                                     \
    RP_DEVICE float name(float v) { return f32(v); }                                                        \
    RP_DEVICE double name(double v) { return f64(v); }                                                      \
    template <class T> RP_DEVICE Vec2<T> name(Vec2<T> v) { return {name(v.x), name(v.y)}; }                 \
    template <class T> RP_DEVICE Vec3<T> name(Vec3<T> v) { return {name(v.x), name(v.y), name(v.z)}; }      \
    template <class T> RP_DEVICE Vec4<T> name(Vec4<T> v) { return {name(v.x), name(v.y), name(v.z), name(v.w)}; }
RP_MATHEMATICAL(abs, ::fabsf, ::fabs)
RP_MATHEMATICAL(floor, ::floorf, ::floor)
RP_MATHEMATICAL(ceil, ::ceilf, ::ceil)
RP_MATHEMATICAL(trunc, ::truncf, ::trunc)
RP_MATHEMATICAL(round, ::rintf, ::rint)
RP_MATHEMATICAL(exp, ::expf, ::exp)
RP_MATHEMATICAL(exp2, ::exp2f, ::exp2)
RP_MATHEMATICAL(log, ::logf, ::log)
RP_MATHEMATICAL(log2, ::log2f, ::log2)
RP_MATHEMATICAL(sin, ::sinf, ::sin)
RP_MATHEMATICAL(cos, ::cosf, ::cos)
RP_MATHEMATICAL(tan, ::tanf, ::tan)
RP_MATHEMATICAL(asin, ::asinf, ::asin)
RP_MATHEMATICAL(acos, ::acosf, ::acos)
RP_MATHEMATICAL(atan, ::atanf, ::atan)
RP_MATHEMATICAL(sinh, ::sinhf, ::sinh)
RP_MATHEMATICAL(cosh, ::coshf, ::cosh)
RP_MATHEMATICAL(tanh, ::tanhf, ::tanh)
#undef RP_MATHEMATICAL
RP_DEVICE float pow(float a, float b) { return ::powf(a, b); }
RP_DEVICE float atan(float y, float x) { return ::atan2f(y, x); }
RP_DEVICE float sign(float v) { return v > 0.0f ? 1.0f : (v < 0.0f ? -1.0f : 0.0f); }
RP_DEVICE float fract(float v) { return v - ::floorf(v); }
RP_DEVICE float mod(float a, float b) { return a - b * ::floorf(a / b); }
RP_DEVICE float mix(float a, float b, float t) { return a * (1.0f - t) + b * t; }
RP_DEVICE float step(float edge, float v) { return v < edge ? 0.0f : 1.0f; }
RP_DEVICE bool isnan(float v) { return v != v; }
RP_DEVICE bool isinf(float v) { return v - v != 0.0f && v == v; }
template <class T> RP_DEVICE T dot(Vec2<T> a, Vec2<T> b) { return a.x * b.x + a.y * b.y; }
template <class T> RP_DEVICE T dot(Vec3<T> a, Vec3<T> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class T> RP_DEVICE T dot(Vec4<T> a, Vec4<T> b) { return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w); }

struct Least {
    template <class T> RP_DEVICE T operator()(T a, T b) const { return min(a, b); }
};
struct Greatest {
    template <class T> RP_DEVICE T operator()(T a, T b) const { return max(a, b); }
};
#define RP_COMPARISON(op, name)                                                                             \
    struct name {                                                                                           \
        template <class T> RP_DEVICE bool operator()(T a, T b) const { return a op b; }                     \
    };
RP_COMPARISON(<, Less)
RP_COMPARISON(>, Greater)
RP_COMPARISON(>=, AtLeast)
RP_COMPARISON(==, Equal)
RP_COMPARISON(!=, NotEqual)
#undef RP_COMPARISON
#define RP_VECTOR_FUNCTION(V)                                                                               \
    template <class T> RP_DEVICE V<T> min(V<T> a, V<T> b) { return each(Least(), a, b); }                   \
    template <class T> RP_DEVICE V<T> min(V<T> a, typename Same<T>::type b) { return each(Least(), a, V<T>(b)); } \
    template <class T> RP_DEVICE V<T> max(V<T> a, V<T> b) { return each(Greatest(), a, b); }                \
    template <class T> RP_DEVICE V<T> max(V<T> a, typename Same<T>::type b) { return each(Greatest(), a, V<T>(b)); } \
    template <class T> RP_DEVICE V<bool> lessThan(V<T> a, V<T> b) { return each(Less(), a, b); }            \
    template <class T> RP_DEVICE V<bool> greaterThan(V<T> a, V<T> b) { return each(Greater(), a, b); }      \
    template <class T> RP_DEVICE V<bool> greaterThanEqual(V<T> a, V<T> b) { return each(AtLeast(), a, b); } \
    template <class T> RP_DEVICE V<bool> equal(V<T> a, V<T> b) { return each(Equal(), a, b); }              \
    template <class T> RP_DEVICE V<bool> notEqual(V<T> a, V<T> b) { return each(NotEqual(), a, b); }
RP_VECTOR_FUNCTION(Vec2)
RP_VECTOR_FUNCTION(Vec3)
RP_VECTOR_FUNCTION(Vec4)
#undef RP_VECTOR_FUNCTION

template <class T> RP_DEVICE Vec4<T> mix(Vec4<T> a, Vec4<T> b, Vec4<bool> second)
{
    return {second.x ? b.x : a.x, second.y ? b.y : a.y, second.z ? b.z : a.z, second.w ? b.w : a.w};
}
template <class T> RP_DEVICE T mix(T a, T b, bool second) { return second ? b : a; }

RP_DEVICE uint floatBitsToUint(float v) { return rp_host::bits<uint>(v); }
RP_DEVICE int floatBitsToInt(float v) { return rp_host::bits<int>(v); }
RP_DEVICE float uintBitsToFloat(uint v) { return rp_host::bits<float>(v); }
RP_DEVICE float intBitsToFloat(int v) { return rp_host::bits<float>(v); }
RP_DEVICE Vec4<uint> floatBitsToUint(Vec4<float> v)
{
    return {floatBitsToUint(v.x), floatBitsToUint(v.y), floatBitsToUint(v.z), floatBitsToUint(v.w)};
}
RP_DEVICE Vec4<int> floatBitsToInt(Vec4<float> v)
{
    return {floatBitsToInt(v.x), floatBitsToInt(v.y), floatBitsToInt(v.z), floatBitsToInt(v.w)};
}
RP_DEVICE Vec4<float> uintBitsToFloat(Vec4<uint> v)
{
    return {uintBitsToFloat(v.x), uintBitsToFloat(v.y), uintBitsToFloat(v.z), uintBitsToFloat(v.w)};
}
RP_DEVICE Vec2<uint> unpackDouble2x32(double v)
{
    const unsigned long long b = rp_host::bits<unsigned long long>(v);
    return {uint(b), uint(b >> 32)};
}
RP_DEVICE double packDouble2x32(Vec2<uint> v)
{
    return rp_host::bits<double>((static_cast<unsigned long long>(v.y) << 32) | v.x);
}
RP_DEVICE void umulExtended(uint a, uint b, uint& high, uint& low)
{
    const unsigned long long product = static_cast<unsigned long long>(a) * b;
    high = uint(product >> 32);
    low = uint(product);
}
RP_DEVICE Vec2<float> unpackHalf2x16(uint v) { return {rp_host::of_half(v & 0xFFFFu), rp_host::of_half(v >> 16)}; }
RP_DEVICE int findMSB(uint v) { return 31 - rp_host::leading_zeros(v); } // -1 of 0
RP_DEVICE int bitfieldExtract(int v, int first, int count) { return (v << (32 - first - count)) >> (32 - count); }
RP_DEVICE float fma(float a, float b, float c) { return rp_host::fma(a, b, c); }
RP_DEVICE Vec4<float> fma(Vec4<float> a, Vec4<float> b, Vec4<float> c)
{
    return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)};
}
RP_DEVICE void barrier() { rp_host::sync_block(); }
RP_DEVICE float inversesqrt(float v) { return 1.0f / rp_host::square_root(v); }
RP_DEVICE float sqrt(float v) { return rp_host::square_root(v); }
RP_DEVICE double sqrt(double v) { return rp_host::square_root(v); }

} // namespace rp

using vec2 = rp::Vec2<float>;
using vec3 = rp::Vec3<float>;
using vec4 = rp::Vec4<float>;
using dvec4 = rp::Vec4<double>;
using ivec2 = rp::Vec2<int>;
using ivec3 = rp::Vec3<int>;
using ivec4 = rp::Vec4<int>;
using uvec2 = rp::Vec2<uint>;
using uvec3 = rp::Vec3<uint>;
using uvec4 = rp::Vec4<uint>;
using bvec4 = rp::Vec4<bool>;

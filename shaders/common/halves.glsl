// Loads and stores of f16 and bf16, each as 16 bits of memory, without touching the other half of a word.  For kernels
// of GPUs (Capabilities::half_access): not all devices have storageBuffer16BitAccess.
#ifndef COMMON_HALVES
#define COMMON_HALVES
#extension GL_EXT_shader_16bit_storage : require
#include "common/abi.glsl"

layout(buffer_reference, std430, buffer_reference_align = 2) buffer Halves { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Halves4 { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) readonly restrict buffer ReadHalves { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer ReadHalves4 { uvec2 v[]; };
#endif

#include <reprise/autocast.hpp>

#include <reprise/error.hpp>

#include "graph/cell.hpp"

namespace reprise {

std::uint32_t graph::current_recording() { return current_tracer() ? current_tracer()->id() : 0; }

autocast::autocast(DType dtype, bool enabled)
    : dtype_before_(graph::ambient().autocast.dtype), before_(graph::ambient().autocast.on),
      set_in_before_(graph::ambient().autocast.set_in)
{
    if (dtype != f16 && dtype != bf16)
        detail::fail(ErrorKind::dtype, "autocast", "The dtype (", name_of(dtype), ") must be f16 or bf16.");
    graph::ambient().autocast = {dtype, enabled, graph::current_recording()};
}

autocast::~autocast() { graph::ambient().autocast = {dtype_before_, before_, set_in_before_}; }

bool autocast_enabled() { return graph::ambient().autocast.on; }
DType autocast_dtype() { return graph::ambient().autocast.dtype; }

} // namespace reprise

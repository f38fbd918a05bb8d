// The steps that compute addresses and access memory.
#pragma once
#include "program.hpp"

namespace reprise::simulator {

void displace(const Lanes&, const Step&); // out: address; in: address; extra: bytes
void advance(const Lanes&,
             const Step&); // out: address; in: address, signed index; extra: bytes of an element
void advance_by_long(const Lanes&, const Step&); // the same with an index of 64 bits
void first_offset(const Lanes&, const Step&);    // out: offset; in: index; extra: bytes of an element
void move_offset(const Lanes&, const Step&);     // out: offset; in: index, offset; extra: bytes of an element

// The function of a step with the index of the access in `extra`, and the address or offset in its first input.
Step::Function access_function(const Access&);

void wait_for_all(const Lanes&, const Step&); // a barrier

} // namespace reprise::simulator

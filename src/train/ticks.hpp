// Computes the ticks of an axis.
#pragma once
#include <string>
#include <vector>

namespace reprise::train {

struct Tick {
    double value;
    std::string text;
};

// Returns multiples of 1, 2 or 5 times a power of ten in [low, high], at most about `max_count` of them. Needs
// low < high.
std::vector<Tick> ticks(double low, double high, int max_count);
// The same for a logarithmic axis, whose ends and whose ticks' values are decimal logarithms: powers of ten, and 2
// and 5 times them where there are few.
std::vector<Tick> log_ticks(double low, double high, int max_count);

} // namespace reprise::train

// Round numbers for an axis.
#pragma once
#include <string>
#include <vector>

namespace reprise::train {

struct Tick {
    double value;
    std::string text;
};

// Multiples of 1, 2 or 5 times a power of ten in [low, high], at most about `most` of them.  Needs low <
// high.
std::vector<Tick> ticks(double low, double high, int most);

} // namespace reprise::train

#pragma once

namespace reprise::device {

// Objects that the device may be using: a queue destroys them once a ticket is done.
class Retired {
public:
    virtual ~Retired() = default;
};

} // namespace reprise::device

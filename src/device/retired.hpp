#pragma once

namespace reprise::device {

// Base of objects that the device may still be using: a queue destroys them once a ticket is done.
class Retired {
public:
    virtual ~Retired() = default;
};

} // namespace reprise::device

// The error that a call throws.
#pragma once
#include <string>

#include <reprise/error.hpp>

struct Caught {
    reprise::ErrorKind kind = reprise::ErrorKind::internal;
    std::string text = "nothing was thrown";
};

template <class Call> Caught error_of(const Call& call)
{
    try {
        static_cast<void>(call());
    } catch (const reprise::Error& error) {
        return {error.kind(), error.what()};
    }
    return {};
}

// Wrong contents of files, for readers that must survive them.
#pragma once
#include <cstddef>
#include <random>
#include <string>

namespace reprise::test {

// Calls attempt(content) for `whole` with each bit flipped, and for `random` copies with up to three bytes replaced, of
// which half are cut off and a quarter have eight bytes inserted.  They are the same on every machine.
template <class F> void each_wrong_content(const std::string& whole, int random, const F& attempt)
{
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            std::string content = whole;
            content[at] = static_cast<char>(content[at] ^ (1 << bit));
            attempt(content);
        }
    std::mt19937 numbers(7);
    for (int i = 0; i < random; ++i) {
        std::string content = whole;
        for (auto n = numbers() % 4; n > 0; --n)
            content[numbers() % content.size()] = static_cast<char>(numbers() % 256);
        if (numbers() % 2) content.resize(numbers() % (content.size() + 1));
        if (numbers() % 4 == 0) {
            std::string number(8, '\0'); // such as a length
            for (char& c : number) c = static_cast<char>(numbers() % 256);
            content.insert(numbers() % (content.size() + 1), number);
        }
        attempt(content);
    }
}

} // namespace reprise::test

// Build tool: writes fatbinaries as C++, for cmake/RepriseCuda.cmake.
//
//   embed_cuda LIST OUT.cpp    implements src/device/cuda/embedded.hpp for the images of LIST, one SOURCE.cu=IMAGE per
//                              line: a kernel's name is taken from a line of its source that begins with a
//                              macro of cuda/common/kernel.cuh: RP_KERNEL_OF_BLOCK(<name>, ...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string read(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw std::runtime_error("cannot read " + path);
    return text.str();
}

// Returns the names in lines that begin with a macro of the library: RP_KERNEL_OF_TEXT(<name>, RP_KERNEL_OF_ROW(<name>
std::vector<std::string> kernels_of(const std::string& source)
{
    std::vector<std::string> names;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t open = line.find('(');
        if (line.rfind("RP_KERNEL", 0) != 0 || open == std::string::npos) continue;
        names.push_back(line.substr(open + 1, line.find_first_of(", ", open) - open - 1));
    }
    return names;
}

std::string words_of(const std::string& image, std::size_t number)
{
    std::string out = "const std::uint64_t image_" + std::to_string(number) + "[] = {";
    char text[32];
    for (std::size_t at = 0; at < image.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, image.data() + at, std::min<std::size_t>(8, image.size() - at));
        std::snprintf(text, sizeof text, "%s0x%llx,", at % 64 == 0 ? "\n" : "",
                      static_cast<unsigned long long>(word));
        out += text;
    }
    return out + "\n};\n";
}

} // namespace

int main(int argc, char** argv)
{
    try {
        if (argc != 3) throw std::runtime_error("usage: embed_cuda LIST OUT.cpp");
        std::istringstream list(read(argv[1]));
        std::string images, modules;
        std::vector<std::pair<std::string, std::size_t>> kernels;
        std::size_t number = 0;
        for (std::string line; std::getline(list, line);) {
            const std::size_t equals = line.find('=');
            if (equals == std::string::npos) continue;
            for (const std::string& name : kernels_of(read(line.substr(0, equals))))
                kernels.emplace_back(name, number);
            const std::string image = read(line.substr(equals + 1));
            images += words_of(image, number);
            modules += "    {image_" + std::to_string(number) + ", " +
                       std::to_string((image.size() + 7) / 8) + "},\n";
            ++number;
        }
        std::sort(kernels.begin(), kernels.end());
        std::string entries;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            if (i > 0 && kernels[i].first == kernels[i - 1].first)
                throw std::runtime_error("two kernels have the name " + kernels[i].first);
            entries += "    {\"" + kernels[i].first + "\", " + std::to_string(kernels[i].second) + "},\n";
        }
        std::ofstream out(argv[2], std::ios::binary);
        out << "// Generated from cuda/ and shaders/ by embed_cuda.\n#include "
               "\"device/cuda/embedded.hpp\"\n\n"
               "namespace reprise::device::cuda {\n\nnamespace {\n"
            << images << "const EmbeddedModule modules[] = {\n"
            << modules << "};\nconst EmbeddedKernel kernels[] = {\n"
            << entries << "};\n}\n\n"
            << "std::span<const EmbeddedModule> embedded_modules() noexcept { return modules; }\n"
               "std::span<const EmbeddedKernel> embedded_kernels() noexcept { return kernels; }\n\n}\n";
        out.close();
        if (!out) throw std::runtime_error(std::string("cannot write ") + argv[2]);
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "embed_cuda: " << e.what() << "\n";
        return 1;
    }
}

#include "kernels/shader_texts.hpp"

#include <sstream>

#include <reprise/error.hpp>

namespace reprise::kernels {

// Parses lines such as "// variants: sum: ; sum_rows_texel: -DROWS -DTEXELS".
ShaderVariant shader_variant(const std::string& kernel)
{
    for (const ShaderText& shader : shader_texts()) {
        std::istringstream lines(shader.text);
        for (std::string line; std::getline(lines, line);) {
            if (line.rfind("// variants:", 0) != 0) continue;
            std::istringstream list(line.substr(line.find(':') + 1));
            for (std::string entry; std::getline(list, entry, ';');) {
                std::istringstream words(entry);
                std::string name, word;
                words >> name;
                if (name != kernel + ":") continue;
                ShaderVariant v{shader.text, {}};
                while (words >> word) v.definitions.push_back(word.substr(2)); // without -D
                return v;
            }
        }
    }
    detail::fail(ErrorKind::internal, "fuse", "No shader lists the kernel (", kernel, ").");
}

} // namespace reprise::kernels

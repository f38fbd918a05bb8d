// A progress bar on the terminal.
#pragma once
#include <cstddef>
#include <string>

namespace command {

// Shows "[=====>    ] 50 of 100  conv2d" on stderr if that is a terminal, and rewrites it in place; removes it at the
//                   end.
void show_progress(std::size_t done, std::size_t of, const std::string& what);

} // namespace command

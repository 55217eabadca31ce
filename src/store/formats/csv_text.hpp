#pragma once

#include <string>

namespace wattune {

/// A text as a field of CSV: in quotes where it has to be.
std::string csv_text(const std::string& text);

}  // namespace wattune

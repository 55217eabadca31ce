#include "base/file.hpp"
#include "space/search_space.hpp"

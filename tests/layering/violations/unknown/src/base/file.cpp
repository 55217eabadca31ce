#include "somewhere/else.hpp"

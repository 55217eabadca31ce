#include "backend/opencl/queue.hpp"

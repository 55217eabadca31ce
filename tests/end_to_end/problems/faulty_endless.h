// As good as endless for any preprocessor: 2^100 inclusions of nothing.
#if __INCLUDE_LEVEL__ < 100
#include "faulty_endless.h"
#include "faulty_endless.h"
#endif

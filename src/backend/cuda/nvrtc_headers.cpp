#include "backend/cuda/nvrtc_headers.hpp"

namespace wattune {

namespace {

// Where the toolkit's own library has a header for the same, it is taken, so that both can be included; its int64_t is
// long long there, as everywhere in NVRTC.
constexpr const char* stdint_text = R"(#pragma once
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX 18446744073709551615ULL
#endif
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

constexpr const char* stddef_text = R"(#pragma once
namespace std {
using ::size_t; using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
}
)";

constexpr const char* math_text = R"(#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY __int_as_float(0x7f800000)
#define HUGE_VALF __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan;
using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;
using ::floor; using ::ceil; using ::round; using ::trunc; using ::rint; using ::nearbyint;
using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::fma; using ::fmin; using ::fmax; using ::fmod; using ::hypot; using ::atan2; using ::copysign;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
using ::sqrtf; using ::fabsf; using ::expf; using ::logf; using ::sinf; using ::cosf; using ::fmaf; using ::fminf;
using ::fmaxf; using ::powf; using ::floorf; using ::ceilf; using ::roundf;
}
)";

constexpr const char* stdio_text = R"(#pragma once
namespace std { using ::printf; using ::size_t; }
)";

constexpr const char* string_text = R"(#pragma once
namespace std { using ::memcpy; using ::memset; using ::size_t; }
)";

constexpr const char* stdlib_text = R"(#pragma once
namespace std { using ::malloc; using ::free; using ::abs; using ::size_t; }
)";

constexpr const char* limits_text = R"(#pragma once
#if __has_include(<cuda/std/climits>)
#include <cuda/std/climits>
#else
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
)";

constexpr const char* float_text = R"(#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
)";

constexpr const char* nothing_text = "#pragma once\n";  // NVRTC has assert() and clock() of itself

constexpr NvrtcHeader headers[] = {
    {"stdint.h", stdint_text},  {"cstdint", stdint_text},  {"stddef.h", stddef_text}, {"cstddef", stddef_text},
    {"math.h", math_text},      {"cmath", math_text},      {"stdio.h", stdio_text},   {"cstdio", stdio_text},
    {"string.h", string_text},  {"cstring", string_text},  {"stdlib.h", stdlib_text}, {"cstdlib", stdlib_text},
    {"limits.h", limits_text},  {"climits", limits_text},  {"float.h", float_text},   {"cfloat", float_text},
    {"assert.h", nothing_text}, {"cassert", nothing_text}, {"time.h", nothing_text},  {"ctime", nothing_text},
};

}  // namespace

std::span<const NvrtcHeader> nvrtc_headers() {
  return headers;
}

}  // namespace wattune

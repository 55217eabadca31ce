#pragma once
// Compiling, or finding what was compiled before; and what there is to compile of a problem.

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "problem/problem.hpp"
#include "tune/binary_cache.hpp"

namespace wattune {

struct Compiled {
  CompileOutcome outcome;
  bool cached = false;  ///< found in the cache
};

/// Refusals of the compiler are cached too. @param cache null: none.
/// @throws RunError where the compiler failed for want of a usable temporary folder; what Compiler::compile() throws.
Compiled compile_cached(Compiler& compiler, BinaryCache* cache, const CompileRequest& request);

/// The variant of a configuration. @throws ExpressionError where a define or the launch cannot be computed.
CompileRequest variant_request(const Problem& problem, const std::string& device_id, const std::string& includes_hash,
                               const std::vector<Value>& configuration);
/// The reference kernel, which the problem must have.
CompileRequest reference_request(const Problem& problem, const std::string& device_id);

}  // namespace wattune

#include "base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace wattune {

struct Hasher::State {
  XXH3_state_t* xxh;
};

Hasher::Hasher() : state_(new State{XXH3_createState()}) {
  if (state_->xxh == nullptr || XXH3_128bits_reset(state_->xxh) != XXH_OK) throw std::bad_alloc();
}

Hasher::~Hasher() {
  XXH3_freeState(state_->xxh);
  delete state_;
}

Hasher& Hasher::add(std::string_view field) {
  add(static_cast<std::uint64_t>(field.size()));
  XXH3_128bits_update(state_->xxh, field.data(), field.size());
  return *this;
}

Hasher& Hasher::add(std::uint64_t field) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(field >> (8 * i));
  XXH3_128bits_update(state_->xxh, bytes, sizeof bytes);
  return *this;
}

std::string Hasher::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace wattune

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

namespace {

/// The kind of a field and its number, or its length: so a text is never taken for a number.
void add_head(XXH3_state_t* state, unsigned char kind, std::uint64_t number) {
  unsigned char bytes[9] = {kind};
  for (int i = 0; i < 8; ++i) bytes[i + 1] = static_cast<unsigned char>(number >> (8 * i));
  XXH3_128bits_update(state, bytes, sizeof bytes);
}

}  // namespace

Hasher& Hasher::add(std::string_view field) {
  add_head(state_->xxh, 's', field.size());
  XXH3_128bits_update(state_->xxh, field.data(), field.size());
  return *this;
}

Hasher& Hasher::add(std::uint64_t field) {
  add_head(state_->xxh, 'n', field);
  return *this;
}

std::string Hasher::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace wattune

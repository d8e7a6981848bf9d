// The seeds of NumPy's random streams, number for number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace linkarms {

/// `numpy.random.SeedSequence(words).generate_state(4, numpy.uint64)`: what seeds a PCG64. NumPy promises that neither changes,
/// but takes some 20 us for it, and a trial needs one stream per arm. Does not allocate.
///
/// Words are hashed into a pool of four with multipliers that change from one to the next; the first four are mixed with each
/// other, the others into all of them (O'Neill, "Developing a seed_seq alternative", 2015).
[[nodiscard]] inline std::array<std::uint64_t, 4> seed_words(std::span<const std::uint32_t> words) {
  using Word = std::uint32_t;
  constexpr std::size_t size = 4;
  const auto fold = [](Word x) { return x ^ (x >> 16); };
  const auto hasher = [fold](Word multiplier, Word factor) {
    return [=](Word x) mutable {
      x ^= multiplier;
      multiplier *= factor;
      return fold(x * multiplier);
    };
  };
  const auto mix = [fold](Word x, Word y) { return fold(0xca01f9ddU * x - 0x4973f715U * y); };
  auto hash = hasher(0x43b0d7e5U, 0x931e8875U);
  std::array<Word, size> pool{};
  for (std::size_t i = 0; i < size; ++i) pool[i] = hash(i < words.size() ? words[i] : 0);
  for (std::size_t from = 0; from < size; ++from) {
    for (std::size_t to = 0; to < size; ++to) {
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
    }
  }
  for (std::size_t from = size; from < words.size(); ++from) {
    for (Word& x : pool) x = mix(x, hash(words[from]));
  }
  auto draw = hasher(0x8b51f9ddU, 0x58f38dedU);
  std::array<std::uint64_t, size> out{};
  for (std::size_t i = 0; i < 2 * size; ++i) out[i / 2] |= std::uint64_t{draw(pool[i % size])} << (32 * (i % 2));
  return out;
}

}  // namespace linkarms

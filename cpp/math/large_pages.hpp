// Memory for large matrices.
#pragma once

#include <cstddef>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace linkarms {

/// An allocator that asks the system for large pages where an array has some megabytes. A column of a matrix of thousands of
/// arms has every number in another page of the usual size, and finding the pages takes longer than the numbers.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  [[nodiscard]] T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < least) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new(bytes, page);
#ifdef __linux__
    madvise(memory, bytes, MADV_HUGEPAGE);  // a request: where it is refused, pages are small
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    if (n * sizeof(T) < least) {
      ::operator delete(memory);
    } else {
      ::operator delete(memory, page);
    }
  }
  friend bool operator==(const LargePages&, const LargePages&) = default;

 private:
  static constexpr std::align_val_t page{std::size_t{1} << 21};
  static constexpr std::size_t least = std::size_t{1} << 22;
};

}  // namespace linkarms

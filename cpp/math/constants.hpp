// Constants that everything uses.
#pragma once

#include <limits>

namespace linkarms {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace linkarms

#include "psi/memory.hpp"
#include "psi/scan.hpp"

template class linkarms::psi::SearchOf<linkarms::IsotropicPairs>;

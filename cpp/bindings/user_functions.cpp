#include "bindings/user_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

namespace nb = nanobind;

namespace linkarms::bindings {

namespace {

/// A Python object that may be let go of from any thread.
class Reference {
 public:
  explicit Reference(nb::object object) : object_(std::move(object)) {}
  Reference(Reference&&) = default;
  Reference& operator=(Reference&&) = delete;
  ~Reference() {
    if (!object_.is_valid()) return;
    const nb::gil_scoped_acquire gil;
    object_.reset();
  }
  [[nodiscard]] const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

std::string text(double x) {
  if (std::isnan(x)) return "nan";  // without a sign
  std::ostringstream out;
  out << x;
  return out.str();
}

[[noreturn]] void raise(const std::string& message) {
  const nb::gil_scoped_acquire gil;
  const nb::object error = nb::module_::import_("linkarms.errors").attr("CallbackError");
  PyErr_SetString(error.ptr(), message.c_str());
  throw nb::python_error();
}

/// What a function returned for these numbers, and what it must.
[[noreturn]] void refuse(const std::string& name, std::initializer_list<double> numbers, double returned, const char* wanted) {
  std::string given;
  for (const double x : numbers) given += (given.empty() ? "" : ", ") + text(x);
  raise(name + "(" + given + ") returned " + text(returned) + "; it must return " + wanted + "; correct the family's function");
}

/// A function of numbers: of C, of Python, or none. It never returns NaN.
template <class... Numbers>
class Function {
 public:
  /// A callable, an address, or None where the function may be left out.
  Function(nb::object given, std::string name, bool optional)
      : name_(std::move(name)), call_(read(std::move(given), name_, optional)) {}

  [[nodiscard]] bool exists() const { return !std::holds_alternative<std::monostate>(call_); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double operator()(Numbers... x) const {
    const double value = call(x...);
    if (std::isnan(value)) refuse(name_, {x...}, value, "a number");
    return value;
  }

 private:
  using Native = double (*)(Numbers...);
  using Call = std::variant<std::monostate, Native, Reference>;

  [[nodiscard]] double call(Numbers... x) const {
    if (const auto* native = std::get_if<Native>(&call_)) return (*native)(x...);
    const nb::gil_scoped_acquire gil;
    const nb::object result = std::get<Reference>(call_).get()(x...);
    const double value = PyFloat_AsDouble(result.ptr());
    if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return value;
  }

  static Call read(nb::object given, const std::string& name, bool optional) {
    if (given.is_none() && optional) return Call();
    if (nb::isinstance<nb::int_>(given)) {
      const auto address = nb::cast<std::uintptr_t>(given);
      if (address == 0) throw std::invalid_argument("the address of " + name + " is 0; give that of a C function");
      return Call(std::in_place_type<Native>, reinterpret_cast<Native>(address));
    }
    if (PyCallable_Check(given.ptr()) == 0) {
      throw std::invalid_argument("the function " + name + " of a family is neither callable nor an address; give one of them");
    }
    return Call(std::in_place_type<Reference>, std::move(given));
  }

  std::string name_;
  Call call_;
};

/// How far below 0 rounding may bring a kl at these numbers.
double rounding(double theta, double lam) {
  return 1e-9 * (1.0 + std::abs(theta) + std::abs(lam));
}

class GivenFunctions final : public UserFunctions {
 public:
  GivenFunctions(nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit,
                 nb::object inflection, nb::object owner, const std::string& name, Parameters parameters)
      : kl_(std::move(kl), name + ".kl", false),
        step_(std::move(step), name + ".step", false),
        fisher_(std::move(fisher), name + ".fisher", false),
        estimate_(std::move(estimate), name + ".estimate", true),
        slope_limit_(std::move(slope_limit), name + ".slope_limit", true),
        inflection_(std::move(inflection), name + ".inflection", true),
        owner_(std::move(owner)),
        parameters_(parameters) {}

  [[nodiscard]] double kl(double theta, double lam) const override {
    const double value = kl_(theta, lam);
    if (value < -rounding(theta, lam)) refuse(kl_.name(), {theta, lam}, value, "at least 0");
    return std::max(value, 0.0);
  }
  [[nodiscard]] double step(double theta, double slope) const override { return step_(theta, slope); }
  [[nodiscard]] double fisher(double theta) const override {
    const double value = fisher_(theta);
    if (value < 0.0) refuse(fisher_.name(), {theta}, value, "at least 0");
    return value;
  }
  [[nodiscard]] double estimate(double mean) const override { return estimate_.exists() ? estimate_(mean) : mean; }
  [[nodiscard]] double slope_limit(double theta) const override { return slope_limit_.exists() ? slope_limit_(theta) : inf; }
  [[nodiscard]] double inflection(double theta) const override { return inflection_.exists() ? inflection_(theta) : inf; }

  /// A kl that is infinite nearly everywhere would be evidence without end: where `step` goes, it is finite.
  void check_estimate(double theta) const override {
    const auto [low, high, open] = parameters_;
    if (open ? !(low < theta && theta < high) : !(low <= theta && theta <= high)) {
      const std::string ends = text(low) + ", " + text(high);
      raise(estimate_.name() + " gives " + text(theta) + ", which is not in the domain " +
            (open ? "(" + ends + ")" : "[" + ends + "]") + "; correct it, or " +
            (open ? "set open_domain=False if kl and step hold at the ends, too" : "give the right domain"));
    }
    if (const double own = kl(theta, theta); own > rounding(theta, theta)) refuse(kl_.name(), {theta, theta}, own, "0");
    const double beside = step(theta, -1.0);
    if (kl(theta, beside) == inf) refuse(kl_.name(), {theta, beside}, inf, "a finite number where step(theta, -1) is");
  }

 private:
  Function<double, double> kl_, step_;
  Function<double> fisher_, estimate_, slope_limit_, inflection_;
  Reference owner_;
  Parameters parameters_;
};

}  // namespace

UserFamily make_user_family(nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit,
                            nb::object inflection, Domain domain, nb::object owner, const std::string& name,
                            Parameters parameters) {
  return {std::make_shared<GivenFunctions>(std::move(kl), std::move(step), std::move(fisher), std::move(estimate),
                                           std::move(slope_limit), std::move(inflection), std::move(owner), name, parameters),
          domain};
}

}  // namespace linkarms::bindings

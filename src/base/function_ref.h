// FunctionRef: a borrowed callable, two pointers wide. For parameters only: it does not keep what it
// calls alive, and it never allocates. It takes callable objects; wrap a plain function in a lambda.
//
//   void each_child(FunctionRef<void(std::size_t)> visit);
//   each_child([&](std::size_t index) { ... });

#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/attributes.h"

namespace cadastre::base {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_object_v<std::remove_reference_t<F>> && std::is_invocable_r_v<R, F&, Args...>)
  // NOLINTNEXTLINE(google-explicit-constructor,cppcoreguidelines-missing-std-forward): borrows any callable
  FunctionRef(F&& callable CAD_LIFETIMEBOUND) noexcept
      : target_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* target, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(target))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  void* target_;
  R (*call_)(void*, Args...);
};

}  // namespace cadastre::base

// CAD_CHECK: our own mistakes end the process.
//
// CAD_CHECK(ttl <= kLeaseTtlMax, "the server bounds the ttl before it asks") prints expression,
// place and message and aborts, in every build. It is for what the code promises itself. Whatever a
// disk, a peer, a user or a clock can cause is an error value instead (base/result.h).
//
// CAD_CHECK_SLOW is for walks over a whole structure: on in tests, fuzzing and simulation (the build
// option CADASTRE_SLOW_CHECKS), compiled but never run elsewhere.

#pragma once

#ifndef CAD_SLOW_CHECKS
#define CAD_SLOW_CHECKS 0
#endif

namespace cadastre::base {

inline constexpr bool kSlowChecks = CAD_SLOW_CHECKS != 0;

struct CheckSite {
  const char* expression;
  const char* file;
  int line;
};

[[noreturn]] void check_failed(CheckSite site, const char* message) noexcept;

}  // namespace cadastre::base

#define CAD_CHECK(condition, message)                                            \
  do {                                                                           \
    if (!(condition)) [[unlikely]]                                               \
      ::cadastre::base::check_failed({#condition, __FILE__, __LINE__}, message); \
  } while (false)

#define CAD_CHECK_SLOW(condition, message)                                      \
  do {                                                                          \
    if constexpr (::cadastre::base::kSlowChecks) CAD_CHECK(condition, message); \
  } while (false)

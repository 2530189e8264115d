// Attributes that only some compilers know, under one name.

#pragma once

// On a parameter (or after a member function's parentheses): the returned view may point into it.
#if defined(__clang__)
#define CAD_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define CAD_LIFETIMEBOUND
#endif

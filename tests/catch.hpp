// Includes Catch2 3 where it is installed, else Catch2 2 (Debian 12). Every test file includes this one.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

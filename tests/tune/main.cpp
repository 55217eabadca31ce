// The test program serves as its own compile processes and workers, as any program that uses the library may.

#include <gtest/gtest.h>

#include "tune/runtime.hpp"

int main(int argc, char** argv) {
  const wattune::Runtime runtime(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

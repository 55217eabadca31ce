#include "base/student.hpp"

#include <gtest/gtest.h>

namespace wattune {
namespace {

TEST(StudentTest, AgreesWithTables) {
  EXPECT_NEAR(student_two_sided(0.95, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_two_sided(0.95, 4), 2.7764, 1e-3);
  EXPECT_NEAR(student_two_sided(0.95, 5), 2.5706, 1e-3);
  EXPECT_NEAR(student_two_sided(0.99, 10), 3.1693, 1e-3);
  EXPECT_NEAR(student_two_sided(0.95, 1000), 1.9623, 1e-3);
}

}  // namespace
}  // namespace wattune

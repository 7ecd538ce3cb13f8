// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/core/convert.hpp>
#include <hearth/host_tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace hearth {
namespace {

template <class T>
void check_ends() {
    using Limits = std::numeric_limits<T>;
    for (double v : {HUGE_VAL, 1e300, std::ldexp(1.0, Limits::digits)})
        EXPECT_EQ(saturate_cast<T>(v), Limits::max()) << v;
    for (double v : {-HUGE_VAL, -1e300, static_cast<double>(Limits::min()) - 0.5})
        EXPECT_EQ(saturate_cast<T>(v), Limits::min()) << v;
    EXPECT_EQ(saturate_cast<T>(std::nan("")), 0);
    EXPECT_EQ(saturate_cast<T>(-std::nan("")), 0);
    // The numbers next to the ends.
    const double last = std::nextafter(std::ldexp(1.0, Limits::digits), 0);
    EXPECT_EQ(saturate_cast<T>(last), static_cast<T>(last));
    EXPECT_EQ(saturate_cast<T>(static_cast<double>(Limits::min())), Limits::min());
}

TEST(SaturateCast, EndsAtTheTypesEnds) {
    check_ends<int8_t>();
    check_ends<uint8_t>();
    check_ends<int16_t>();
    check_ends<uint16_t>();
    check_ends<int32_t>();
    check_ends<uint32_t>();
    check_ends<int64_t>();
    check_ends<uint64_t>();
}

TEST(SaturateCast, DropsTheFraction) {
    EXPECT_EQ(saturate_cast<int32_t>(1.9), 1);
    EXPECT_EQ(saturate_cast<int32_t>(-1.9), -1);
    EXPECT_EQ(saturate_cast<uint8_t>(-0.9), 0);
    EXPECT_EQ(saturate_cast<uint8_t>(255.9), 255);
    EXPECT_EQ(saturate_cast<int64_t>(-0x1p63), INT64_MIN);
    EXPECT_EQ(saturate_cast<uint64_t>(0x1p63), uint64_t{1} << 63);
    static_assert(saturate_cast<int>(2.5) == 2);
}

TEST(HostTensor, FloatsThatAnIntegerTypeDoesNotHoldBecomeItsNearest) {
    for (const auto& [dtype, low, high] : {std::tuple{DType::kI8, -128.0, 127.0},
                                           {DType::kU8, 0.0, 255.0},
                                           {DType::kI16, -32768.0, 32767.0},
                                           {DType::kU16, 0.0, 65535.0},
                                           {DType::kI32, -0x1p31, 0x1p31 - 1},
                                           {DType::kU32, 0.0, 0x1p32 - 1},
                                           {DType::kI64, -0x1p63, 0x1p63},
                                           {DType::kU64, 0.0, 0x1p64}}) {
        HostTensor t(dtype, {1});
        t.set(0, 1e300);
        EXPECT_EQ(t.get(0), high) << name_of(dtype);
        t.set(0, -HUGE_VAL);
        EXPECT_EQ(t.get(0), low) << name_of(dtype);
        t.set(0, std::nan(""));
        EXPECT_EQ(t.get(0), 0) << name_of(dtype);
    }
}

TEST(HostTensor, NarrowFloatsHoldInfinityAndNaN) {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
        HostTensor t(dtype, {3});
        t.set(0, HUGE_VAL);
        t.set(1, -HUGE_VAL);
        t.set(2, std::nan(""));
        EXPECT_EQ(t.get(0), HUGE_VAL) << name_of(dtype);
        EXPECT_EQ(t.get(1), -HUGE_VAL) << name_of(dtype);
        EXPECT_TRUE(std::isnan(t.get(2))) << name_of(dtype);
    }
}

}  // namespace
}  // namespace hearth

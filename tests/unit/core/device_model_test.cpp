// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/device_model.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace hearth {
namespace {

DeviceModel model_of_gpu(uint32_t units, bool is_integrated = false) {
    DeviceCaps caps;
    caps.compute_units = units;
    caps.device_type = is_integrated ? DeviceType::kIntegratedGpu : DeviceType::kOther;
    return device_model(caps);
}

TEST(DeviceModel, OfAGpuIsTheLargestThatHasNoMoreUnits) {
    EXPECT_EQ(model_of_gpu(8).compute_units, 8);
    EXPECT_EQ(model_of_gpu(35).compute_units, 8);
    EXPECT_EQ(model_of_gpu(36).compute_units, 36);
    EXPECT_EQ(model_of_gpu(84).compute_units, 80);
    EXPECT_EQ(model_of_gpu(132).compute_units, 128);
}

TEST(DeviceModel, OfAGpuWithFewerUnitsThanAnyIsTheSmallest) {
    EXPECT_EQ(model_of_gpu(2).compute_units, 8);
}

TEST(DeviceModel, OfAGpuThatDoesNotTellItsUnitsIsSmallIfItIsIntegratedAndElseLarge) {
    EXPECT_EQ(model_of_gpu(0, true).compute_units, 8);
    EXPECT_EQ(model_of_gpu(0, false).compute_units, kMeasuredUnits);
}

TEST(DeviceModel, OfSoftwareAsksNeitherSubgroupsNorUnits) {
    DeviceCaps caps;
    caps.device_type = DeviceType::kCpu;
    for (const uint32_t subgroup_size : {4u, 8u, 32u}) {
        caps.subgroup_size = subgroup_size;
        caps.compute_units = subgroup_size;
        EXPECT_TRUE(device_model(caps).is_software);
        EXPECT_EQ(device_model(caps).compute_units, 4);
    }
    caps.device_type = DeviceType::kOther;
    caps.subgroup_size = 4;
    EXPECT_FALSE(device_model(caps).is_software);
}

TEST(DeviceModel, OfACpuRunsC) {
    const DeviceModel model = device_model(cpu_caps(CpuIsa::kX86_64V3));
    EXPECT_TRUE(model.is_cpu);
    EXPECT_TRUE(model.is_software);
    EXPECT_EQ(model.tile.lanes, 8u);
}

TEST(DeviceModel, NumbersThatWereMeasuredShrinkWithTheGpuButNotToNothing) {
    EXPECT_EQ(model_of_gpu(132).in_proportion(256), 256);
    EXPECT_EQ(model_of_gpu(8).in_proportion(256), 16);
    EXPECT_EQ(model_of_gpu(8).in_proportion(3), 1);
    DeviceCaps software;
    software.device_type = DeviceType::kCpu;
    EXPECT_EQ(device_model(software).in_proportion(256), 256);
}

}  // namespace
}  // namespace hearth

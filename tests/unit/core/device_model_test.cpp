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

TEST(DeviceModel, OfAGpuIsTheOneWithTheNearestUnitsByRatio) {
    EXPECT_EQ(model_of_gpu(8).compute_units, 8);
    EXPECT_EQ(model_of_gpu(16).compute_units, 8);
    EXPECT_EQ(model_of_gpu(20).compute_units, 36);
    EXPECT_EQ(model_of_gpu(36).compute_units, 36);
    EXPECT_EQ(model_of_gpu(64).compute_units, 80);
    EXPECT_EQ(model_of_gpu(84).compute_units, 80);
    EXPECT_EQ(model_of_gpu(132).compute_units, 128);
    EXPECT_EQ(model_of_gpu(1000).compute_units, 128);
}

DeviceModel model_of_card(const char* name) {
    DeviceCaps caps;
    caps.device_type = DeviceType::kDiscreteGpu;
    caps.name = name;
    return device_model(caps);
}

TEST(DeviceModel, LimitsRegistersAndKernelsByFamilyButNotInDataCentres) {
    for (const char* name : {"NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla V100-SXM2-16GB"}) {
        EXPECT_EQ(model_of_card(name).registers, kUnlimited) << name;
        EXPECT_EQ(model_of_card(name).max_instructions, kUnlimited) << name;
    }
    EXPECT_EQ(model_of_card("NVIDIA GeForce RTX 4090").registers, kUnlimited);
    EXPECT_EQ(model_of_card("NVIDIA GeForce RTX 4090").max_instructions, 3000u);
    EXPECT_EQ(model_of_card("NVIDIA GeForce RTX 3090 (NVK GA102)").registers, 160u);
    const DeviceModel radeon = model_of_card("AMD Radeon RX 580 Series (RADV POLARIS10)");
    EXPECT_EQ(radeon.registers, 96u);
    EXPECT_EQ(radeon.shared_budget(256), 20480);
    EXPECT_EQ(radeon.fragment_registers, kUnlimited);
    const DeviceModel arc = model_of_card("Intel(R) Arc(tm) A770 Graphics");
    EXPECT_EQ(arc.registers, 112u);
    EXPECT_EQ(arc.fragment_registers, 112u);
    EXPECT_EQ(arc.shared_bytes_per_invocation, kUnlimited);
    const DeviceModel any = model_of_card("Adreno (TM) 740");
    EXPECT_EQ(any.registers, radeon.registers);
    EXPECT_EQ(any.shared_budget(256), radeon.shared_budget(256));
}

TEST(DeviceModel, FollowsTheIdsOfVendorAndDriverBeforeTheName) {
    DeviceCaps caps;
    caps.name = "Radeon of another vendor";
    caps.vendor_id = vendor_id::kNvidia;
    EXPECT_EQ(device_model(caps).registers, kUnlimited);
    caps.driver_id = driver_id::kNvk;
    EXPECT_EQ(device_model(caps).registers, 160u);
    caps = {.name = "Graphics", .vendor_id = vendor_id::kIntel};
    EXPECT_EQ(device_model(caps).registers, 112u);
    caps.vendor_id = vendor_id::kAmd;
    EXPECT_EQ(device_model(caps).registers, 96u);
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
    EXPECT_TRUE(model.keeps_bodies);
    EXPECT_TRUE(model.vectorizes_loops);
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

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "support/vulkan_fixture.hpp"

#include <algorithm>

namespace hearth::standalone {
namespace {

using Standalone = hearth::test::VulkanTest;

void fill_twice_without_a_barrier(Device& device, const Buffer& buffer) {
    ASSERT_TRUE(device
                    .run([&](VkCommandBuffer cmd) {
                        device.vk().CmdFillBuffer(cmd, buffer.handle(), 0, VK_WHOLE_SIZE, 1);
                        device.vk().CmdFillBuffer(cmd, buffer.handle(), 0, VK_WHOLE_SIZE, 2);
                    })
                    .ok());
}

TEST_F(Standalone, RunWaitsUntilTheDeviceHasWritten) {
    const Buffer buffer = make_buffer(1024, MemoryKind::kReadback);
    ASSERT_TRUE(device()
                    .run([&](VkCommandBuffer cmd) {
                        vk().CmdFillBuffer(cmd, buffer.handle(), 0, VK_WHOLE_SIZE, 0x2a);
                    })
                    .ok());
    EXPECT_TRUE(std::ranges::all_of(buffer.as<uint32_t>(), [](uint32_t x) { return x == 0x2a; }));
}

TEST_F(Standalone, SynchronizationValidationSeesAPlantedHazard) {
    if (!instance().is_validating()) GTEST_SKIP() << "validation layers are off";
    const Buffer buffer = make_buffer(1024, MemoryKind::kDevice);
    fill_twice_without_a_barrier(device(), buffer);
    const std::vector<ValidationMessage> messages = take_messages();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].id, "SYNC-HAZARD-WRITE-AFTER-WRITE");
    EXPECT_TRUE(messages[0].is_error);
}

TEST_F(Standalone, CoreValidationSeesABufferThatIsNotDestroyed) {
    if (!instance().is_validating()) GTEST_SKIP() << "validation layers are off";
    auto other = make_device(hearth::test::test_device_options());
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 64;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkBuffer leaked = VK_NULL_HANDLE;
    ASSERT_EQ(other->vk().CreateBuffer(other->handle(), &info, nullptr, &leaked), VK_SUCCESS);
    other.reset();
    EXPECT_FALSE(take_messages().empty());
}

TEST_F(Standalone, BuffersHaveAnAddressWhereTheFeatureIsEnabled) {
    const Buffer buffer = make_buffer(256, MemoryKind::kDevice);
    const bool is_enabled =
        (device().enabled_features() & HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) != 0;
    EXPECT_EQ(buffer.address() != 0, is_enabled);
}

TEST_F(Standalone, EnablesExactlyWhatIsRequiredWhenAsked) {
    DeviceOptions options = hearth::test::test_device_options();
    options.features = FeatureLevel::kRequired;
    const auto required = make_device(options);
    options.features = FeatureLevel::kRequiredAndOptional;
    const auto all = make_device(options);
    ASSERT_TRUE(required && all);
    // The optional ones come on top, and this suite runs on no device that has none.
    EXPECT_EQ(required->enabled_features() & ~all->enabled_features(), 0u);
    EXPECT_NE(required->enabled_features(), all->enabled_features());
}

TEST_F(Standalone, HearthAdoptsTheDevice) {
    auto context = Context::create(device().host_info());
    ASSERT_TRUE(context.ok()) << context.status().message();
    EXPECT_TRUE(context->begin_frame(1, 0).ok());
    const auto caps = context->device_caps();
    ASSERT_TRUE(caps.ok());
    EXPECT_EQ(caps->name, device().properties().deviceName);
}

TEST_F(Standalone, ADeviceIndexBeyondTheLastIsAnErrorThatSaysHowManyThereAre) {
    DeviceOptions options;
    options.index = 1000;
    const auto device = Device::create(instance(), options);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.status().code(), StatusCode::kNotFound);
    EXPECT_NE(device.status().message().find("only " +
                                             std::to_string(instance().physical_devices().size())),
              std::string::npos)
        << device.status().message();
}

}  // namespace
}  // namespace hearth::standalone

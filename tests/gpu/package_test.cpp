// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages on a device: which profile is chosen, and that it runs as the program alone does.

#include "program/package.hpp"

#include "device/vulkan/requirements.hpp"
#include "rig.hpp"

namespace hearth::test {
namespace {

class PackageOnDevice : public RuntimeTest {
  protected:
    /// A package whose first profile no device can run.
    std::vector<std::byte> package() {
        const BindingModel model = binding_model(device());
        const Program program = TestProgramBuilder(test_shaders(model), model).build();
        PackageContents contents;
        contents.device_targets.push_back({"huge", program, 0, 0});
        contents.device_targets[0].program.kernels[0].local_size = {1024, 1024, 1024};
        contents.device_targets.push_back({"shared", program, ~0u, 0});
        contents.device_targets.push_back({"fits", program, 0, 0});
        contents.device_targets[2].program.device_target = "fits";
        contents.device_targets.push_back({"also fits", program, 0, 0});
        return save_package(std::move(contents)).value();
    }

    /// Puts a session of `program` in place of the rig's own, set up.
    static void use(Rig& rig, Result<LoadedProgram> program) {
        ASSERT_TRUE(program.ok()) << program.status().message();
        rig.session = Session();
        rig.program = std::move(*program);
        Result<Session> session = Session::create(rig.context, rig.program);
        ASSERT_TRUE(session.ok()) << session.status().message();
        rig.session = std::move(*session);
        ASSERT_TRUE(rig.session.create_pipelines().ok());
        rig.frame([&](VkCommandBuffer commands) {
            ASSERT_TRUE(rig.session.record_initialize(commands).ok());
        });
    }
};

TEST_F(PackageOnDevice, TheFirstProfileThatTheDeviceCanRunIsChosen) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<std::byte> bytes = package();
    Result<LoadedProgram> program = LoadedProgram::load_package(rig->context, bytes);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_STREQ(program->info().device_target, "fits");
}

TEST_F(PackageOnDevice, TheHostsBindingModelDecidesBetweenTargetsThatTheDeviceCanRun) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const BindingModel own = binding_model(device());
    const BindingModel other =
        own == BindingModel::kDescriptor ? BindingModel::kDeviceAddress : BindingModel::kDescriptor;
    PackageContents contents;
    contents.device_targets.push_back(
        {"other", TestProgramBuilder(test_shaders(other), other).build(), 0, 0});
    contents.device_targets.push_back(
        {"own", TestProgramBuilder(test_shaders(own), own).build(), 0, 0});
    contents.device_targets[0].program.device_target = "other";
    contents.device_targets[1].program.device_target = "own";
    const std::vector<std::byte> bytes = save_package(contents).value();
    const Result<LoadedProgram> program = LoadedProgram::load_package(rig->context, bytes);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_STREQ(program->info().device_target, "own");
    // A target of the other model is better than none.
    contents.device_targets.pop_back();
    const std::vector<std::byte> only_other = save_package(std::move(contents)).value();
    const Result<LoadedProgram> second = LoadedProgram::load_package(rig->context, only_other);
    const bool can_run_it =
        other == BindingModel::kDeviceAddress
            ? (device().enabled_features() & HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) != 0
            : gpu::contains(device().enabled_extensions(), VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    ASSERT_EQ(second.ok(), can_run_it) << second.status().message();
    if (can_run_it) {
        EXPECT_STREQ(second->info().device_target, "other");
    }
}

TEST_F(PackageOnDevice, RunsAsTheProgramAloneCopiedOrBorrowed) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> input(3 * kWidth, 0.25f);
    const std::vector<float> expected_learn = rig->learn(input, 0.5f);
    const std::vector<float> expected_act = rig->act(input);
    for (const bool borrow : {false, true}) {
        std::vector<std::byte> bytes = package();
        use(*rig, LoadedProgram::load_package(rig->context, bytes, borrow));
        if (!borrow) bytes.assign(bytes.size(), std::byte{0xff});  // nobody looks at it again
        EXPECT_EQ(rig->learn(input, 0.5f), expected_learn);
        EXPECT_EQ(rig->act(input), expected_act);
        rig->session = Session();
        rig->program = LoadedProgram();
        rig->advance();
    }
}

TEST_F(PackageOnDevice, AProfileCanBeAskedForByName) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<std::byte> bytes = package();
    EXPECT_TRUE(LoadedProgram::load_package(rig->context, bytes, true, "also fits").ok());
    const auto unknown = LoadedProgram::load_package(rig->context, bytes, true, "other");
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.status().message(),
              "HEARTH_ERROR_NOT_FOUND: package: no device target is named 'other'; expected one "
              "of: huge, shared, fits, also fits");
    const auto huge = LoadedProgram::load_package(rig->context, bytes, true, "huge");
    ASSERT_FALSE(huge.ok());
    EXPECT_NE(huge.status().message().find("device target huge: kernel mix: "), std::string::npos)
        << huge.status().message();
}

TEST_F(PackageOnDevice, DamageIsToldAndNothingIsLoaded) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    std::vector<std::byte> bytes = package();
    bytes[bytes.size() / 2] ^= std::byte{1};
    const auto loaded = LoadedProgram::load_package(rig->context, bytes);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().code(), StatusCode::kCorruptData);
    const auto info = package_info(bytes);
    ASSERT_FALSE(info.ok());
    EXPECT_EQ(info.status().code(), StatusCode::kCorruptData);
}

TEST_F(PackageOnDevice, InfoListsTheProfiles) {
    const std::vector<std::byte> bytes = package();
    const auto info = package_info(bytes);
    ASSERT_TRUE(info.ok()) << info.status().message();
    ASSERT_EQ(info->device_target_count, 4u);
    EXPECT_STREQ(info->device_targets[0], "huge");
    EXPECT_STREQ(info->device_targets[3], "also fits");
    EXPECT_GT(info->program_bytes[2], 1000u);
    EXPECT_EQ(info->weights_bytes, kWidth * 4u);
}

}  // namespace
}  // namespace hearth::test

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What is loaded, and from whom: the host's say, code that is not what its record says, foreign
// programs and what their kernels can reach.

#include "program/package.hpp"
#include "rig.hpp"
#include "shaders/reach_descriptor.h"
#include "support/spirv_module.hpp"

#include <algorithm>

namespace hearth::test {
namespace {

class Trust : public RuntimeTest {
  protected:
    BindingModel model() { return binding_model(device()); }
    bool uses_addresses() { return model() == BindingModel::kDeviceAddress; }
    Program program() { return TestProgramBuilder(test_shaders(model()), model()).build(); }
    /// Of the kernel `decay`, which does nothing here: the right ones.
    ModuleParts parts() { return {.push_words = uses_addresses() ? 9u : 1u}; }
    std::vector<std::byte> with_code(const ModuleParts& code) {
        Program p = program();
        p.kernels[2].spirv = make_module(code);
        return save_program(p);
    }
};

// --- Code and record

TEST_F(Trust, CodeThatIsNotWhatItsRecordSaysIsRefusedAtLoad) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const auto right = LoadedProgram::load(rig->context, with_code(parts()));
    ASSERT_TRUE(right.ok()) << right.status().message();
    const auto expect_refused = [&](const std::function<void(ModuleParts&)>& change,
                                    std::string_view expected) {
        ModuleParts code = parts();
        change(code);
        const auto loaded = LoadedProgram::load(rig->context, with_code(code));
        EXPECT_EQ(loaded.status().code(), StatusCode::kCorruptData) << expected;
        EXPECT_NE(loaded.status().message().find("kernel decay: "), std::string::npos)
            << loaded.status().message();
        EXPECT_NE(loaded.status().message().find(expected), std::string::npos)
            << loaded.status().message();
    };
    expect_refused(
        [](ModuleParts& p) {
            p.local_size = {64, 2, 1};
        },
        "local size 64x1x1, its code has 64x2x1");
    expect_refused([](ModuleParts& p) { p.push_words += 1; }, "bytes of push constants, its code");
    if (uses_addresses())
        expect_refused([](ModuleParts& p) { p.push_words -= 1; },
                       "bytes of push constants, its code");
    expect_refused([](ModuleParts& p) { p.load_alignment = 32; },
                   "its code accesses 32 bytes at once, its record says 16");
    expect_refused([](ModuleParts& p) { p.bindings = {4}; }, "its code has binding 4");
    expect_refused([](ModuleParts& p) { p.entry_name = {'f', 0}; }, "not named main");
    expect_refused([](ModuleParts& p) { p.version = 0x00020000; }, "version word");
    expect_refused([](ModuleParts& p) { p.local_words = 1 << 22; }, "variables of over");
    if (!uses_addresses())
        expect_refused([](ModuleParts& p) { p.capabilities.push_back(5347); },
                       "its code uses addresses");
    Program p = program();
    p.kernels[2].spec_constants = {{12, 0}};
    EXPECT_NE(LoadedProgram::load(rig->context, save_program(p))
                  .status()
                  .message()
                  .find("kernel decay: its SPIR-V has no specialization constant 12"),
              std::string::npos);
}

TEST_F(Trust, CapabilitiesAreFoundWhereverTheyStand) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    ModuleParts code = parts();
    code.capabilities = {1, 5299};  // RayTracingNV... and nothing that Hearth knows
    code.nop_before_capabilities = true;
    const auto loaded = LoadedProgram::load(rig->context, with_code(code));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_NE(Session::create(rig->context, *loaded)
                  .status()
                  .message()
                  .find("SPIR-V capability 5299 is unknown to this version of Hearth; cook with "
                        "this version"),
              std::string::npos);
}

TEST_F(Trust, MoreSharedMemoryThanThereIsIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    ModuleParts code = parts();
    const uint32_t most = rig->context.device_caps()->max_compute_shared_memory_size;
    code.shared_words = most / 4 + 1;
    const auto loaded = LoadedProgram::load(rig->context, with_code(code));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    const auto session = Session::create(rig->context, *loaded);
    EXPECT_EQ(session.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(session.status().message().find("kernel decay: uses " + std::to_string(most + 4) +
                                              " bytes of shared memory, the device allows " +
                                              std::to_string(most)),
              std::string::npos)
        << session.status().message();
}

TEST_F(Trust, MoreSharedMemoryThanThePackageSaysIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Program p = program();
    ModuleParts code = parts();
    code.shared_words = 256;
    p.kernels[2].spirv = make_module(code);
    for (const uint32_t says : {1024u, 1020u}) {
        PackageContents contents;
        contents.device_targets.push_back({"one", p, says, 0});
        const auto loaded =
            LoadedProgram::load_package(rig->context, *save_package(std::move(contents)));
        EXPECT_EQ(loaded.ok(), says == 1024) << loaded.status().message();
        if (loaded.ok()) continue;
        EXPECT_NE(
            loaded.status().message().find("kernel decay: its code uses 1024 bytes of shared "
                                           "memory, the package declares 1020; cook it again"),
            std::string::npos)
            << loaded.status().message();
    }
}

TEST_F(Trust, SpirvThatIsNewerThanTheVulkanInUseIsRefused) {
    RigOptions options;
    options.host = [](hearth_context_create_info& info) {
        info.api_version = VK_API_VERSION_1_2;
        // In the core from 1.3 on.
        info.features &= ~(HEARTH_FEATURE_SYNCHRONIZATION_2 | HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL |
                           HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS);
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    ModuleParts code = parts();
    code.version = 0x00010600;
    const auto loaded = LoadedProgram::load(rig->context, with_code(code));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_NE(Session::create(rig->context, *loaded)
                  .status()
                  .message()
                  .find("its SPIR-V is of version 1.6, the Vulkan version in use accepts up to "
                        "1.5; raise the api version, or cook with --device-targets vulkan-1.1"),
              std::string::npos);
}

// --- Sizes

/// Leaves nothing but the entry `act`, with `copies` outputs, for so many rows.
void keep_act(Program& p, uint64_t rows, uint32_t copies) {
    const Command act = p.commands.back();
    p.operands = {p.operands.begin() + act.first_operand, p.operands.end()};
    p.words = {p.words.begin() + act.first_word, p.words.end()};
    p.commands = {act};
    p.commands[0].first_operand = p.commands[0].first_word = 0;
    p.entries = {p.entries[kAct]};
    p.entries[0].first_command = 0;
    p.entries[0].arena_offset = 0;
    p.arena_bytes = 0;
    p.max_batch_size = rows;
    p.kernels = {p.kernels[3]};
    p.commands[0].kernel = 0;
    for (uint32_t i = 0; i < copies; ++i) {
        Binding copy = p.bindings[kActY];
        copy.name += std::to_string(i);
        p.entries[0].bindings.push_back(static_cast<uint32_t>(p.bindings.size()));
        p.bindings.push_back(copy);
    }
}

TEST_F(Trust, ABindingLargerThanABufferIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Program p = program();
    keep_act(p, 0xffffffff, 0);
    p.commands[0].grid[0].tile = 1 << 30;  // or there would be too many workgroups
    const auto loaded = LoadedProgram::load(rig->context, save_program(p));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    const auto session = Session::create(rig->context, *loaded);
    EXPECT_EQ(session.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(session.status().message().find(
                  "binding x: 1649267441280 bytes at the maximum batch size, the device allows "),
              std::string::npos)
        << session.status().message();
}

TEST_F(Trust, ShadowsOfBindingsThatTakeTooMuchTogetherAreRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    Program p = program();
    keep_act(p, rig->context.device_caps()->max_storage_buffer_range / (kWidth * 4), 40);
    p.commands[0].grid[0].tile = 1 << 30;
    const auto loaded = LoadedProgram::load(rig->context, save_program(p));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    hearth_session_create_info info = hearth_session_create_info_default();
    info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    for (const Status& status :
         {Session::create(rig->context, *loaded, info).status(),
          Session::get_memory_requirements(rig->context, *loaded, info).status()}) {
        EXPECT_EQ(status.code(), StatusCode::kUnsupported);
        EXPECT_NE(status.message().find("hearth bounce buffers: "), std::string::npos)
            << status.message();
        EXPECT_NE(status.message().find("bytes in one buffer, the device allows"),
                  std::string::npos);
    }
    info.flags = 0;
    EXPECT_TRUE(Session::create(rig->context, *loaded, info).ok());
}

// --- The host's say

/// What a verify callback saw, and what it says.
struct Verifier {
    hearth_result answer = HEARTH_OK;
    std::vector<hearth_load_request> seen;
    std::array<uint8_t, 32> hash{};

    static hearth_result verify(void* user, const hearth_load_request* request) {
        auto& self = *static_cast<Verifier*>(user);
        self.seen.push_back(*request);
        hearth_sha256(request->bytes, request->byte_count, self.hash.data());
        return self.answer;
    }
    RigOptions options() {
        RigOptions options;
        options.host = [this](hearth_context_create_info& info) {
            info.verify = verify;
            info.callback_user_data = this;
        };
        return options;
    }
};

TEST_F(Trust, TheHostIsAskedAboutAllThatIsLoadedBeforeItIsRead) {
    Verifier verifier;
    const auto rig = make_rig(verifier.options());
    ASSERT_TRUE(rig);
    ASSERT_EQ(verifier.seen.size(), 1u);  // the rig's own program
    PackageContents contents;
    contents.device_targets.push_back({"one", program(), 0, 0});
    const std::vector<std::byte> bytes = *save_package(std::move(contents));
    ASSERT_TRUE(LoadedProgram::load_package(rig->context, bytes).ok());
    ASSERT_EQ(verifier.seen.size(), 2u);
    EXPECT_EQ(verifier.seen[1].bytes, bytes.data());
    EXPECT_EQ(verifier.seen[1].byte_count, bytes.size());
    EXPECT_EQ(verifier.seen[1].is_package, 1u);
    EXPECT_EQ(verifier.seen[1].trust, HEARTH_TRUST_TRUSTED);
    EXPECT_EQ(verifier.hash, sha256_of(bytes));

    // Neither its size nor its first byte matters before the host has spoken.
    verifier.answer = HEARTH_ERROR_NOT_FOUND;
    const std::byte garbage[8] = {};
    const auto refused = LoadedProgram::load(rig->context, garbage);
    EXPECT_EQ(refused.status().message(),
              "HEARTH_ERROR_VERIFICATION_FAILED: program: the application's verify callback "
              "rejected it with HEARTH_ERROR_NOT_FOUND (-2)");
    EXPECT_EQ(LoadedProgram::load_package(rig->context, bytes).status().message(),
              "HEARTH_ERROR_VERIFICATION_FAILED: package: the application's verify callback "
              "rejected it with HEARTH_ERROR_NOT_FOUND (-2)");
    // "Not an error" is no yes either.
    verifier.answer = HEARTH_NOT_READY;
    EXPECT_FALSE(LoadedProgram::load_package(rig->context, bytes).ok());
    EXPECT_EQ(verifier.seen.size(), 5u);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

// --- Foreign programs

TEST_F(Trust, ForeignProgramsAreRefusedWhereNothingHoldsThem) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const auto loaded = LoadedProgram::load(rig->context, save_program(program()),
                                            {.trust = HEARTH_TRUST_UNTRUSTED});
    EXPECT_EQ(loaded.status().message(),
              uses_addresses()
                  ? "HEARTH_ERROR_UNSUPPORTED: program: an untrusted program must bind "
                    "descriptors, and this one uses addresses; cook it with --device-targets "
                    "descriptors, or load it as HEARTH_TRUST_TRUSTED if you trust it"
                  : "HEARTH_ERROR_UNSUPPORTED: program: an untrusted program needs feature "
                    "robustBufferAccess, which is not enabled; enable it when you create the "
                    "device (hearth_get_device_requirements lists it)");
    EXPECT_FALSE(LoadedProgram::load(rig->context, save_program(program()),
                                     {.trust = static_cast<hearth_trust_level>(7)})
                     .ok());
}

TEST_F(Trust, RobustnessIsNotEnabledUnlessForeignProgramsWillBeRun) {
    hearth_device_requirements_info query = hearth_device_requirements_info_default();
    query.instance = instance().handle();
    query.physical_device = device().physical_device();
    query.get_instance_proc_addr = instance().vk().GetInstanceProcAddr;
    query.api_version = device().api_version();
    constexpr hearth_features kRobust =
        HEARTH_FEATURE_ROBUST_BUFFER_ACCESS | HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2;
    const auto plain = get_device_requirements(query);
    ASSERT_TRUE(plain.ok());
    EXPECT_EQ((plain->required_features | plain->optional_features) & kRobust, 0u);
    query.allow_untrusted_programs = 1;
    hearth_requirements needs = hearth_requirements_default();
    hearth_messages report{};
    (void)hearth_get_device_requirements(&query, &needs, &report);
    EXPECT_EQ(needs.required_features & kRobust, kRobust);
    std::vector<std::string> names(needs.required_extensions,
                                   needs.required_extensions + needs.required_extension_count);
    EXPECT_EQ(names, (std::vector<std::string>{"VK_KHR_push_descriptor", "VK_EXT_robustness2"}));
}

/// A device without robustBufferAccess2, as seen through this.
struct WithoutRobustness {
    static inline PFN_vkGetInstanceProcAddr real = nullptr;

    static VkResult VKAPI_PTR extensions(VkPhysicalDevice device, const char* layer,
                                         uint32_t* count, VkExtensionProperties* out) {
        const auto ask = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(
            real(instance, "vkEnumerateDeviceExtensionProperties"));
        const VkResult result = ask(device, layer, count, out);
        for (uint32_t i = 0; out != nullptr && i < *count; ++i)
            if (std::strcmp(out[i].extensionName, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) == 0)
                out[i].extensionName[0] = '-';
        return result;
    }
    static PFN_vkVoidFunction VKAPI_PTR proc(VkInstance i, const char* name) {
        instance = i;
        if (std::strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0)
            return reinterpret_cast<PFN_vkVoidFunction>(&extensions);
        return real(i, name);
    }
    static inline VkInstance instance = VK_NULL_HANDLE;
};

TEST_F(Trust, ADriverThatCannotHoldForeignProgramsIsNamedForIt) {
    WithoutRobustness::real = instance().vk().GetInstanceProcAddr;
    hearth_device_requirements_info query = hearth_device_requirements_info_default();
    query.instance = instance().handle();
    query.physical_device = device().physical_device();
    query.get_instance_proc_addr =
        reinterpret_cast<hearth_get_instance_proc>(&WithoutRobustness::proc);
    query.api_version = device().api_version();
    query.allow_untrusted_programs = 1;
    const auto needs = get_device_requirements(query);
    ASSERT_FALSE(needs.ok());
    EXPECT_EQ(needs.status().message(),
              "HEARTH_ERROR_UNSUPPORTED: device extension VK_EXT_robustness2 is required, and the "
              "device does not support it; update the driver or choose another device");
}

/// On a device that was made for foreign programs.
class Foreign : public Trust {
  protected:
    void SetUp() override {
        Trust::SetUp();
        standalone::DeviceOptions options = test_device_options();
        options.foreign_programs = true;
        auto made = standalone::Device::create(instance(), options);
        if (!made.ok()) {
            // It must say what is missing, and then there is nothing more to see.
            EXPECT_NE(made.status().message().find("robust"), std::string::npos)
                << made.status().message();
            GTEST_SKIP() << made.status().message();
        }
        robust_ = std::move(*made);
    }
    void TearDown() override {
        rig_.reset();
        robust_.reset();
        Trust::TearDown();
    }

    static Program foreign_program() {
        return TestProgramBuilder(test_shaders(BindingModel::kDescriptor),
                                  BindingModel::kDescriptor)
            .build();
    }
    /// act() writes `value` and reads `reach` elements behind the ends of its operands.
    static Program reaching_program(uint32_t reach, float value) {
        Program p = foreign_program();
        Kernel& kernel = p.kernels[3];
        kernel.spirv.assign(std::begin(reach_descriptor), std::end(reach_descriptor));
        kernel.word_count = 3;
        Command& act = p.commands.back();
        act.first_word = static_cast<uint32_t>(p.words.size());
        act.word_count = 3;
        p.words.insert(p.words.end(), {kWidth, reach, std::bit_cast<uint32_t>(value)});
        p.hash = content_hash(p);
        return p;
    }
    /// A rig whose session runs this program as a foreign one.
    Rig* run_foreign(const Program& p) {
        rig_ = Rig::create(*robust_);
        if (!rig_) return nullptr;
        rig_->session = Session();
        auto loaded =
            LoadedProgram::load(rig_->context, save_program(p), {.trust = HEARTH_TRUST_UNTRUSTED});
        EXPECT_TRUE(loaded.ok()) << loaded.status().message();
        if (!loaded.ok()) return nullptr;
        rig_->program = std::move(*loaded);
        auto session = Session::create(rig_->context, rig_->program);
        EXPECT_TRUE(session.ok()) << session.status().message();
        if (!session.ok()) return nullptr;
        rig_->session = std::move(*session);
        EXPECT_TRUE(rig_->session.create_pipelines().ok()) << rig_->session.error();
        rig_->frame([&](VkCommandBuffer commands) {
            EXPECT_TRUE(rig_->session.record_initialize(commands).ok());
        });
        return rig_.get();
    }

    std::unique_ptr<standalone::Device> robust_;
    std::unique_ptr<Rig> rig_;
};

TEST_F(Foreign, ProgramsOfDescriptorsRunAsTheirOwnersDo) {
    Rig* rig = run_foreign(foreign_program());
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(3 * kWidth, 1);
    EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
    EXPECT_EQ(rig->act(x), reference.act(x));
}

// Applications know programs by their hash: GLSL functions belong to one.
TEST_F(Foreign, AHashThatIsNotTheProgramsIsRefused) {
    const auto rig = Rig::create(*robust_);
    ASSERT_TRUE(rig);
    Program p = foreign_program();
    p.hash ^= 1;
    const std::vector<std::byte> bytes = save_program(p);
    const auto loaded = LoadedProgram::load(rig->context, bytes, {.trust = HEARTH_TRUST_UNTRUSTED});
    EXPECT_EQ(loaded.status().code(), StatusCode::kCorruptData);
    EXPECT_NE(loaded.status().message().find("program: its content hash is "), std::string::npos)
        << loaded.status().message();
    EXPECT_TRUE(LoadedProgram::load(rig->context, bytes).ok());
}

TEST_F(Foreign, AKernelReachesNothingBeyondItsOperands) {
    // Into slot `zero`, which lies (768 - 256) / 4 elements behind `state`; and far away.
    for (const uint32_t reach : {128u, 8 * kWidth, 1u << 20, 1u << 28}) {
        Rig* rig = run_foreign(reaching_program(reach, 13));
        ASSERT_TRUE(rig);
        // What lies there is not zero, so that reading it would show.
        const std::vector<float> nines(16, 9);
        rig->frame([&](VkCommandBuffer commands) {
            EXPECT_TRUE(rig->session
                            .record_update_variable(commands, kZeroVariable,
                                                    std::as_bytes(std::span(nines)))
                            .ok());
        });
        rig->set_x(std::vector<float>(kRowsCapacity * kWidth, 5));
        for (float& value : rig->y().as<float>()) value = 7;
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 2> bounds;
            EXPECT_TRUE(rig->session.record(rig->act_info(commands, 1, bounds)).ok())
                << rig->session.error();
        });
        EXPECT_EQ(rig->get_y(1), std::vector<float>(kWidth)) << "read beyond, reach " << reach;
        EXPECT_EQ(rig->read_slot(kZeroVariable), nines) << "wrote beyond, reach " << reach;
        EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
        // One row was bound of buffers of eight.
        const std::span<const float> x = rig->x().as<float>(), y = rig->y().as<float>();
        EXPECT_TRUE(std::all_of(x.begin(), x.end(), [](float v) { return v == 5; }));
        EXPECT_TRUE(std::all_of(y.begin() + kWidth, y.end(), [](float v) { return v == 7; }));
    }
}

TEST_F(Foreign, ProfilesThatUseAddressesArePassedOver) {
    const auto rig = Rig::create(*robust_);
    ASSERT_TRUE(rig);
    const BindingModel by_address = BindingModel::kDeviceAddress;
    PackageContents contents;
    contents.device_targets.push_back(
        {"addresses", TestProgramBuilder(test_shaders(by_address), by_address).build(), 0, 0});
    contents.device_targets.push_back({"descriptors", foreign_program(), 0, 0});
    contents.device_targets[0].program.device_target = "addresses";
    contents.device_targets[1].program.device_target = "descriptors";
    for (PackedDeviceTarget& target : contents.device_targets)
        target.program.hash = content_hash(target.program);
    const std::vector<std::byte> bytes = *save_package(std::move(contents));
    const auto loaded =
        LoadedProgram::load_package(rig->context, bytes, {.trust = HEARTH_TRUST_UNTRUSTED});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_STREQ(loaded->info().device_target, "descriptors");
    const auto asked = LoadedProgram::load_package(
        rig->context, bytes, {.device_target = "addresses", .trust = HEARTH_TRUST_UNTRUSTED});
    EXPECT_EQ(asked.status().message(),
              "HEARTH_ERROR_UNSUPPORTED: package: device target addresses: an untrusted program "
              "must bind descriptors, and this one uses addresses; cook it with --device-targets "
              "descriptors, or load it as HEARTH_TRUST_TRUSTED if you trust it");
}

// The table of pipelines goes by a hash that anybody can find a second text for.
TEST_F(Foreign, PipelinesAreNotSharedWithOtherPrograms) {
    const auto rig = Rig::create(*robust_);
    ASSERT_TRUE(rig);
    std::vector<uint32_t> counts;
    std::vector<LoadedProgram> programs;
    std::vector<Session> sessions;
    for (const hearth_trust_level trust : {HEARTH_TRUST_TRUSTED, HEARTH_TRUST_TRUSTED,
                                           HEARTH_TRUST_UNTRUSTED, HEARTH_TRUST_UNTRUSTED}) {
        auto loaded =
            LoadedProgram::load(rig->context, save_program(foreign_program()), {.trust = trust});
        ASSERT_TRUE(loaded.ok()) << loaded.status().message();
        programs.push_back(std::move(*loaded));
        for (int twice = 0; twice < 2; ++twice) {
            auto session = Session::create(rig->context, programs.back());
            ASSERT_TRUE(session.ok()) << session.status().message();
            sessions.push_back(std::move(*session));
        }
        counts.push_back(rig->context.stats().pipeline_count);
    }
    EXPECT_EQ(counts[1], counts[0]);
    EXPECT_EQ(counts[2], counts[1] + 4);
    EXPECT_EQ(counts[3], counts[2] + 4);
}

}  // namespace
}  // namespace hearth::test

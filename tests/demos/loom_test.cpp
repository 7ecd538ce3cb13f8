// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loom: the cloth learns, steps are few dispatches, and the fragment shader draws what the weights
// say.

#include "loom.hpp"

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "host/host.hpp"
#include "net.hpp"
#include "pattern.hpp"
#include "program/program.hpp"
#include "support/vulkan_fixture.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <cmath>
#include <cstring>
#include <filesystem>

namespace hearth::loom {
namespace {

using test::test_setting;

double decibels_of(double square_error) {
    return -10 * std::log10(square_error);
}

TEST(LoomNet, AStepOfLearningIsAtMostSixDispatchesAndFiveBarriersOnAGpu) {
    const LoomTraces traces = trace_loom();
    Trace* const learn[] = {traces.learn.get()};
    const auto compiled = compile(learn, loom_options(false));
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_LE(compiled->dispatch_count, 6u) << compiled->disassembly;
    EXPECT_LE(compiled->barrier_count, 5u) << compiled->disassembly;
}

TEST(Pattern, HasColoursFromZeroToOneAndKeepsWhatIsPainted) {
    Pattern pattern;
    double mean = 0;
    for (const float value : pattern.texels()) {
        ASSERT_GE(value, 0.0f);
        ASSERT_LE(value, 1.0f);
        mean += static_cast<double>(value) / (3.0 * static_cast<double>(kTexels));
    }
    EXPECT_GT(mean, 0.2);
    EXPECT_LT(mean, 0.8);
    const size_t middle = static_cast<size_t>(3 * (kTexels / 2 + kPictureSize / 2));
    pattern.dab({0.5f, 0.5f}, 0.05f, {1.0f, 0.0f, 0.25f});
    EXPECT_EQ(pattern.texels()[middle], 1.0f);
    EXPECT_EQ(pattern.texels()[middle + 1], 0.0f);
    EXPECT_EQ(pattern.texels()[middle + 2], 0.25f);
}

/// A loom without pictures, on a device of its own.
class LoomTest : public test::VulkanTest {
  protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (device().binding_model() != HEARTH_BINDING_DEVICE_ADDRESS)
            GTEST_SKIP() << "pixels read weights by device address";
    }

    /// Weaves for so many frames.
    static Status weave(Loom& loom, demo::FrameLoop& frames, const Pattern& pattern, int count,
                        int unravel_at = -1) {
        for (int i = 0; i < count; ++i) {
            HEARTH_ASSIGN(const auto frame, frames.begin(nullptr));
            HEARTH_TRY(loom.begin_frame(*frame));
            if (i == 0) loom.record_picture(*frame, pattern.texels());
            if (i == unravel_at) HEARTH_TRY(loom.record_unravel(*frame));
            HEARTH_TRY(loom.record_learn(*frame));
            HEARTH_TRY(frames.end(*frame, nullptr));
        }
        return frames.wait();
    }
};

TEST_F(LoomTest, TheClothIsAtTwentyDecibelsAfterSixtyFramesAndTheErrorKeepsFalling) {
    const auto loom = Loom::create(device(), 1);
    ASSERT_TRUE(loom.ok()) << loom.status().message();
    const auto frames = demo::FrameLoop::create(device(), 0);
    ASSERT_TRUE(frames.ok());
    const Pattern pattern;
    ASSERT_TRUE(weave(**loom, **frames, pattern, 60).ok());
    const auto after_sixty = (*loom)->mean_square_error();
    ASSERT_TRUE(after_sixty.ok()) << after_sixty.status().message();
    EXPECT_GE(decibels_of(*after_sixty), 20.0);
    // Frames go on after what ran between them.
    ASSERT_TRUE(weave(**loom, **frames, pattern, 60).ok());
    const auto later = (*loom)->mean_square_error();
    ASSERT_TRUE(later.ok()) << later.status().message();
    EXPECT_LT(*later, 0.7 * *after_sixty);
}

TEST_F(LoomTest, EqualSeedsWeaveEqualClothsBitForBit) {
    const Pattern pattern;
    uint64_t hashes[3] = {};
    for (int run = 0; run < 3; ++run) {
        const auto loom = Loom::create(device(), run == 2 ? 8 : 7);
        ASSERT_TRUE(loom.ok()) << loom.status().message();
        const auto frames = demo::FrameLoop::create(device(), 0);
        ASSERT_TRUE(frames.ok());
        ASSERT_TRUE(weave(**loom, **frames, pattern, 12).ok());
        hashes[run] = (*loom)->weights_hash().value();
    }
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_NE(hashes[0], hashes[2]);
}

TEST_F(LoomTest, AnUnravelledClothBeginsAsANewOne) {
    const Pattern pattern;
    const auto frames = demo::FrameLoop::create(device(), 0);
    ASSERT_TRUE(frames.ok());
    const auto loom = Loom::create(device(), 3);
    ASSERT_TRUE(loom.ok()) << loom.status().message();
    ASSERT_TRUE(weave(**loom, **frames, pattern, 0).ok());
    ASSERT_TRUE(weave(**loom, **frames, pattern, 10).ok());
    const double woven = (*loom)->mean_square_error().value();
    ASSERT_TRUE(weave(**loom, **frames, pattern, 1, 0).ok());
    EXPECT_GT((*loom)->mean_square_error().value(), woven);
}

/// The picture in a file, as bytes of red, green, blue and alpha.
struct Picture {
    int width = 0, height = 0;
    std::vector<uint8_t> bytes;
};

Picture read_picture(const std::string& path) {
    Picture picture;
    int channels = 0;
    uint8_t* const pixels = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 4);
    if (pixels == nullptr) return picture;
    picture.bytes.assign(pixels, pixels + static_cast<size_t>(4 * picture.width * picture.height));
    stbi_image_free(pixels);
    return picture;
}

TEST(LoomPicture, TheFragmentShaderDrawsWhatTheInterpreterMakesOfTheSameWeights) {
    const std::string path = testing::TempDir() + "loom_cloth.png";
    std::filesystem::remove(path);
    constexpr uint32_t kSide = 96;
    demo::Options options;
    options.headless = options.turbo = true;
    options.validate = test_setting("HEARTH_TEST_VALIDATION") != "off";
    options.width = 320;
    options.height = 240;
    const auto host = demo::Host::create(options, "loom test", 0);
    ASSERT_TRUE(host.ok()) << host.status().message();
    demo::Host& h = **host;
    if (h.device().binding_model() != HEARTH_BINDING_DEVICE_ADDRESS)
        GTEST_SKIP() << "pixels read weights by device address";
    const auto made = Loom::create(h.device(), 1);
    ASSERT_TRUE(made.ok()) << made.status().message();
    Loom& loom = **made;
    demo::Effect cloth;
    ASSERT_TRUE(h.renderer().create_effect(cloth, loom.fragment_shader()).ok());
    const Pattern pattern;
    for (int i = 0; i < 20; ++i) {
        const auto frame = h.begin_frame();
        ASSERT_TRUE(frame.ok()) << frame.status().message();
        ASSERT_TRUE(loom.begin_frame(**frame).ok());
        if (i == 0) loom.record_picture(**frame, pattern.texels());
        ASSERT_TRUE(loom.record_learn(**frame).ok());
        loom.record_ready(**frame);
        h.begin_picture(**frame, {}, {});
        const ClothConstants constants = loom.constants(kPlain);
        h.renderer().draw(cloth, {0.0f, 0.0f}, {kSide, kSide},
                          std::as_bytes(std::span(&constants, 1)));
        ASSERT_TRUE(h.end_picture().ok());
        if (i == 19) {
            ASSERT_TRUE(h.loop().record_screenshot(**frame, h.presenter(), path).ok());
        }
        ASSERT_TRUE(h.end_frame(**frame).ok());
    }
    ASSERT_TRUE(h.loop().wait().ok());
    ASSERT_TRUE(h.files().finish().ok());
    const Picture picture = read_picture(path);
    ASSERT_EQ(picture.width, 320);

    // The same places with the same weights on the CPU.
    const LoomTraces traces = trace_loom();
    const Graph graph = traces.shade->build().value();
    NamedTensors weights = initial_weights(graph);
    const auto trained = loom.weights();
    ASSERT_TRUE(trained.ok()) << trained.status().message();
    for (const auto& [name, bytes] : *trained) {
        ASSERT_TRUE(weights.contains(name)) << name;
        HostTensor& tensor = weights.at(name);
        ASSERT_EQ(static_cast<size_t>(tensor.element_count()) * sizeof(float), bytes.size());
        for (int64_t i = 0; i < tensor.element_count(); ++i) {
            float value = 0;
            std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof value, sizeof value);
            tensor.set(i, static_cast<double>(value));
        }
    }
    HostTensor places(DType::kF32, {int64_t{kSide} * kSide, 2});
    for (int64_t i = 0; i < int64_t{kSide} * kSide; ++i) {
        places.set(2 * i, (static_cast<double>(i % kSide) + 0.5) / kSide);
        places.set(2 * i + 1, (static_cast<double>(i / kSide) + 0.5) / kSide);
    }
    const auto expected = interpret(graph, {{"place", places}}, weights, int64_t{kSide} * kSide);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const HostTensor& colours = expected->at("colour");
    double contrast = 0;
    for (int64_t i = 0; i < int64_t{kSide} * kSide; ++i) {
        const auto pixel = static_cast<size_t>(4 * ((i / kSide) * picture.width + i % kSide));
        for (int64_t c = 0; c < 3; ++c) {
            const double wanted = 255 * std::clamp(colours.get(3 * i + c), 0.0, 1.0);
            const double found = picture.bytes[pixel + static_cast<size_t>(c)];
            contrast = std::max(contrast, std::abs(wanted - 127));
            ASSERT_NEAR(found, wanted, 2.0) << "pixel " << i << ", channel " << c;
        }
    }
    EXPECT_GT(contrast, 60.0);  // it is no grey picture
    EXPECT_EQ(h.instance().messages().count(), 0u);
    cloth.reset();
}

}  // namespace
}  // namespace hearth::loom

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "host/host.hpp"

#include "host/stop_signals.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

namespace hearth::demo {
namespace {

/// A PNG read back.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::array<uint8_t, 3>> pixels;
    std::array<uint8_t, 3> at(int x, int y) const {
        return pixels[static_cast<size_t>(y * width + x)];
    }
};

Picture read_png(const std::string& path) {
    Picture picture;
    int channels = 0;
    stbi_uc* const bytes = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 3);
    if (!bytes) return {};
    for (int i = 0; i < picture.width * picture.height; ++i) {
        picture.pixels.push_back({bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2]});
    }
    stbi_image_free(bytes);
    return picture;
}

class DemoHost : public ::testing::Test {
  protected:
    void SetUp() override {
        Options options;
        options.headless = true;
        options.turbo = true;
        const char* const validation = std::getenv("HEARTH_TEST_VALIDATION");
        options.validate = !validation || std::string_view(validation) != "off";
        options.width = 320;
        options.height = 240;
        auto host = Host::create(options, "host_test", 1);
        ASSERT_TRUE(host.ok()) << host.status().message();
        host_ = std::move(host).value();
        folder_ = std::filesystem::temp_directory_path() /
                  ("hearth_host_test_" + std::to_string(std::rand()) + "_" +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override {
        if (host_) {
            EXPECT_EQ(host_->instance().messages().count(), 0u);
        }
        host_.reset();
        std::filesystem::remove_all(folder_);
    }

    /// One frame: `draw` fills the picture; it is written to `path` if that is not empty.
    Status frame(const std::function<void()>& draw, const std::string& path = {}) {
        HEARTH_ASSIGN(const auto frame, host_->begin_frame());
        if (!frame) return internal_error("no frame");
        host_->begin_picture(*frame, {}, Color::hex(0x102030));
        draw();
        HEARTH_TRY(host_->end_picture());
        if (!path.empty()) {
            HEARTH_TRY(host_->loop().record_screenshot(*frame, host_->presenter(), path));
        }
        serial_ = frame->serial;
        completed_ = frame->completed_serial;
        return host_->end_frame(*frame);
    }

    std::unique_ptr<Host> host_;
    std::filesystem::path folder_;
    uint64_t serial_ = 0;
    uint64_t completed_ = 0;
};

TEST_F(DemoHost, AScreenshotHasTheColoursThatWereDrawnWhereTheyWereDrawn) {
    Canvas canvas(host_->ui().white_uv());
    // x to the right, y up, two units a pixel: this covers the upper left quarter.
    canvas.quad({-320, 0}, {0, 0}, {0, 240}, {-320, 240}, Color::hex(0xff8000));
    const View view{.center = {0, 0}, .units_per_pixel = 2.0f};
    const std::string path = folder_ / "picture.png";
    const Status status = frame([&] { host_->renderer().draw(canvas, view); }, path);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(host_->loop().wait().ok());
    ASSERT_TRUE(host_->files().finish().ok());

    const Picture picture = read_png(path);
    ASSERT_EQ(picture.width, 320);
    ASSERT_EQ(picture.height, 240);
    const std::array<uint8_t, 3> orange = {0xff, 0x80, 0x00};
    const std::array<uint8_t, 3> background = {0x10, 0x20, 0x30};
    EXPECT_EQ(picture.at(2, 2), orange);
    EXPECT_EQ(picture.at(157, 117), orange);
    EXPECT_EQ(picture.at(163, 117), background);
    EXPECT_EQ(picture.at(157, 123), background);
    EXPECT_EQ(picture.at(317, 237), background);
}

TEST_F(DemoHost, ABackdropLooksLikeTheSceneryItWasBakedFrom) {
    Canvas canvas(host_->ui().white_uv());
    canvas.disc({0, 0}, 70, Color::hex(0xffffff), Color::hex(0x2040ff), 48);
    const View view = {.center = {10, -5}};
    auto mesh = host_->renderer().upload(canvas);
    ASSERT_TRUE(mesh.ok());
    Backdrop backdrop;
    ASSERT_TRUE(host_->renderer()
                    .bake(backdrop, *mesh, view, host_->presenter().extent(), Color::hex(0x102030))
                    .ok());
    const std::string live = folder_ / "live.png";
    const std::string baked = folder_ / "baked.png";
    ASSERT_TRUE(frame([&] { host_->renderer().draw(*mesh, view); }, live).ok());
    ASSERT_TRUE(frame([&] { host_->renderer().draw(backdrop); }, baked).ok());
    ASSERT_TRUE(host_->loop().wait().ok());
    ASSERT_TRUE(host_->files().finish().ok());
    const Picture a = read_png(live);
    const Picture b = read_png(baked);
    ASSERT_EQ(a.pixels.size(), size_t{320 * 240});
    EXPECT_TRUE(a.pixels == b.pixels);
}

// The picture of 1,024 hatchlings was empty: what exceeded the buffers was dropped in silence.
TEST_F(DemoHost, APictureThatExceedsTheBuffersIsAnErrorThatNamesCapacityAndDemand) {
    Canvas canvas(host_->ui().white_uv());
    for (int i = 0; i < 40'000; ++i) canvas.quad({0, 0}, {9, 0}, {9, 9}, {0, 9}, Color::hex(0));
    const Status status = frame([&] { host_->renderer().draw(canvas, {}); });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
    for (const char* fact : {"160000 vertices", "240000 indices", "131072", "262144"})
        EXPECT_NE(status.message().find(fact), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("raise Renderer::kVertices"), std::string::npos)
        << status.message();
}

TEST_F(DemoHost, EachInstanceOfAMeshIsMovedTurnedScaledAndTinted) {
    Canvas mesh({});
    mesh.quad({0, -1}, {2, -1}, {2, 1}, {0, 1}, Color::hex(0xffffff));
    InstancedMesh instanced;
    const Status made =
        host_->renderer().create_instanced_mesh(instanced, mesh, {.name = "bars", .capacity = 3});
    ASSERT_TRUE(made.ok()) << made.message();
    const Color red = Color::hex(0xff0000), green = Color::hex(0x00ff00);
    // Two draws of one picture: the second one must not overwrite the first one's instances.
    const Sprite first[] = {{.position = {-100, 0}, .axis = {10, 0}, .inner = red},
                            {.position = {0, 0}, .axis = {0, 10}, .inner = green}};
    const Sprite second[] = {{.position = {100, 0}, .axis = {-10, 0}, .inner = red}};
    const std::string path = folder_ / "instances.png";
    const Status status = frame(
        [&] {
            host_->renderer().draw(instanced, std::as_bytes(std::span(first)), {});
            host_->renderer().draw(instanced, std::as_bytes(std::span(second)), {});
        },
        path);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(host_->loop().wait().ok());
    ASSERT_TRUE(host_->files().finish().ok());

    const Picture picture = read_png(path);
    ASSERT_EQ(picture.width, 320);
    const std::array<uint8_t, 3> is_red = {0xff, 0, 0}, is_green = {0, 0xff, 0},
                                 background = {0x10, 0x20, 0x30};
    EXPECT_EQ(picture.at(160 - 95, 120), is_red);
    EXPECT_EQ(picture.at(160 - 105, 120), background);
    EXPECT_EQ(picture.at(160, 120 - 15), is_green) << "turned to point up";
    EXPECT_EQ(picture.at(160, 120 + 5), background);
    EXPECT_EQ(picture.at(160 + 95, 120), is_red) << "turned to point left";
    EXPECT_EQ(picture.at(160 + 105, 120), background);
}

TEST_F(DemoHost, MoreInstancesThanAMeshWasMadeForAreAnErrorThatNamesTheMesh) {
    Canvas mesh({});
    mesh.disc({0, 0}, 1, {}, {});
    InstancedMesh instanced;
    ASSERT_TRUE(host_->renderer()
                    .create_instanced_mesh(instanced, mesh, {.name = "motes", .capacity = 4})
                    .ok());
    const std::array<Sprite, 3> sprites = {};
    const auto draw = [&] {
        host_->renderer().draw(instanced, std::as_bytes(std::span(sprites)), {});
    };
    EXPECT_TRUE(frame(draw).ok());
    const Status status = frame([&] {
        draw();
        draw();
    });
    EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
    EXPECT_EQ(status.message(),
              "picture: 6 instances of 'motes' exceed its capacity of 4; raise "
              "InstancedMeshInfo::capacity");
    EXPECT_TRUE(host_->loop().wait().ok());  // the mesh is destroyed first
}

TEST_F(DemoHost, SerialsCountFramesAndCompletedOnesTrailByTheFramesInFlight) {
    for (uint64_t i = 1; i <= 7; ++i) {
        ASSERT_TRUE(frame([] {}).ok());
        EXPECT_EQ(serial_, i);
        EXPECT_EQ(completed_, i > FrameLoop::kFramesInFlight ? i - FrameLoop::kFramesInFlight : 0u);
    }
}

TEST_F(DemoHost, WindowLibrariesAreNotLoadedWithoutAWindow) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        for (const char* library : {"libSDL2", "libGL."}) {
            EXPECT_EQ(line.find(library), std::string::npos) << line;
        }
    }
}

TEST_F(DemoHost, APictureOfItsOwnSizeCanBeWrittenBesideTheFrames) {
    const std::string path = folder_ / "report.png";
    ASSERT_TRUE(host_
                    ->write_picture({200, 100}, path,
                                    [](Renderer&) {
                                        ImGui::GetBackgroundDrawList()->AddRectFilled(
                                            {50, 25}, {150, 75}, IM_COL32(0, 200, 100, 255));
                                    })
                    .ok());
    ASSERT_TRUE(host_->files().finish().ok());
    const Picture picture = read_png(path);
    ASSERT_EQ(picture.width, 200);
    const std::array<uint8_t, 3> green = {0, 200, 100};
    EXPECT_EQ(picture.at(100, 50), green);
    EXPECT_NE(picture.at(30, 50), green);
}

TEST_F(DemoHost, PlainEdgesHaveTheColoursThatWereDrawn) {
    Canvas canvas(host_->ui().white_uv());
    canvas.quad({0, 0}, {160, 0}, {160, 120}, {0, 120}, Color::hex(0xff8000));
    std::array<uint8_t, 4> inside{}, outside{};
    const auto frame = host_->begin_frame();
    ASSERT_TRUE(frame.ok() && *frame);
    Renderer& renderer = host_->renderer();
    RenderTargets targets;
    ASSERT_TRUE(
        renderer.create_targets(targets, host_->presenter().extent(), host_->presenter().views())
            .ok());
    renderer.begin((*frame)->cmd, (*frame)->slot, targets, (*frame)->image_index,
                   Color::hex(0x102030), Edges::kPlain);
    renderer.draw(canvas, View::pixels(host_->presenter().extent()));
    ASSERT_TRUE(renderer.end().ok());
    ASSERT_TRUE(
        host_->loop()
            .record_copy(**frame, host_->presenter(),
                         [&](const Pixels& pixels) {
                             const auto at = [&](size_t x, size_t y) {
                                 std::array<uint8_t, 4> pixel{};
                                 std::ranges::copy_n(
                                     pixels.bytes.begin() +
                                         static_cast<ptrdiff_t>(4 * (y * pixels.extent.width + x)),
                                     4, pixel.begin());
                                 if (pixels.is_bgra) std::swap(pixel[0], pixel[2]);
                                 return pixel;
                             };
                             inside = at(159, 119), outside = at(160, 120);
                         })
            .ok());
    ASSERT_TRUE(host_->end_frame(**frame).ok());
    ASSERT_TRUE(host_->loop().wait().ok());
    EXPECT_EQ(inside, (std::array<uint8_t, 4>{0xff, 0x80, 0, 0xff}));
    EXPECT_EQ(outside, (std::array<uint8_t, 4>{0x10, 0x20, 0x30, 0xff}));
}

TEST_F(DemoHost, LargerTextTakesMoreRoom) {
    const float before = host_->ui().body()->FontSize;
    ASSERT_TRUE(host_->set_ui_scale(2 * host_->ui().scale()).ok());
    EXPECT_GT(host_->ui().body()->FontSize, 1.8f * before);
    EXPECT_TRUE(frame([] { ImGui::GetForegroundDrawList()->AddText({9, 9}, ~0u, "Ember"); }).ok());
    EXPECT_TRUE(host_->loop().wait().ok());
}

/// How many of so many frames are drawn, and with which edges, where a picture costs so much.
struct Paced {
    Pace pace{16.6};
    void play(int frames, double picture_ms, double smooth_ms) {
        for (int i = 0; i < frames; ++i) {
            const bool is_drawn = static_cast<uint32_t>(i) % pace.frames_per_picture() == 0;
            pace.add(2 + (is_drawn ? picture_ms + (pace.has_smooth_edges() ? smooth_ms : 0) : 0));
        }
    }
};

TEST(Pace, KeepsTheBestPictureWhereThereIsTime) {
    Paced game;
    game.play(2000, 4, 8);
    EXPECT_TRUE(game.pace.has_smooth_edges());
    EXPECT_EQ(game.pace.frames_per_picture(), 1u);
}

TEST(Pace, DrawsPlainEdgesFirstAndFewerPicturesThen) {
    Paced plain, fewer, fewest;
    plain.play(400, 10, 30);
    EXPECT_FALSE(plain.pace.has_smooth_edges());
    EXPECT_EQ(plain.pace.frames_per_picture(), 1u);
    fewer.play(400, 25, 30);
    EXPECT_EQ(fewer.pace.frames_per_picture(), 2u);
    fewest.play(4 * 8, 400, 100);  // within some seconds of a very slow machine
    EXPECT_EQ(fewest.pace.frames_per_picture(), 8u);
}

TEST(Pace, ReturnsToTheBestPictureAndTriesLessOftenInVain) {
    Paced game;
    game.play(400, 40, 40);
    EXPECT_FALSE(game.pace.has_smooth_edges());
    game.play(4000, 2, 2);
    EXPECT_TRUE(game.pace.has_smooth_edges());
    // Smooth edges are too expensive by a little: nearly all frames are without them.
    Paced edge;
    int smooth = 0;
    for (int i = 0; i < 20000; ++i) {
        edge.play(1, 4, 12);
        smooth += edge.pace.has_smooth_edges() ? 1 : 0;
    }
    EXPECT_LT(smooth, 1000);
}

// As timeout(1) sends it: to the process, and to its group.
TEST(StopSignals, TwoAtOnceAreOneWish) {
    const StopSignals signals;
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    EXPECT_EQ(StopSignals::received(), SIGTERM);
    std::raise(SIGINT);
    EXPECT_EQ(StopSignals::received(), SIGTERM) << "the first one counts";
}

TEST(StopSignals, ALaterOneEndsTheProgram) {
    const auto insist = [] {
        const StopSignals signals;
        std::raise(SIGTERM);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        std::raise(SIGTERM);
    };
    EXPECT_EXIT(insist(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace hearth::demo

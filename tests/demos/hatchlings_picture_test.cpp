// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hatchlings: all that the world has is in its picture, at any number of creatures.

#include "host/host.hpp"
#include "picture.hpp"

#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace hearth::hatchlings {
namespace {

constexpr uint32_t kWidth = 1280, kHeight = 960;
constexpr float kUnitsPerPixel =
    0.025f;  // 32 x 24 metres: the clearing, and 4 more above and below
constexpr demo::View kView{.center = {0, 0}, .units_per_pixel = kUnitsPerPixel};

struct Rgb {
    int r = 0, g = 0, b = 0;
    int brightest() const { return std::max({r, g, b}); }
};

class Pixels {
  public:
    explicit Pixels(const std::string& path) {
        int channels = 0;
        bytes_ = stbi_load(path.c_str(), &width_, &height_, &channels, 3);
    }
    ~Pixels() { stbi_image_free(bytes_); }
    Pixels(const Pixels&) = delete;
    Pixels& operator=(const Pixels&) = delete;
    bool ok() const { return bytes_ != nullptr && width_ == kWidth && height_ == kHeight; }
    /// Colour at a place of the clearing, in metres.
    Rgb at(glm::vec2 place) const {
        const auto x = static_cast<int>(std::lround(place.x / kUnitsPerPixel)) + width_ / 2;
        const auto y = height_ / 2 - static_cast<int>(std::lround(place.y / kUnitsPerPixel));
        const stbi_uc* const pixel = bytes_ + 3 * (y * width_ + x);
        return {pixel[0], pixel[1], pixel[2]};
    }

  private:
    stbi_uc* bytes_ = nullptr;
    int width_ = 0, height_ = 0;
};

/// Places of a grid so wide that no creature covers the middle of another; none near the fire.
std::vector<glm::vec2> places(uint32_t count) {
    std::vector<glm::vec2> places;
    for (int row = 0; row < 22; ++row)
        for (int column = 0; column < 48 && places.size() < count; ++column) {
            const glm::vec2 place(-14.0f + 0.59f * (static_cast<float>(column) + 0.5f),
                                  8.0f - 0.73f * (static_cast<float>(row) + 0.5f));
            if (std::abs(place.x) > 1 || std::abs(place.y - 0.5f) > 1) places.push_back(place);
        }
    return places;
}

/// Drifters in a line outside of the clearing, full-grown and at rest.
std::vector<Drifter> line_of(uint32_t count, float y) {
    std::vector<Drifter> line;
    for (uint32_t i = 0; i < count; ++i)
        line.push_back({.position = {-15.0f + 30.0f * static_cast<float>(i) / 63.0f, y},
                        .velocity = {0, 0},
                        .age_s = 10});
    return line;
}

class HatchlingsPicture : public ::testing::TestWithParam<uint32_t> {
  protected:
    void SetUp() override {
        demo::Options options;
        options.headless = options.turbo = true;
        const char* const validation = std::getenv("HEARTH_TEST_VALIDATION");
        options.validate = !validation || std::string_view(validation) != "off";
        options.width = kWidth;
        options.height = kHeight;
        auto host = demo::Host::create(options, "hatchlings_picture_test", 0);
        ASSERT_TRUE(host.ok()) << host.status().message();
        host_ = std::move(host).value();
    }
    void TearDown() override {
        if (!host_) return;
        EXPECT_TRUE(host_->loop().wait().ok());
        EXPECT_EQ(host_->instance().messages().count(), 0u);
    }

    /// Draws one frame, into a file if `path` is given.
    Status draw(const Scene& scene, const PictureLimits& limits, const std::string& path = {}) {
        HEARTH_ASSIGN(picture_, Picture::create(host_->renderer(), host_->ui().white_uv(), limits));
        HEARTH_ASSIGN(const auto frame, host_->begin_frame());
        if (!frame) return internal_error("no frame");
        host_->begin_picture(*frame, {}, kNight);
        picture_->draw(scene, kView);
        HEARTH_TRY(host_->end_picture());
        if (!path.empty())
            HEARTH_TRY(host_->loop().record_screenshot(*frame, host_->presenter(), path));
        HEARTH_TRY(host_->end_frame(*frame));
        HEARTH_TRY(host_->loop().wait());
        return host_->files().finish();
    }

    std::unique_ptr<demo::Host> host_;
    std::unique_ptr<Picture> picture_;
};

// With 1,024 the picture was empty.
TEST_P(HatchlingsPicture, ShowsEachCreatureEmberAndMoteAndTheFire) {
    WorldState state;
    for (const glm::vec2 place : places(GetParam()))
        state.hatchlings.push_back({.position = place});
    ASSERT_EQ(state.hatchlings.size(), GetParam());
    state.embers = line_of(kMaxEmbers, 10);
    state.motes = line_of(kMaxMotes, -10);
    state.frame = 100;
    const World world = World::resume(std::move(state));
    const Sparks sparks;
    const std::string path =
        testing::TempDir() + "hatchlings_" + std::to_string(GetParam()) + ".png";
    std::filesystem::remove(path);
    const Status drawn =
        draw({.world = world, .sparks = sparks}, {.hatchlings = GetParam(), .judgements = 1}, path);
    ASSERT_TRUE(drawn.ok()) << drawn.message();

    const Pixels pixels(path);
    ASSERT_TRUE(pixels.ok());
    const int night = pixels.at({15, 0}).brightest();
    EXPECT_LT(night, 40);
    uint32_t creatures = 0, embers = 0, motes = 0;
    for (const Hatchling& h : world.hatchlings())
        creatures += pixels.at(h.position - glm::vec2(0.2f, 0.05f)).brightest() > night + 50;
    for (const Drifter& ember : world.embers()) {
        const Rgb color = pixels.at(ember.position);
        embers += color.r > 220 && color.r > color.b + 20;
    }
    for (const Drifter& mote : world.motes()) motes += pixels.at(mote.position).b > 220;
    EXPECT_EQ(creatures, world.hatchlings().size());
    EXPECT_EQ(embers, kMaxEmbers);
    EXPECT_EQ(motes, kMaxMotes);
    const Rgb fire = pixels.at({0, 0.3f});
    EXPECT_GT(fire.r, 200);
    EXPECT_LT(fire.b, 150);
}
INSTANTIATE_TEST_SUITE_P(Counts, HatchlingsPicture, ::testing::Values(1u, 64u, 1024u));

using HatchlingsPictureLimits = HatchlingsPicture;

// Every ember is eaten in every frame, and every creature touches frost.
TEST_F(HatchlingsPictureLimits, HoldTheSparksOfTheBusiestWorld) {
    constexpr uint32_t kHatchlings = 8, kJudgements = 3;
    WorldState state;
    state.hatchlings.resize(kHatchlings);
    state.embers = line_of(kMaxEmbers, 0);
    for (Drifter& ember : state.embers) ember.velocity = {1, 0};
    state.frame = Sparks::kFrames;
    const World world = World::resume(std::move(state));
    const std::vector<float> hopes(size_t{Insight::kColumns} * Insight::kRows, 1.0f);
    Sparks sparks;
    for (uint64_t frame = 0; frame <= Sparks::kFrames; ++frame)
        for (uint32_t i = 0; i < kMaxEmbers; ++i) sparks.add(Sparks::Kind::kEmber, {0, 0}, frame);
    for (uint32_t i = 0; i < kHatchlings; ++i) sparks.add(Sparks::Kind::kFrost, {0, 0}, 9);
    for (uint32_t i = 0; i < kJudgements; ++i) sparks.add(Sparks::Kind::kPraise, {0, 0}, 9);
    const PictureLimits limits{.hatchlings = kHatchlings, .judgements = kJudgements};
    const Scene scene{.world = world, .sparks = sparks, .then = &world, .hopes = hopes};
    const Status drawn = draw(scene, limits);
    EXPECT_TRUE(drawn.ok()) << drawn.message();

    // Not one more.
    sparks.add(Sparks::Kind::kFrost, {0, 0}, 9);
    const Status one_more = draw(scene, limits);
    EXPECT_EQ(one_more.code(), StatusCode::kOutOfRange) << one_more.message();
}

}  // namespace
}  // namespace hearth::hatchlings

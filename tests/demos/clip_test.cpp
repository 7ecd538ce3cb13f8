// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Clips of the last ten seconds.

#include "host/clip.hpp"

#include <gtest/gtest.h>
#ifdef HEARTH_HAS_WEBP
#include <webp/demux.h>
#endif

namespace hearth::demo {
namespace {

/// A picture with one colour: blue, green, red.
struct Plain {
    std::vector<uint8_t> bytes;
    Pixels pixels;
    Plain(uint32_t width, uint32_t height, std::array<uint8_t, 3> bgr) {
        for (uint32_t i = 0; i < width * height; ++i)
            bytes.insert(bytes.end(), {bgr[0], bgr[1], bgr[2], 255});
        pixels = {{width, height}, bytes, true};
    }
};

TEST(Clip, PicturesAreShrunkToTheirMeanColours) {
    Plain plain(1280, 720, {10, 20, 30});
    plain.bytes[2] = 34;  // one of the four pixels of the first
    const ClipPicture small = shrunk(plain.pixels, 640);
    EXPECT_EQ(small.width, 640u);
    EXPECT_EQ(small.height, 360u);
    EXPECT_EQ(small.rgb[0], 31);
    EXPECT_EQ(small.rgb[3], 30);
    EXPECT_EQ(small.rgb[4], 20);
    EXPECT_EQ(small.rgb[5], 10);
    EXPECT_EQ(shrunk(Plain(100, 50, {0, 0, 0}).pixels, 640).width, 100u);
}

TEST(Clip, WithoutPicturesIsAnError) {
    EXPECT_FALSE(Clip().encoder()().ok());
}

#ifdef HEARTH_HAS_WEBP

struct Played {
    uint32_t frames = 0, width = 0;
    int milliseconds = 0;
    std::vector<uint8_t> last;  ///< first pixel of the last picture: red, green, blue, alpha
};

Played played(const Clip& clip) {
    const auto bytes = clip.encoder()();
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    if (!bytes.ok()) return {};
    const WebPData data{reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()};
    WebPAnimDecoder* const decoder = WebPAnimDecoderNew(&data, nullptr);
    if (decoder == nullptr) return {};
    WebPAnimInfo info{};
    WebPAnimDecoderGetInfo(decoder, &info);
    Played all{info.frame_count, info.canvas_width, 0, {}};
    uint8_t* pixels = nullptr;
    while (WebPAnimDecoderGetNext(decoder, &pixels, &all.milliseconds) != 0)
        all.last.assign(pixels, pixels + 4);
    WebPAnimDecoderDelete(decoder);
    return all;
}

TEST(Clip, HoldsTheLastTenSecondsInTheirTimeAndColours) {
    Clip clip;
    for (uint64_t frame = 0; frame < 900; frame += Clip::kFramesPerPicture)
        clip.add(Plain(64, 36,
                       {40, 80, frame / Clip::kFramesPerPicture % 2 ? uint8_t{200} : uint8_t{90}})
                     .pixels,
                 frame);
    const Played all = played(clip);
    EXPECT_EQ(all.frames, Clip::kFrames / Clip::kFramesPerPicture);
    EXPECT_EQ(all.width, 64u);
    EXPECT_NEAR(all.milliseconds, 10'000, 20);
    ASSERT_EQ(all.last.size(), 4u);
    EXPECT_NEAR(all.last[0], 200, 6);
    EXPECT_NEAR(all.last[1], 80, 6);
    EXPECT_NEAR(all.last[2], 40, 6);
}

TEST(Clip, StartsAnewWhereTheSizeChanges) {
    Clip clip;
    clip.add(Plain(64, 36, {0, 0, 0}).pixels, 0);
    clip.add(Plain(32, 32, {9, 9, 9}).pixels, 5);
    const Played all = played(clip);
    EXPECT_EQ(all.frames, 1u);
    EXPECT_EQ(all.width, 32u);
}

#else

TEST(Clip, NamesTheSwitchOfTheBuild) {
    Clip clip;
    clip.add(Plain(8, 8, {0, 0, 0}).pixels, 0);
    const auto bytes = clip.encoder()();
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.status().message().find("HEARTH_WEBP"), std::string::npos);
}

#endif

}  // namespace
}  // namespace hearth::demo

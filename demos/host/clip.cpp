// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "clip.hpp"

#include <algorithm>
#include <utility>

#ifdef HEARTH_HAS_WEBP
#include <webp/encode.h>
#include <webp/mux.h>
#endif

namespace hearth::demo {

ClipPicture shrunk(const Pixels& pixels, uint32_t most_width) {
    const uint32_t width = pixels.extent.width;
    const uint32_t by = std::max(1u, (width + most_width - 1) / most_width);
    ClipPicture small{std::max(1u, width / by), std::max(1u, pixels.extent.height / by), {}};
    small.rgb.resize(size_t{3} * small.width * small.height);
    const uint32_t area = by * by;
    const std::array<size_t, 3> order =
        pixels.is_bgra ? std::array<size_t, 3>{2, 1, 0} : std::array<size_t, 3>{0, 1, 2};
    uint8_t* out = small.rgb.data();
    for (uint32_t y = 0; y < small.height; ++y)
        for (uint32_t x = 0; x < small.width; ++x) {
            std::array<uint32_t, 3> sum{};
            for (uint32_t row = 0; row < by; ++row) {
                const uint8_t* in =
                    &pixels.bytes[size_t{4} * ((size_t{y} * by + row) * width + size_t{x} * by)];
                for (uint32_t i = 0; i < by; ++i, in += 4)
                    for (size_t channel = 0; channel < 3; ++channel)
                        sum[channel] += in[order[channel]];
            }
            for (const uint32_t channel : sum) *out++ = static_cast<uint8_t>(channel / area);
        }
    return small;
}

void Clip::add(const Pixels& pixels, uint64_t frame) {
    auto picture = std::make_shared<ClipPicture>(shrunk(pixels, kMostWidth));
    picture->frame = frame;
    if (!pictures_.empty() && (pictures_.front()->width != picture->width ||
                               pictures_.front()->height != picture->height))
        pictures_.clear();
    pictures_.push_back(std::move(picture));
    while (pictures_.front()->frame + kFrames <= frame) pictures_.pop_front();
}

std::function<Result<std::vector<std::byte>>()> Clip::encoder() const {
    return [pictures = pictures_] { return encode_clip(pictures); };
}

#ifdef HEARTH_HAS_WEBP

namespace {

/// Below some 90 the encoder keeps parts of old pictures that differ by up to 5 of 255, which shows
/// in moving gradients.
constexpr float kQuality = 92;

}  // namespace

Result<std::vector<std::byte>> encode_clip(const ClipPictures& pictures) {
    if (pictures.empty()) return invalid_argument("a clip needs a picture");
    const uint32_t width = pictures.front()->width, height = pictures.front()->height;
    WebPAnimEncoderOptions options;
    WebPConfig config;
    WebPPicture frame;
    if (WebPAnimEncoderOptionsInit(&options) == 0 ||
        WebPConfigPreset(&config, WEBP_PRESET_DRAWING, kQuality) == 0 ||
        WebPPictureInit(&frame) == 0)
        return unsupported("libwebp is older than the one of the build");
    config.method = 2;  // of 6: small enough, and fast
    options.kmax = 24;  // key frames: what was not perfect is repaired every two seconds
    options.kmin = 12;
    const std::unique_ptr<WebPAnimEncoder, decltype(&WebPAnimEncoderDelete)> encoder(
        WebPAnimEncoderNew(static_cast<int>(width), static_cast<int>(height), &options),
        WebPAnimEncoderDelete);
    if (!encoder) return internal_error("webp: no memory");
    const auto failure = [&] {
        return internal_error(std::string("webp: ") + WebPAnimEncoderGetError(encoder.get()));
    };
    frame.use_argb = 1;
    frame.width = static_cast<int>(width), frame.height = static_cast<int>(height);
    const auto time_of = [&](uint64_t number) {
        return static_cast<int>((number - pictures.front()->frame) * 1000 / 60);
    };
    for (const auto& picture : pictures) {
        if (picture->width != width || picture->height != height ||
            picture->rgb.size() != size_t{3} * width * height)
            return invalid_argument("pictures of a clip have one size");
        const bool is_added =
            WebPPictureImportRGB(&frame, picture->rgb.data(), static_cast<int>(3 * width)) != 0 &&
            WebPAnimEncoderAdd(encoder.get(), &frame, time_of(picture->frame), &config) != 0;
        WebPPictureFree(&frame);
        if (!is_added) return failure();
    }
    WebPData data;
    WebPDataInit(&data);
    const int end = time_of(pictures.back()->frame + Clip::kFramesPerPicture);
    if (WebPAnimEncoderAdd(encoder.get(), nullptr, end, nullptr) == 0 ||
        WebPAnimEncoderAssemble(encoder.get(), &data) == 0)
        return failure();
    const auto* const bytes = reinterpret_cast<const std::byte*>(data.bytes);
    std::vector<std::byte> file(bytes, bytes + data.size);
    WebPDataClear(&data);
    return file;
}

#else

Result<std::vector<std::byte>> encode_clip(const ClipPictures&) {
    return unsupported("clips need libwebp: build with HEARTH_WEBP=ON (on Debian: libwebp-dev)");
}

#endif

}  // namespace hearth::demo

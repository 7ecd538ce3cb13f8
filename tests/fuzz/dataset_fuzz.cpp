// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Readers of data sets: of .npz, .npy, images, or else CSV, by the first bytes.

#include "import/archive/zip.hpp"
#include "import/data/npy.hpp"
#include "mend.hpp"

#include <hearth/dataset.hpp>

using namespace hearth;

namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";

bool begins(std::span<const std::byte> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// Chunks of an image get right checksums.
void mend_png(std::span<std::byte> bytes) {
    const auto number_at = [&](size_t at) {
        uint32_t value = 0;
        for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint32_t>(bytes[at + i]);
        return value;
    };
    for (size_t at = kPng.size(); at + 12 <= bytes.size();) {
        const size_t size = number_at(at);
        if (size > bytes.size() - at - 12) return;
        const uint32_t sum = crc32(bytes.subspan(at + 4, 4 + size));
        for (size_t i = 0; i < 4; ++i)
            bytes[at + 8 + size + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
        at += 12 + size;
    }
}

void change(std::span<std::byte> bytes, fuzz::Random& random) {
    if (!bytes.empty()) fuzz::change_word(bytes.subspan(random.below(bytes.size())), bytes, random);
}

void mend(std::span<std::byte> bytes) {
    if (begins(bytes, kPng)) mend_png(bytes);
}

void check(const Result<Dataset>& data) {
    if (!data.ok()) return fuzz::check_refusal(data.status());
    const auto n = static_cast<size_t>(data->size());
    fuzz::require(n > 0 && data->targets.shape()[0].count == data->size(),
                  "inputs and targets are not of equally many samples");
    if (data->has_labels() && !data->classes.empty())
        for (const int32_t label : data->targets.as<int32_t>())
            fuzz::require(label >= 0 && static_cast<size_t>(label) < data->classes.size(),
                          "a label has no class");
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    return fuzz::mutate(data, size, max_size, seed, change, mend);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span<const std::byte> bytes = fuzz::as_bytes(data, size);
    if (looks_like_zip(bytes)) {
        check(read_npz(bytes));
        check(read_npz(bytes, {.labels = true}));
    } else if (begins(bytes, "\x93NUMPY")) {
        const auto array = read_npy(bytes);
        if (!array.ok())
            fuzz::check_refusal(array.status());
        else
            fuzz::require(array->bytes().size() <= size, "more data than the file has");
    } else if (begins(bytes, kPng) || begins(bytes, "P5") || begins(bytes, "P6")) {
        // DEFLATE shrinks by a factor of 1032 at most; a palette makes three floats of a byte.
        const auto image = read_image(bytes);
        if (!image.ok())
            fuzz::check_refusal(image.status());
        else
            fuzz::require(image->bytes().size() / 12 / 1032 <= size,
                          "more pixels than it can have");
    } else {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        check(read_csv(text));
        check(read_csv(text, {.targets = {"0"}, .labels = true, .delimiter = ';'}));
    }
    return 0;
}

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The reference cases' handwritten digits: 1,437 to train on and 360 to test with, and the network
// that was trained on them.

#pragma once

#include "support/cases.hpp"
#include "support/files.hpp"

#include <hearth/host_tensor.hpp>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hearth::testing {

struct Digits {
    std::vector<double> pixels;  ///< 64 for each digit, 0 to 1
    std::vector<double> labels;

    int64_t count() const { return static_cast<int64_t>(labels.size()); }
    /// [count, 1, 8, 8]
    HostTensor images(int64_t first, int64_t n) const {
        return HostTensor::of({n, 1, 8, 8},
                              std::span(pixels).subspan(static_cast<size_t>(64 * first),
                                                        static_cast<size_t>(64 * n)));
    }
    HostTensor targets(int64_t first, int64_t n) const {
        return HostTensor::of(
            {n}, std::span(labels).subspan(static_cast<size_t>(first), static_cast<size_t>(n)),
            DType::kI64);
    }
};

/// The numbers of a file with commas between them, without comments.
inline std::vector<double> read_numbers(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<double> numbers;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');)
            numbers.push_back(std::stod(field));
    }
    return numbers;
}

/// What share of the test digits PyTorch's network reads: expected.json, {"accuracy": number}.
inline double read_accuracy(const std::filesystem::path& folder) {
    std::ifstream file(folder / "expected.json");
    std::string text;
    std::getline(file, text);
    return std::stod(text.substr(text.find(':') + 1));
}

inline constexpr int64_t kTrainingDigits = 1437;

/// test: the last 360, otherwise the first 1,437.
inline Digits read_digits(const std::filesystem::path& folder, bool test) {
    const std::vector<double> numbers = read_numbers(folder / "digits.csv");
    const size_t count = numbers.size() / 65, half = static_cast<size_t>(kTrainingDigits);
    Digits digits;
    for (size_t i = test ? half : 0; i < (test ? count : half); ++i) {
        digits.labels.push_back(numbers[i * 65]);
        for (size_t p = 1; p <= 64; ++p) digits.pixels.push_back(numbers[i * 65 + p] / 16);
    }
    return digits;
}

/// How many of the rows of logits [n, 10] are largest at their digit, counted from `first` on.
inline int correct_count(const HostTensor& logits, const Digits& digits, int64_t first = 0) {
    int correct = 0;
    for (int64_t i = 0; i < logits.shape()[0].count; ++i) {
        int64_t best = 0;
        for (int64_t k = 1; k < 10; ++k)
            if (logits.get(i * 10 + k) > logits.get(i * 10 + best)) best = k;
        correct += static_cast<double>(best) == digits.labels[static_cast<size_t>(first + i)];
    }
    return correct;
}

}  // namespace hearth::testing

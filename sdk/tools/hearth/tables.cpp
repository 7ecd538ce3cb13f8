// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Formats the output of commands: JSON, sizes, times, hashes.

#include "tables.hpp"

#include <fmt/format.h>

namespace hearth::tool {

void print_json(const Json& value) {
    print("{}\n", value.dump(1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
}

void print_error(std::string_view command, const Status& status, bool json) {
    if (json) print_json({{"error", status.message()}});
    print_to(stderr, "hearth {}: {}\n", command, status.message());
}

std::string size_text(uint64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} bytes", bytes);
    const auto wide = static_cast<double>(bytes);
    if (bytes < 10'000'000) return fmt::format("{:.1f} KB", wide / 1e3);
    return fmt::format("{:.1f} MB", wide / 1e6);
}

std::string time_text(double us) {
    if (us < 1e3) return fmt::format("{:.3g} us", us);
    if (us < 1e6) return fmt::format("{:.3g} ms", us / 1e3);
    return fmt::format("{:.3g} s", us / 1e6);
}

std::string hash_text(uint64_t hash) {
    return fmt::format("{:016x}", hash);
}

std::string shortened(std::string_view text, size_t width) {
    if (text.size() <= width) return std::string(text);
    return std::string(text.substr(0, width - 3)) + "...";
}

}  // namespace hearth::tool

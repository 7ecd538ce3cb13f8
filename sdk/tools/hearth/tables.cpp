// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "tables.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace hearth::tool {

void print_json(const Json& value) {
    fmt::print("{}\n", value.dump(1, ' ', false, Json::error_handler_t::replace));
}

void print_error(std::string_view command, const Status& status, bool json) {
    if (json) print_json({{"error", status.message()}});
    fmt::print(stderr, "hearth {}: {}\n", command, status.message());
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

Status write_file(const std::string& path, std::string_view what, const void* data, size_t size) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    file.close();
    if (file) return {};
    const std::string why = errno != 0 ? ": " + std::generic_category().message(errno) : "";
    return not_found(fmt::format("cannot write {} to '{}'{}", what, path, why));
}

}  // namespace hearth::tool

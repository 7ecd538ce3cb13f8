// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Zip archives made field by field, so that any one of them can be wrong.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::archive {

/// As its bytes.
template <class T>
std::string number(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline uint32_t crc32(std::string_view bytes) {
    uint32_t crc = ~0u;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/// One stored file, as both of its headers have it.
struct Member {
    std::string name = "a", data = "hello";
    uint16_t flags = 0, method = 0;
    uint32_t crc = crc32("hello"), stored = 5, size = 5;
    uint32_t offset = 0;
    std::string extra, comment;
    std::string local_name = "a", local_extra;
    uint32_t local_magic = 0x04034b50, directory_magic = 0x02014b50;
};

struct End {
    uint32_t magic = 0x06054b50;
    uint16_t part = 0, count = 1;
    uint32_t offset = 0;  ///< 0: where the directory is
    std::string comment;
    int comment_size = -1;  ///< -1: its size
};

inline std::string local_of(const Member& m) {
    return number(m.local_magic) + number<uint16_t>(10) + number(m.flags) + number(m.method) +
           number<uint32_t>(0) + number(m.crc) + number(m.stored) + number(m.size) +
           number(static_cast<uint16_t>(m.local_name.size())) +
           number(static_cast<uint16_t>(m.local_extra.size())) + m.local_name + m.local_extra +
           m.data;
}

inline std::string directory_of(const Member& m) {
    return number(m.directory_magic) + number<uint32_t>(10) + number(m.flags) + number(m.method) +
           number<uint32_t>(0) + number(m.crc) + number(m.stored) + number(m.size) +
           number(static_cast<uint16_t>(m.name.size())) +
           number(static_cast<uint16_t>(m.extra.size())) +
           number(static_cast<uint16_t>(m.comment.size())) + number<uint32_t>(0) +
           number<uint32_t>(0) + number(m.offset) + m.name + m.extra + m.comment;
}

inline std::string end_of(const End& e, uint32_t directory, uint32_t directory_bytes) {
    const int comment = e.comment_size < 0 ? static_cast<int>(e.comment.size()) : e.comment_size;
    return number(e.magic) + number(e.part) + number<uint16_t>(0) + number(e.count) +
           number(e.count) + number(directory_bytes) +
           number(e.offset != 0 ? e.offset : directory) + number(static_cast<uint16_t>(comment)) +
           e.comment;
}

inline std::string archive_of(const Member& member, const End& end = {}) {
    const std::string local = local_of(member), directory = directory_of(member);
    return local + directory +
           end_of(end, static_cast<uint32_t>(local.size()),
                  static_cast<uint32_t>(directory.size()));
}

/// One of several files.
struct File {
    std::string name, data;
};

inline std::string archive_of_files(const std::vector<File>& files) {
    std::string locals, directory;
    for (const File& file : files) {
        Member m;
        m.name = m.local_name = file.name;
        m.data = file.data;
        m.crc = crc32(file.data);
        m.stored = m.size = static_cast<uint32_t>(file.data.size());
        m.offset = static_cast<uint32_t>(locals.size());
        locals += local_of(m);
        directory += directory_of(m);
    }
    const End end{.count = static_cast<uint16_t>(files.size())};
    return locals + directory +
           end_of(end, static_cast<uint32_t>(locals.size()),
                  static_cast<uint32_t>(directory.size()));
}

}  // namespace hearth::archive

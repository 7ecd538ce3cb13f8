// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files that lie, for every reader of files from outside.  They are made by code: valid files,
// named attacks on each format, and changes of valid files that keep checksums and lengths right,
// so that what lies behind those is reached.

#pragma once

#include <hearth/core/philox.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::hostile {

using Bytes = std::vector<std::byte>;

struct HostileFile {
    std::string reader;  ///< readers.hpp names them
    std::string name;
    std::function<Bytes()> make;
    bool is_valid = false;  ///< must be read: what the others were made from
    std::string says = {};  ///< must be refused, with a message that contains this
};

using Files = std::vector<HostileFile>;

void add_onnx_files(Files& files);
void add_weight_files(Files& files);  ///< safetensors, .pt, pickles, .npy
void add_program_files(
    Files& files);  ///< packages, programs, graphs, brains, tuning, pipeline caches
void add_agents_files(Files& files);  ///< packages of agents

inline Files all_files() {
    Files files;
    add_onnx_files(files);
    add_weight_files(files);
    add_program_files(files);
    add_agents_files(files);
    return files;
}

inline Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
inline std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <class T>
void put(Bytes& bytes, size_t at, T value) {
    if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(const Bytes& bytes, size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// Numbers that say the same on every machine.
class Random {
  public:
    explicit Random(std::string_view stream) : key_(stream_key(stream, 1)) {}
    uint32_t bits() { return philox_bits(key_, 0, draw_++); }
    size_t below(size_t n) { return n == 0 ? 0 : bits() % n; }
    template <class T, size_t N>
    T one_of(const T (&list)[N]) {
        return list[below(N)];
    }

  private:
    uint64_t key_;
    uint32_t draw_ = 0;
};

/// Makes checksums and lengths of a changed file right again.
using Mend = std::function<void(Bytes&)>;
void mend_package(Bytes& bytes);

/// Adds `valid`, cuts of it, and `count` changes: numbers become extreme, ranges are copied over
/// others, taken out or put in twice.
void add_mutations(Files& files, const std::string& reader, const std::string& name,
                   const std::function<Bytes()>& valid, const Mend& mend, size_t count);

}  // namespace hearth::hostile

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "files.hpp"

#include <algorithm>

namespace hearth::hostile {

namespace {

constexpr uint64_t kExtremes[] = {0,
                                  1,
                                  0x7f,
                                  0xff,
                                  0xffff,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x100000000,
                                  1ull << 40,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  ~0ull,
                                  ~0ull - 7,
                                  0x7f800000,
                                  0x7fc00000,
                                  0xff800000,
                                  0x7ff0000000000000};

/// Where the next change goes: the first kilobyte, in which headers and tables lie, counts as much
/// as all the rest.
size_t place(Random& random, size_t size) {
    const size_t front = std::min<size_t>(size, 1024);
    return random.below(2) == 0 ? random.below(front) : random.below(size);
}

void change(Bytes& bytes, Random& random) {
    if (bytes.empty()) return;
    const size_t at = place(random, bytes.size());
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(at);
    const size_t length = std::min(bytes.size() - at, 1 + random.below(64));
    const auto end = begin + static_cast<ptrdiff_t>(length);
    switch (random.below(8)) {
        case 0:
        case 1:
            return put(bytes, at / 4 * 4, static_cast<uint32_t>(random.one_of(kExtremes)));
        case 2:
        case 3:
            return put(bytes, at / 8 * 8, random.one_of(kExtremes));
        case 4:  // one more, one less
            return put(bytes, at / 4 * 4,
                       get<uint32_t>(bytes, at / 4 * 4) + (random.below(2) == 0 ? 1u : ~0u));
        case 5: {
            const size_t from = place(random, bytes.size());
            const size_t size = std::min(length, bytes.size() - from);
            const Bytes copy(bytes.begin() + static_cast<ptrdiff_t>(from),
                             bytes.begin() + static_cast<ptrdiff_t>(from + size));
            std::copy_n(copy.begin(), std::min(copy.size(), bytes.size() - at), begin);
            return;
        }
        case 6:
            bytes.erase(begin, end);
            return;
        default: {
            const Bytes copy(begin, end);
            bytes.insert(begin, copy.begin(), copy.end());
            return;
        }
    }
}

}  // namespace

void add_mutations(Files& files, const std::string& reader, const std::string& name,
                   const std::function<Bytes()>& valid, const Mend& mend, size_t count) {
    files.push_back({reader, name, valid, true});
    for (int eighth = 0; eighth < 8; ++eighth)
        files.push_back({reader, name + ", cut at " + std::to_string(eighth) + "/8", [=] {
                             Bytes bytes = valid();
                             bytes.resize(bytes.size() * static_cast<size_t>(eighth) / 8);
                             return bytes;
                         }});
    for (size_t i = 0; i < count; ++i) {
        const std::string which = name + ", change " + std::to_string(i);
        files.push_back({reader, which, [=] {
                             Random random(reader + "/" + which);
                             Bytes bytes = valid();
                             for (size_t n = 1 + random.below(3); n > 0; --n) change(bytes, random);
                             if (mend) mend(bytes);
                             return bytes;
                         }});
    }
}

}  // namespace hearth::hostile

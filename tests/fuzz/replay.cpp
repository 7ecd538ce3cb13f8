// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a fuzz target without libFuzzer: replay CORPUS [MUTATIONS] feeds it each file of the corpus,
// and then as many changed ones, always the same, mostly by the target's own mutator if it has one.

#include "fuzz_target.hpp"
#include "support/files.hpp"

#include <hearth/core/philox.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::byte>;

class Mutator {
  public:
    explicit Mutator(const std::vector<Bytes>& corpus) : corpus_(corpus) {}

    Bytes make(uint32_t round) {
        round_ = round;
        draw_ = 0;
        Bytes bytes = corpus_[below(corpus_.size())];
        if (LLVMFuzzerCustomMutator != nullptr && round % 8 != 0) {
            const size_t room = bytes.size() + 256;
            size_t size = bytes.size();
            bytes.resize(room);
            size = LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(bytes.data()), size, room,
                                           bits());
            bytes.resize(size);
            return bytes;
        }
        for (size_t change = 0; change <= round % 4; ++change) mutate(bytes);
        return bytes;
    }
    /// One change in place.
    size_t change(uint8_t* data, size_t size, size_t max_size) {
        Bytes bytes(reinterpret_cast<std::byte*>(data), reinterpret_cast<std::byte*>(data) + size);
        mutate(bytes);
        bytes.resize(std::min(bytes.size(), max_size));
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(data));
        return bytes.size();
    }

  private:
    uint32_t bits() {
        return hearth::philox_bits(hearth::stream_key("fuzz replay", 1), round_, draw_++);
    }
    size_t below(size_t n) { return n == 0 ? 0 : bits() % n; }

    void mutate(Bytes& bytes) {
        const size_t at = below(bytes.size());
        const size_t length = std::min(bytes.size() - at, 1 + below(16));
        const auto begin = bytes.begin() + static_cast<ptrdiff_t>(at);
        const auto end = begin + static_cast<ptrdiff_t>(length);
        switch (below(6)) {
            case 0:
                if (!bytes.empty()) bytes[at] ^= std::byte(1u << below(8));
                break;
            case 1:
                std::generate(begin, end, [&] { return std::byte(bits() & 255); });
                break;
            case 2: {
                constexpr unsigned char kEdges[] = {0, 1, 0x7f, 0x80, 0xff};
                std::fill(begin, end, std::byte(kEdges[below(5)]));
                break;
            }
            case 3:
                bytes.erase(begin, end);
                break;
            case 4:
                bytes.insert(begin, length, std::byte(bits() & 255));
                break;
            default: {
                const Bytes& other = corpus_[below(corpus_.size())];
                const size_t from = below(other.size());
                const size_t size = std::min(other.size() - from, below(64));
                bytes.insert(begin, other.begin() + static_cast<ptrdiff_t>(from),
                             other.begin() + static_cast<ptrdiff_t>(from + size));
                break;
            }
        }
    }

    const std::vector<Bytes>& corpus_;
    uint32_t round_ = 0, draw_ = 0;
};

Mutator* g_mutator = nullptr;

void run(const Bytes& bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
    return g_mutator->change(data, size, max_size);
}

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS]\n", argv[0]), 2;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());  // a folder has no order of its own
    std::vector<Bytes> corpus;
    for (const auto& path : files) corpus.push_back(hearth::testing::file_bytes(path));
    if (corpus.empty()) return std::fprintf(stderr, "no files in %s\n", argv[1]), 2;
    for (const Bytes& bytes : corpus) run(bytes);
    const unsigned long rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
    Mutator mutator(corpus);
    g_mutator = &mutator;
    for (uint32_t round = 0; round < rounds; ++round) run(mutator.make(round));
    std::printf("%zu files and %lu mutations without a finding\n", corpus.size(), rounds);
    return 0;
}

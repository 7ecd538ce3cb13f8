// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// DEFLATE after RFC 1951.  Codes are decoded bit by bit from counts of codes per length and the
// symbols in order of code (canonical Huffman codes): small tables, and no code beyond them.

#include "import/archive/inflate.hpp"

#include "core/bytes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace hearth {

namespace {

constexpr int kMaxCodeBits = 15, kLiteralCodes = 288, kDistanceCodes = 30, kEndOfBlock = 256;

/// Reads bits from the least significant one of each byte.  Bits beyond the end are zeros and set
/// failed().
class BitReader {
  public:
    explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool failed() const { return failed_; }
    uint32_t bits(int count) {
        uint32_t value = 0;
        for (int i = 0; i < count; ++i) {
            if (at_ / 8 >= bytes_.size()) {
                failed_ = true;
                return 0;
            }
            value |= (static_cast<uint32_t>(bytes_[at_ / 8]) >> (at_ % 8) & 1) << i;
            ++at_;
        }
        return value;
    }
    /// Skips to the next byte and returns `count` bytes.
    std::span<const std::byte> whole_bytes(uint64_t count) {
        at_ = (at_ + 7) / 8 * 8;
        const uint64_t first = at_ / 8;
        if (failed_ || count > bytes_.size() - first) {
            failed_ = true;
            return {};
        }
        at_ += 8 * count;
        return bytes_.subspan(first, count);
    }
    std::span<const std::byte> rest() { return bytes_.subspan((at_ + 7) / 8); }

  private:
    std::span<const std::byte> bytes_;
    uint64_t at_ = 0;  ///< in bits
    bool failed_ = false;
};

/// A canonical Huffman code.
struct HuffmanCode {
    std::array<uint16_t, kMaxCodeBits + 1> count{};  ///< codes of each length
    std::array<uint16_t, kLiteralCodes> symbols{};   ///< in order of code

    /// lengths: of each symbol's code; 0: the symbol does not occur.  Returns false if more codes
    /// are described than there can be.
    bool set(std::span<const uint8_t> lengths) {
        *this = {};
        for (const uint8_t length : lengths) ++count[length];
        count[0] = 0;
        int left = 1;
        for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
            left = 2 * left - count[static_cast<size_t>(bits)];
            if (left < 0) return false;
        }
        std::array<uint16_t, kMaxCodeBits + 2> first{};
        for (size_t bits = 1; bits <= kMaxCodeBits; ++bits)
            first[bits + 1] = static_cast<uint16_t>(first[bits] + count[bits]);
        for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
            if (lengths[symbol] != 0)
                symbols[first[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
        return true;
    }
    /// Returns the next symbol, or -1 for bits that are no code.
    int decode(BitReader& in) const {
        int code = 0, first = 0, index = 0;
        for (size_t bits = 1; bits <= kMaxCodeBits; ++bits) {
            code |= static_cast<int>(in.bits(1));
            if (in.failed()) return -1;
            if (code - first < count[bits])
                return symbols[static_cast<size_t>(index + code - first)];
            index += count[bits];
            first = 2 * (first + count[bits]);
            code *= 2;
        }
        return -1;
    }
};

struct BlockCodes {
    HuffmanCode literals, distances;
};

BlockCodes fixed_codes() {
    std::array<uint8_t, kLiteralCodes> lengths{};
    for (size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    BlockCodes codes;
    codes.literals.set(lengths);
    std::array<uint8_t, kDistanceCodes> fives{};
    fives.fill(5);
    codes.distances.set(fives);
    return codes;
}

Status bad_code() {
    return corrupt_data("its compressed data has an invalid code");
}

/// Reads the codes of a block with codes of its own (RFC 1951, 3.2.7).
Result<BlockCodes> read_codes(BitReader& in) {
    static constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
    const size_t literal_count = 257 + in.bits(5), distance_count = 1 + in.bits(5);
    const size_t length_count = 4 + in.bits(4);
    std::array<uint8_t, 19> own{};
    for (size_t i = 0; i < length_count; ++i) own[kOrder[i]] = static_cast<uint8_t>(in.bits(3));
    HuffmanCode code;
    if (in.failed() || literal_count > 286 || distance_count > kDistanceCodes || !code.set(own))
        return bad_code();
    std::array<uint8_t, 286 + kDistanceCodes> lengths{};
    for (size_t i = 0; i < literal_count + distance_count;) {
        const int symbol = code.decode(in);
        if (symbol < 0 || (symbol == 16 && i == 0)) return bad_code();
        if (symbol < 16) {
            lengths[i++] = static_cast<uint8_t>(symbol);
            continue;
        }
        const uint8_t repeated = symbol == 16 ? lengths[i - 1] : uint8_t{0};
        size_t repeats = symbol == 16   ? 3 + in.bits(2)
                         : symbol == 17 ? 3 + in.bits(3)
                                        : 11 + in.bits(7);
        if (repeats > literal_count + distance_count - i) return bad_code();
        while (repeats-- > 0) lengths[i++] = repeated;
    }
    BlockCodes codes;
    const std::span all(lengths);
    if (in.failed() || lengths[kEndOfBlock] == 0 || !codes.literals.set(all.first(literal_count)) ||
        !codes.distances.set(all.subspan(literal_count, distance_count)))
        return bad_code();
    return codes;
}

Status too_long(uint64_t size) {
    return corrupt_data("its compressed data holds more than the " + std::to_string(size) +
                        " bytes that it describes");
}

Status read_block(BitReader& in, const BlockCodes& codes, uint64_t size,
                  std::vector<std::byte>& out) {
    static constexpr std::array<uint16_t, 29> kLengths = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::array<uint8_t, 29> kLengthBits = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::array<uint16_t, kDistanceCodes> kDistances = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
        const int symbol = codes.literals.decode(in);
        if (symbol < 0) return bad_code();
        if (symbol == kEndOfBlock) return {};
        if (symbol < kEndOfBlock) {
            if (out.size() == size) return too_long(size);
            out.push_back(static_cast<std::byte>(symbol));
            continue;
        }
        const auto l = static_cast<size_t>(symbol - kEndOfBlock - 1);
        if (l >= kLengths.size()) return bad_code();
        const size_t length = kLengths[l] + in.bits(kLengthBits[l]);
        const int d = codes.distances.decode(in);
        if (d < 0 || d >= kDistanceCodes) return bad_code();
        const size_t distance =
            kDistances[static_cast<size_t>(d)] + in.bits(std::max(0, d / 2 - 1));
        if (in.failed() || distance > out.size())
            return corrupt_data("its compressed data repeats bytes from before its beginning");
        if (length > size - out.size()) return too_long(size);
        for (size_t i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
    }
}

Result<std::vector<std::byte>> inflate_blocks(BitReader& in, uint64_t size) {
    std::vector<std::byte> out;
    // Not reserved: a few bytes may claim any size.
    for (bool is_last = false; !is_last;) {
        is_last = in.bits(1) != 0;
        const uint32_t kind = in.bits(2);
        if (in.failed() || kind == 3) return bad_code();
        if (kind == 0) {
            ByteReader header(in.whole_bytes(4));
            const auto count = header.number<uint16_t>(), inverse = header.number<uint16_t>();
            const std::span<const std::byte> stored = in.whole_bytes(count);
            if (in.failed() || static_cast<uint16_t>(~inverse) != count) return bad_code();
            if (count > size - out.size()) return too_long(size);
            out.insert(out.end(), stored.begin(), stored.end());
        } else if (kind == 1) {
            static const BlockCodes fixed = fixed_codes();
            HEARTH_TRY(read_block(in, fixed, size, out));
        } else {
            HEARTH_ASSIGN(const BlockCodes codes, read_codes(in));
            HEARTH_TRY(read_block(in, codes, size, out));
        }
    }
    if (out.size() != size)
        return corrupt_data("its compressed data holds " + std::to_string(out.size()) +
                            " bytes, expected " + std::to_string(size));
    return out;
}

/// RFC 1950, 9.
uint32_t adler32(std::span<const std::byte> bytes) {
    constexpr uint32_t kModulus = 65521;
    uint32_t a = 1, b = 0;
    for (const std::byte each : bytes) {
        a = (a + static_cast<uint32_t>(each)) % kModulus;
        b = (b + a) % kModulus;
    }
    return b << 16 | a;
}

}  // namespace

Result<std::vector<std::byte>> inflate(std::span<const std::byte> stream, uint64_t size) {
    BitReader in(stream);
    return inflate_blocks(in, size);
}

Result<std::vector<std::byte>> inflate_zlib(std::span<const std::byte> stream, uint64_t size) {
    constexpr uint32_t kDeflate = 8, kDictionary = 32;
    BitReader in(stream);
    const uint32_t method = in.bits(8), flags = in.bits(8);
    if (in.failed() || (method & 15) != kDeflate || (flags & kDictionary) != 0 ||
        (method << 8 | flags) % 31 != 0)
        return corrupt_data("its compressed data is no zlib stream");
    HEARTH_ASSIGN(std::vector<std::byte> out, inflate_blocks(in, size));
    uint32_t expected = 0;
    if (in.rest().size() < 4) return corrupt_data("its compressed data is truncated");
    for (const std::byte each : in.rest().first(4))
        expected = expected << 8 | static_cast<uint32_t>(each);
    if (adler32(out) != expected) return corrupt_data("its checksum differs");
    return out;
}

}  // namespace hearth

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/archive/inflate.hpp"

#ifdef HEARTH_HAS_PNG
#define ZLIB_CONST
#include <zlib.h>
#endif

#include <algorithm>
#include <string>

namespace hearth {

#ifdef HEARTH_HAS_PNG

Result<std::vector<std::byte>> inflate(std::span<const std::byte> stream, uint64_t size) {
    constexpr uint64_t kMostOfOneByte = 1032;  // zlib's technical details, "maximum compression"
    constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;  // zlib counts in 32 bits
    if (size / kMostOfOneByte > stream.size())
        return corrupt_data("its " + std::to_string(stream.size()) +
                            " bytes of compressed data cannot hold the " + std::to_string(size) +
                            " bytes that it describes");
    std::vector<std::byte> out(size + 1);  // one more shows a stream that holds more
    z_stream z{};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return out_of_range("out of memory");
    uint64_t read = 0, written = 0;
    int state = Z_OK;
    while (state == Z_OK) {
        z.next_in = reinterpret_cast<const Bytef*>(stream.data()) + read;
        z.avail_in = static_cast<uInt>(std::min(stream.size() - read, kMostAtOnce));
        z.next_out = reinterpret_cast<Bytef*>(out.data()) + written;
        z.avail_out = static_cast<uInt>(std::min(out.size() - written, kMostAtOnce));
        state = ::inflate(&z, Z_NO_FLUSH);  // Z_BUF_ERROR where either is at its end
        read = static_cast<uint64_t>(z.next_in - reinterpret_cast<const Bytef*>(stream.data()));
        written = static_cast<uint64_t>(z.next_out - reinterpret_cast<Bytef*>(out.data()));
    }
    const std::string reason = z.msg == nullptr ? "truncated" : z.msg;
    inflateEnd(&z);
    if (written > size)
        return corrupt_data("its compressed data holds more than the " + std::to_string(size) +
                            " bytes that it describes");
    if (state != Z_STREAM_END) return corrupt_data("its compressed data is damaged: " + reason);
    if (written < size)
        return corrupt_data("its compressed data holds " + std::to_string(written) +
                            " bytes, expected " + std::to_string(size));
    out.resize(size);
    return out;
}

#else

Result<std::vector<std::byte>> inflate(std::span<const std::byte>, uint64_t) {
    return unsupported(
        "is compressed, which this build does not read: build with -D HEARTH_PNG=ON "
        "(needs zlib and libpng), or write the file without compression");
}

#endif

}  // namespace hearth

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes brain files: packs tensors, encodes them against a parent, and checks untrusted
// files.

#include "program/brain.hpp"

#include "core/checksum.hpp"
#include "program/brain_writer.hpp"
#include "program/file_header.hpp"
#include "program/legacy_names.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>

namespace hearth {

using namespace file;

namespace {

constexpr uint64_t kBrainChecksumEnd = 24;  // start of the checksummed bytes

bool is_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Packing.  The xor of two tensors is mostly zeros in the byte planes of sign, exponent and high
// mantissa bits if weights have moved a little, and in all planes if they have not moved.  So the
// bytes are run-length encoded plane by plane (all first bytes of the elements, all second bytes,
// ...): pairs of a count of zeros to skip and a count of literal bytes that follow, both as LEB128
// varints.

/// Iterates over the bytes of a tensor plane by plane.
class Planes {
  public:
    Planes(uint64_t bytes, uint32_t element_bytes) : bytes_(bytes), element_(element_bytes) {}
    bool is_at_end() const { return plane_ == element_ || bytes_ == 0; }
    uint64_t index() const { return at_; }
    void next() {
        at_ += element_;
        if (at_ >= bytes_) at_ = ++plane_;
    }

  private:
    uint64_t bytes_;
    uint32_t element_;
    uint64_t at_ = 0;
    uint32_t plane_ = 0;
};

/// Appends to a span and counts what does not fit.
class Output {
  public:
    explicit Output(std::span<std::byte> bytes) : bytes_(bytes) {}
    void byte(std::byte value) {
        if (size_ < bytes_.size()) bytes_[size_] = value;
        ++size_;
    }
    void length(uint64_t value) {
        for (; value >= 0x80; value >>= 7) byte(static_cast<std::byte>(value | 0x80));
        byte(static_cast<std::byte>(value));
    }
    bool is_full() const { return size_ > bytes_.size(); }
    size_t size() const { return size_; }

  private:
    std::span<std::byte> bytes_;
    size_t size_ = 0;
};

/// Packs the xor of two tensors (an empty parent means zeros).  Returns the packed size, or
/// out.size() if it would reach that.
size_t pack(std::span<const std::byte> bytes, std::span<const std::byte> parent,
            uint32_t element_bytes, std::span<std::byte> out) {
    const auto at = [&](const Planes& p) {
        return parent.empty() ? bytes[p.index()] : bytes[p.index()] ^ parent[p.index()];
    };
    constexpr int kWorthSkipping = 4;  // zeros: a new pair of counts takes at least two bytes
    Output output(out);
    Planes planes(bytes.size(), element_bytes);
    while (!planes.is_at_end() && !output.is_full()) {
        uint64_t zeros = 0;
        for (; !planes.is_at_end() && at(planes) == std::byte{0}; planes.next()) ++zeros;
        Planes ahead = planes;
        uint64_t literals = 0, length = 0;
        for (int run = 0; !ahead.is_at_end() && run < kWorthSkipping; ahead.next()) {
            run = at(ahead) == std::byte{0} ? run + 1 : 0;
            ++length;
            if (run == 0) literals = length;
        }
        output.length(zeros);
        output.length(literals);
        for (; literals > 0 && !output.is_full(); --literals, planes.next())
            output.byte(at(planes));
    }
    return std::min(output.size(), out.size());
}

bool take_length(std::span<const std::byte>& in, uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (in.empty()) return false;
        const auto byte = static_cast<uint64_t>(in.front());
        in = in.subspan(1);
        *value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

/// Reverses pack(); `out` holds the parent's bytes, or zeros.
bool unpack(std::span<const std::byte> in, uint32_t element_bytes, std::span<std::byte> out) {
    Planes planes(out.size(), element_bytes);
    uint64_t left = out.size();
    while (left > 0) {
        uint64_t zeros = 0, literals = 0;
        if (!take_length(in, &zeros) || !take_length(in, &literals)) return false;
        if (zeros > left || literals > left - zeros || literals > in.size() ||
            zeros + literals == 0)
            return false;
        left -= zeros + literals;
        for (; zeros > 0; --zeros) planes.next();
        for (uint64_t i = 0; i < literals; ++i, planes.next()) out[planes.index()] ^= in[i];
        in = in.subspan(literals);
    }
    return in.empty();
}

/// Stores an item's bytes at the front of `out` in the shortest encoding.
BrainEncoding encode(const BrainItem& item, std::span<std::byte> out, uint64_t* stored) {
    const uint32_t element = size_bytes(item.dtype);
    *stored = 0;
    if (item.has_parent &&
        (item.parent.empty() ? is_zero(item.bytes)
                             : std::equal(item.bytes.begin(), item.bytes.end(), item.parent.begin(),
                                          item.parent.end())))
        return BrainEncoding::kParent;
    const std::span<std::byte> room = out.first(item.bytes.size());
    const bool is_delta = item.has_parent && !item.parent.empty();
    *stored =
        pack(item.bytes, is_delta ? item.parent : std::span<const std::byte>(), element, room);
    if (*stored < room.size()) return is_delta ? BrainEncoding::kDelta : BrainEncoding::kPacked;
    *stored = room.size();
    std::copy(item.bytes.begin(), item.bytes.end(), room.begin());
    return BrainEncoding::kRaw;
}

/// Decodes a packed tensor byte by byte, in packed (plane) order.
class PackedBytes {
  public:
    explicit PackedBytes(std::span<const std::byte> in) : in_(in) {}
    /// The next byte; zero past the end or after invalid counts.
    std::byte next() {
        while (zeros_ == 0 && literals_ == 0)
            if (!take_lengths()) return std::byte{0};
        if (zeros_ > 0) return --zeros_, std::byte{0};
        if (in_.empty()) return std::byte{0};
        const std::byte byte = in_.front();
        in_ = in_.subspan(1);
        return --literals_, byte;
    }
    void skip(uint64_t count) {
        while (count > 0) {
            if (zeros_ == 0 && literals_ == 0 && !take_lengths()) return;
            const uint64_t zeros = std::min(zeros_, count);
            zeros_ -= zeros;
            count -= zeros;
            const uint64_t literals = std::min({literals_, count, uint64_t{in_.size()}});
            if (zeros_ == 0 && count > 0 && literals == 0 && literals_ > 0) return;
            literals_ -= literals;
            count -= literals;
            in_ = in_.subspan(static_cast<size_t>(literals));
        }
    }

  private:
    bool take_lengths() {
        return take_length(in_, &zeros_) && take_length(in_, &literals_) &&
               (zeros_ > 0 || literals_ > 0);
    }

    std::span<const std::byte> in_;
    uint64_t zeros_ = 0, literals_ = 0;
};

/// Exponent bits in the top two bytes of an element, all set only in NaN and infinities; 0 if the
/// type has neither.
uint32_t exponent_mask(DType dtype) {
    switch (dtype) {
        case DType::kF16:
            return 0x7c00;
        case DType::kF32:
        case DType::kBF16:
            return 0x7f80;
        case DType::kF64:
            return 0x7ff0;
        default:
            return 0;
    }
}

/// Exponent bits of the bound in the top two bytes of an element; those of larger numbers are
/// greater.
uint32_t exponent_of(Magnitude bound, DType dtype) {
    constexpr uint32_t kTrainableExponent = 60;
    if (bound == Magnitude::kTrainable && (dtype == DType::kF32 || dtype == DType::kBF16))
        return (127 + kTrainableExponent) << 7;
    if (bound == Magnitude::kTrainable && dtype == DType::kF64)
        return (1023 + kTrainableExponent) << 4;
    return exponent_mask(dtype);
}

}  // namespace

uint64_t brain_bound(const BrainItems& items, uint64_t host_bytes) {
    uint64_t bytes = sizeof(BrainHeader) + host_bytes + 2 * kBrainAlignment;
    for (size_t i = 0; i < items.count(); ++i) {
        const BrainItem item = items.item(i);
        bytes +=
            sizeof(BrainTensorRecord) + item.name.size() + align_brain_bytes(item.bytes.size());
    }
    return bytes;
}

uint64_t write_brain(const BrainItems& items, const BrainIdentity& identity,
                     std::span<const std::byte> host_data, std::span<std::byte> out) {
    BrainHeader header{};
    header.graph_hash = identity.graph_hash;
    header.schema_hash = identity.schema_hash;
    header.parent_hash = identity.parent_hash;
    header.host_schema_hash = identity.host_schema_hash;
    header.tensor_count = static_cast<uint32_t>(items.count());
    header.contents = static_cast<uint32_t>(identity.contents);
    for (size_t i = 0; i < items.count(); ++i) header.texts_bytes += items.item(i).name.size();
    BrainWriter writer(header, out);
    for (size_t i = 0; i < items.count(); ++i) {
        const BrainItem item = items.item(i);
        BrainTensorRecord record{};
        record.kind = static_cast<uint32_t>(item.kind);
        record.dtype = static_cast<uint32_t>(item.dtype);
        record.shape = item.shape;
        record.bytes = item.bytes.size();
        record.checksum = checksum(item.bytes);
        record.encoding = static_cast<uint32_t>(encode(item, writer.room(), &record.stored_bytes));
        writer.add(record, item.name);
    }
    return writer.finish(host_data);
}

uint64_t brain_checksum(std::span<const std::byte> brain) {
    return checksum(brain.subspan(kBrainChecksumEnd));
}

bool BrainView::open(std::span<const std::byte> bytes, ViewError* error) {
    constexpr FileFormat kFormat{.noun = "brain",
                                 .magic = kBrainMagic,
                                 .oldest_version = 1,
                                 .newest_version = kBrainFormatVersion,
                                 .if_older = "make it again",
                                 .if_newer = "update Hearth"};
    if (!check_file_header(kFormat, sizeof(BrainHeader), bytes, error)) return false;
    const auto refuse = [&](const char* what) {
        return refuse_file(kFormat, StatusCode::kCorruptData, what, error);
    };
    bytes_ = bytes;
    header_ = reinterpret_cast<const BrainHeader*>(bytes.data());
    if (header_->checksum != brain_checksum(bytes))
        return refuse(
            "the checksum differs, so the file is damaged; copy it again or make it again");
    const uint64_t left = bytes.size() - sizeof(BrainHeader);
    if (header_->contents > static_cast<uint32_t>(BrainContents::kSavedGame) ||
        header_->tensor_count > left / sizeof(BrainTensorRecord))
        return refuse("the header declares more tensors than fit into the file");
    const auto inside = [&](uint64_t offset, uint64_t size) {
        return offset <= bytes.size() && size <= bytes.size() - offset;
    };
    if (!inside(header_->texts_offset, header_->texts_bytes) ||
        !inside(header_->host_offset, header_->host_bytes))
        return refuse("names or user data lie outside the file");
    tensors_ = {reinterpret_cast<const BrainTensorRecord*>(bytes.data() + sizeof(BrainHeader)),
                header_->tensor_count};
    Checked names;  // overlapping names could take more time to scan than the file's size
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
        names += tensors_[i].name.size;
        if (!names.is_within(header_->texts_bytes)) return refuse("names overlap");
        if (!check_tensor(i, error)) return false;
    }
    return true;
}

bool BrainView::check_tensor(uint32_t index, ViewError* error) const {
    const BrainTensorRecord& t = tensors_[index];
    const auto bad = [&](const char* what) {
        error->code = StatusCode::kCorruptData;
        error->text.set("brain: tensor %u: %s; load another copy of the file", index, what);
        return false;
    };
    if (uint64_t{t.name.offset} + t.name.size > header_->texts_bytes)
        return bad("its name lies outside the name table");
    if (index > 0 && !(name(tensors_[index - 1]) < name(t)))
        return bad("names must be in ascending order");
    const bool is_kept = contents() == BrainContents::kSavedGame &&
                         t.kind == static_cast<uint32_t>(VariableKind::kTransient);
    if (t.kind > static_cast<uint32_t>(VariableKind::kState) && !is_kept)
        return bad("its kind must be param or state, or, in saved games, a non-persistent state");
    if (t.dtype >= static_cast<uint32_t>(kDTypeCount)) return bad("unknown element type");
    if (t.reserved != 0) return bad("reserved field is not zero");
    if (t.shape.rank > static_cast<uint32_t>(kMaxRank) || t.shape.batch_mask != 0)
        return bad("impossible shape");
    for (uint32_t i = 0; i < static_cast<uint32_t>(kMaxRank); ++i)
        if (t.shape.counts[i] < 0 || (i >= t.shape.rank && t.shape.counts[i] != 0))
            return bad("impossible shape");
    constexpr uint64_t kMostBytes = uint64_t{1} << 62;
    const Checked bytes = tensor_bytes(static_cast<DType>(t.dtype), t.shape);
    if (!bytes.is_within(kMostBytes) || !bytes.equals(t.bytes))
        return bad("its size does not match its shape and type");
    if (t.offset > bytes_.size() || t.stored_bytes > bytes_.size() - t.offset)
        return bad("its bytes lie outside the file");
    switch (static_cast<BrainEncoding>(t.encoding)) {
        case BrainEncoding::kRaw:
            return t.stored_bytes == t.bytes || bad("its stored size must equal its size");
        case BrainEncoding::kParent:
            return t.stored_bytes == 0 ||
                   bad("it equals the base, so nothing must be stored for it");
        case BrainEncoding::kPacked:
        case BrainEncoding::kDelta:
            // A pair of counts can stand for any number of zeros, so a small file can claim a huge
            // tensor: readers compare sizes with the expected ones before they decode.
            return true;
    }
    return bad("unknown encoding");
}

const BrainTensorRecord* BrainView::find(std::string_view wanted) const {
    const auto at = std::lower_bound(
        tensors_.begin(), tensors_.end(), wanted,
        [&](const BrainTensorRecord& t, std::string_view n) { return name(t) < n; });
    return at != tensors_.end() && name(*at) == wanted ? &*at : nullptr;
}

bool BrainView::is_delta() const {
    return std::any_of(tensors_.begin(), tensors_.end(), [](const BrainTensorRecord& t) {
        return t.encoding == static_cast<uint32_t>(BrainEncoding::kParent) ||
               t.encoding == static_cast<uint32_t>(BrainEncoding::kDelta);
    });
}

bool BrainView::decode(const BrainTensorRecord& tensor, std::span<const std::byte> parent,
                       std::span<std::byte> out) const {
    const auto encoding = static_cast<BrainEncoding>(tensor.encoding);
    const bool needs_parent =
        encoding == BrainEncoding::kParent || encoding == BrainEncoding::kDelta;
    if (out.size() != tensor.bytes ||
        (needs_parent && !parent.empty() && parent.size() != out.size()))
        return false;
    const std::span<const std::byte> stored = this->stored(tensor);
    if (encoding == BrainEncoding::kRaw)
        std::copy(stored.begin(), stored.end(), out.begin());
    else if (needs_parent && !parent.empty())
        std::copy(parent.begin(), parent.end(), out.begin());
    else
        std::fill(out.begin(), out.end(), std::byte{0});
    const bool is_packed = encoding == BrainEncoding::kPacked || encoding == BrainEncoding::kDelta;
    if (is_packed && !unpack(stored, size_bytes(static_cast<DType>(tensor.dtype)), out))
        return false;
    return checksum(out) == tensor.checksum;
}

int64_t BrainView::first_nonfinite(const BrainTensorRecord& tensor,
                                   std::span<const std::byte> parent, Magnitude below) const {
    const auto dtype = static_cast<DType>(tensor.dtype);
    const std::span<const std::byte> stored = this->stored(tensor);
    const auto encoding = static_cast<BrainEncoding>(tensor.encoding);
    if (encoding == BrainEncoding::kRaw) return hearth::first_nonfinite(dtype, stored, below);
    const uint32_t mask = exponent_mask(dtype), bound = exponent_of(below, dtype);
    if (encoding == BrainEncoding::kParent || mask == 0) return -1;
    // The top two bytes of all elements are the last two planes.
    const uint32_t element = size_bytes(dtype);
    const uint64_t count = tensor.bytes / element;
    PackedBytes low(stored);
    low.skip((element - 2) * count);
    PackedBytes high = low;
    high.skip(count);
    const bool is_delta = encoding == BrainEncoding::kDelta && parent.size() == tensor.bytes;
    for (uint64_t i = 0; i < count; ++i) {
        auto top = static_cast<uint32_t>(high.next()) << 8 | static_cast<uint32_t>(low.next());
        if (is_delta) {
            const std::byte* from = parent.data() + (i + 1) * element;
            top ^= static_cast<uint32_t>(from[-1]) << 8 | static_cast<uint32_t>(from[-2]);
        }
        if ((top & mask) >= bound) return static_cast<int64_t>(i);
    }
    return -1;
}

int64_t first_nonfinite(DType dtype, std::span<const std::byte> bytes, Magnitude below) {
    const uint32_t mask = exponent_mask(dtype), bound = exponent_of(below, dtype);
    const uint32_t element = size_bytes(dtype);
    if (mask == 0) return -1;
    for (size_t at = element; at <= bytes.size(); at += element) {
        const uint32_t top =
            static_cast<uint32_t>(bytes[at - 1]) << 8 | static_cast<uint32_t>(bytes[at - 2]);
        if ((top & mask) >= bound) return static_cast<int64_t>(at / element - 1);
    }
    return -1;
}

uint64_t brain_schema_hash(const ProgramView& program, HashedNames names) {
    uint64_t sum = 0;
    for (const EntryRecord& entry : program.entries())
        for (uint32_t index : program.bindings_of(entry)) {
            const BindingRecord& b = program.bindings()[index];
            std::string_view in = program.text_view(entry.name), name = program.text_view(b.name);
            if (is_added_binding(in, name)) continue;
            if (names == HashedNames::kAlias) {
                name = alias_of_binding(in, name);
                in = alias_of_entry(in);
            }
            Hash hash;
            hash.text(in).text(name);
            hash.number(b.direction).number(b.dtype).number(b.shape.rank);
            for (uint32_t i = 0; i < b.shape.rank; ++i) hash.number(b.shape.counts[i]);
            sum += hash.number(b.shape.batch_mask).value();
        }
    return sum;
}

uint64_t brain_tensor_hash(std::string_view name, DType dtype, std::span<const std::byte> bytes) {
    // Zeros hash like an empty span, whatever their number.
    const uint64_t contents = is_zero(bytes) ? 0 : checksum(bytes);
    return Hash().text(name).number(static_cast<uint8_t>(dtype)).number(contents).value();
}

uint64_t brain_parent_hash(const ProgramView& program) {
    uint64_t sum = 0;
    for (const VariableRecord& variable : program.variables())
        if (is_learned(static_cast<VariableKind>(variable.kind)))
            sum += brain_tensor_hash(program.text_view(variable.name), program.held_dtype(variable),
                                     initial_values(program, variable));
    return sum;
}

std::span<const std::byte> initial_values(const ProgramView& program,
                                          const VariableRecord& variable) {
    if (variable.data_offset == kZeroFilled) return {};
    return program.data().subspan(static_cast<size_t>(variable.data_offset),
                                  static_cast<size_t>(variable.bytes));
}

bool matches(std::string_view pattern, std::string_view name) {
    // Greedy wildcard matching: backtracking to the last star is sufficient.
    size_t star = std::string_view::npos, swallowed = 0, p = 0, n = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            swallowed = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++swallowed;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace hearth

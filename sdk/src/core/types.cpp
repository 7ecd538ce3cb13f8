// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Properties of element types, shapes and device capabilities.

#include <hearth/core/assert.hpp>
#include <hearth/core/extents.hpp>
#include <hearth/types.hpp>

#include <algorithm>

namespace hearth {

namespace {

struct DTypeFacts {
    std::string_view name;
    uint32_t size;
    bool floating;
    bool integer;
    bool is_unsigned;
    DType word;  ///< type in device memory if it cannot be stored as it is
};

// Indexed by DType.
constexpr DTypeFacts kFacts[kDTypeCount] = {
    {"f32", 4, true, false, false, DType::kF32},   {"f16", 2, true, false, false, DType::kF32},
    {"bf16", 2, true, false, false, DType::kF32},  {"f64", 8, true, false, false, DType::kF32},
    {"i8", 1, false, true, false, DType::kI32},    {"u8", 1, false, true, true, DType::kU32},
    {"i16", 2, false, true, false, DType::kI32},   {"u16", 2, false, true, true, DType::kU32},
    {"i32", 4, false, true, false, DType::kI32},   {"u32", 4, false, true, true, DType::kU32},
    {"i64", 8, false, true, false, DType::kI32},   {"u64", 8, false, true, true, DType::kU32},
    {"bool", 1, false, false, false, DType::kI32},
};

const DTypeFacts& facts(DType dtype) {
    return kFacts[static_cast<size_t>(dtype)];
}

}  // namespace

uint32_t size_bytes(DType dtype) {
    return facts(dtype).size;
}
std::string_view name_of(DType dtype) {
    return facts(dtype).name;
}
bool is_floating(DType dtype) {
    return facts(dtype).floating;
}
bool is_integer(DType dtype) {
    return facts(dtype).integer;
}
bool is_unsigned(DType dtype) {
    return facts(dtype).is_unsigned;
}
DType device_dtype(DType dtype, NarrowStorage storage) {
    const uint32_t size = size_bytes(dtype);
    const bool is_held = (size == 2 && storage.bits16) || (size == 1 && storage.bits8) ||
                         (size == 8 && (is_floating(dtype) ? storage.float64 : storage.int64));
    return is_held ? dtype : facts(dtype).word;
}

void Shape::push_back(Dim d) {
    insert(rank_, d);
}

void Shape::insert(int axis, Dim d) {
    HEARTH_ASSERT(rank_ < kMaxRank && axis >= 0 && axis <= rank_);
    for (int i = rank_; i > axis; --i) dims_[static_cast<size_t>(i)] = (*this)[i - 1];
    dims_[static_cast<size_t>(axis)] = d;
    ++rank_;
}

void Shape::erase(int axis) {
    HEARTH_ASSERT(axis >= 0 && axis < rank_);
    for (int i = axis; i + 1 < rank_; ++i) dims_[static_cast<size_t>(i)] = (*this)[i + 1];
    --rank_;
}

bool Shape::has_batch() const {
    for (Dim d : dims())
        if (d.is_batch) return true;
    return false;
}

int64_t Shape::element_count(int64_t batch_size) const {
    int64_t count = 1;
    for (Dim d : dims()) {
        const int64_t extent = d.is_batch ? saturated_product(d.count, batch_size) : d.count;
        count = saturated_product(count, extent);
    }
    return count;
}

Dim Shape::element_count() const {
    Dim total{1, false};
    for (Dim d : dims()) {
        HEARTH_ASSERT(!(total.is_batch && d.is_batch));
        total = {saturated_product(total.count, d.count), total.is_batch || d.is_batch};
    }
    return total;
}

Shape Shape::resolve(int64_t batch_size) const {
    Shape fixed;
    for (Dim d : dims()) fixed.push_back(Dim(d.resolve(batch_size)));
    return fixed;
}

std::string to_string(Dim dim) {
    if (!dim.is_batch) return std::to_string(dim.count);
    return dim.count == 1 ? "batch" : std::to_string(dim.count) + "*batch";
}

std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (int i = 0; i < shape.rank(); ++i) text += (i > 0 ? ", " : "") + to_string(shape[i]);
    return text + "]";
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
    const int rank = std::max(a.rank(), b.rank());
    Shape out;
    for (int i = 0; i < rank; ++i) {
        const int ai = i - (rank - a.rank()), bi = i - (rank - b.rank());
        const Dim da = ai >= 0 ? a[ai] : Dim(1), db = bi >= 0 ? b[bi] : Dim(1);
        if (da != db && !da.is_one() && !db.is_one())
            return invalid_argument("shapes " + to_string(a) + " and " + to_string(b) +
                                    " do not broadcast: " + to_string(da) + " against " +
                                    to_string(db));
        out.push_back(da.is_one() ? db : da);
    }
    return out;
}

Result<int> normalize_axis(int64_t axis, int rank) {
    if (axis < -rank || axis >= rank)
        return out_of_range("axis " + std::to_string(axis) + " of a tensor of rank " +
                            std::to_string(rank));
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

DeviceCaps baseline_caps() {
    return {};
}

const char* name_of(CpuIsa isa) {
    switch (isa) {
        case CpuIsa::kNone:
            return "none";
        case CpuIsa::kScalar:
            return "scalar";
        case CpuIsa::kX86_64V2:
            return "x86-64-v2";
        case CpuIsa::kX86_64V3:
            return "x86-64-v3";
        case CpuIsa::kX86_64V4:
            return "x86-64-v4";
        case CpuIsa::kNeon:
            return "neon";
        case CpuIsa::kWasm128:
            return "wasm128";
    }
    return "unknown";
}

DeviceCaps cpu_caps(CpuIsa isa) {
    DeviceCaps caps;
    caps.cpu_isa = isa;
    caps.name = "cpu";
    caps.subgroup_size = 1;
    caps.max_compute_work_group_count_x = 0x7fffffff;
    caps.min_storage_buffer_offset_alignment = 64;  // a cache line
    caps.max_storage_buffer_range = uint64_t{1} << 46;
    caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access = true;
    caps.shader_int64 = caps.shader_float64 = true;
    return caps;
}

}  // namespace hearth

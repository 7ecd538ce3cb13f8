// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The content hash of a program: of all that it computes, wherever its initial values are stored.

#include "core/checked.hpp"
#include "program/view.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>

namespace hearth {

namespace {

using namespace file;

/// Initial values count as the compiler lays them out: in the order of the variables, each at a
/// multiple of this many bytes.
constexpr uint64_t kDataAlignment = sizeof(uint64_t);

/// Adds the records of a checked program.
class ContentHash {
  public:
    explicit ContentHash(const ProgramView& view) : view_(view) {}

    uint64_t run() {
        const FileHeader& header = view_.header();
        hash_.number(header.format_version).text(view_.text_view(header.device_target));
        hash_.number(header.binding_model);
        hash_.number(view_.storage().bits16).number(view_.storage().bits8);
        if (view_.cpu() != CpuIsa::kNone) hash_.number(static_cast<uint8_t>(view_.cpu()));
        hash_.number(header.max_batch_size).number(header.arena_bytes).number(header.weights_bytes);
        add_all(view_.kernels());
        add_all(view_.operands());
        hash_.number(view_.words().size()).bytes(std::as_bytes(view_.words()));
        add_all(view_.commands());
        add_all(view_.entries());
        add_all(view_.bindings());
        add_all(view_.variables());
        hash_.number(data_bytes_);
        // Variables may share initial values, but not so many that hashing takes long.
        const uint64_t limit =
            (uint64_t{64} << 20) + 50 * (view_.bytes().size() + view_.data().size());
        if (data_bytes_ <= limit)
            for (const VariableRecord& variable : view_.variables()) add_data(variable);
        return hash_.value();
    }

  private:
    template <class Record>
    void add_all(std::span<const Record> records) {
        hash_.number(records.size());
        for (const Record& record : records) add(record);
    }

    void add(const ExtentRecord& extent) { hash_.number(extent.fixed).number(extent.is_batch); }
    void add(const ShapeRecord& shape) {
        hash_.number(shape.rank);
        for (uint32_t i = 0; i < shape.rank; ++i)
            hash_.number(shape.counts[i]).number(shape.batch_mask >> i & 1);
    }
    void add(const KernelRecord& k) {
        const std::span<const uint32_t> spirv = view_.spirv_of(k);
        hash_.text(view_.text_view(k.name)).number(spirv.size()).bytes(std::as_bytes(spirv));
        hash_.number(k.spec_constants.count);
        for (const SpecConstantRecord& c : view_.spec_constants_of(k))
            hash_.number(c.id).number(c.value);
        hash_.number(k.operand_count).number(k.word_count).number(k.located_count);
        hash_.number(k.access_bytes).number(k.operands.count);
        for (const KernelOperandRecord& o : view_.operands_of(k)) {
            hash_.number(o.access).number(o.bytes_per_word);
            add(o.bytes);
        }
        for (const uint32_t extent : k.local_size) hash_.number(extent);
        const auto has = [&](uint32_t flag) { return (k.flags & flag) != 0; };
        hash_.number(has(kNeedsFp16Storage)).number(has(kNeedsFp16Arithmetic));
        hash_.number(has(kNeedsSubgroupArithmetic)).number(has(kNeedsInt8Storage));
        const auto matrix_cores = has(kNeedsNvMatrixCores)    ? CooperativeMatrixExt::kNv
                                  : has(kNeedsKhrMatrixCores) ? CooperativeMatrixExt::kKhr
                                                              : CooperativeMatrixExt::kNone;
        hash_.number(static_cast<uint8_t>(matrix_cores)).number(k.subgroup_size);
        hash_.number(k.matrix_m).number(k.matrix_n).number(k.matrix_k);
        if (has(kNeedsWorkgroupMatrices)) hash_.number(true);
    }
    void add(const OperandRecord& o) {
        hash_.number(o.region).number(o.access).number(o.binding).number(o.offset);
        add(o.bytes);
    }
    void add(const CommandRecord& s) {
        hash_.number(s.kind).number(s.kernel);
        hash_.number(s.operands.first).number(s.operands.count);
        hash_.number(s.words.first).number(s.words.count);
        for (const GridAxisRecord& axis : s.grid) {
            add(axis.work);
            hash_.number(axis.tile);
        }
    }
    void add(const EntryRecord& e) {
        hash_.text(view_.text_view(e.name)).number(e.commands.first).number(e.commands.count);
        hash_.number(e.arena_offset).number(e.arena_bytes).number(e.bindings.count);
        for (const uint32_t binding : view_.bindings_of(e)) hash_.number(binding);
    }
    void add(const BindingRecord& b) {
        hash_.text(view_.text_view(b.name)).number(b.direction).number(b.dtype);
        add(b.shape);
        add(b.bytes);
        hash_.number(b.elements.count);
        for (const TextRef& name : view_.elements_of(b)) hash_.text(view_.text_view(name));
    }
    void add(const VariableRecord& s) {
        hash_.text(view_.text_view(s.name)).number(s.kind).number(s.dtype);
        add(s.shape);
        const bool has_data = s.data_offset != kZeroFilled;
        hash_.number(s.offset).number(s.bytes).number(has_data ? data_bytes_ : kZeroFilled);
        if (has_data) data_bytes_ += padded(s.bytes);
    }
    void add_data(const VariableRecord& s) {
        if (s.data_offset == kZeroFilled) return;
        constexpr std::byte kZeros[kDataAlignment]{};
        hash_.bytes(
            view_.data().subspan(static_cast<size_t>(s.data_offset), static_cast<size_t>(s.bytes)));
        hash_.bytes(std::span(kZeros).first(to_size(padded(s.bytes) - s.bytes)));
    }
    static uint64_t padded(uint64_t bytes) {
        return (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
    }

    const ProgramView& view_;
    Hash hash_;
    uint64_t data_bytes_ = 0;  ///< of the variables so far
};

}  // namespace

uint64_t content_hash(const ProgramView& program) {
    return ContentHash(program).run();
}

bool check_content_hash(const ProgramView& program, ViewError* error) {
    const uint64_t hash = content_hash(program);
    const uint64_t stated = program.header().content_hash;
    if (hash == stated) return true;
    error->code = StatusCode::kCorruptData;
    error->text.set(
        "program: its content hash is %016llx, and the header says %016llx; cook it again",
        static_cast<unsigned long long>(hash), static_cast<unsigned long long>(stated));
    return false;
}

uint64_t content_hash(const Program& program) {
    ProgramView view;
    ViewError error;
    const std::vector<std::byte> tables = save_program_without_data(program, program.data.size());
    if (view.open(tables, &error, program.data)) return content_hash(view);
    // An invalid program, as tests make them.
    const std::vector<std::byte> bytes = save_program(program);
    view.adopt(bytes);
    return content_hash(view);
}

}  // namespace hearth

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes Programs in the layout of records.hpp; loading goes through ProgramView, which does
// all checks.

#include "core/checksum.hpp"
#include "program/view.hpp"

#include <algorithm>
#include <numeric>

namespace hearth {

namespace {

using namespace file;

/// Collects records by section and lays the sections out.
class Writer {
  public:
    TextRef text(std::string_view value) {
        const TextRef ref{static_cast<uint32_t>(bytes_[kTexts].size()),
                          static_cast<uint32_t>(value.size())};
        append(kTexts, value.data(), value.size());
        bytes_[kTexts].push_back(std::byte{0});
        return ref;
    }
    template <class T>
    ListRef list(Section section, std::span<const T> values) {
        const ListRef ref{static_cast<uint32_t>(bytes_[section].size() / sizeof(T)),
                          static_cast<uint32_t>(values.size())};
        append(section, values.data(), values.size_bytes());
        return ref;
    }
    template <class T>
    void record(Section section, const T& value) {
        append(section, &value, sizeof value);
    }

    /// data: contents of section kData.
    std::vector<std::byte> finish(FileHeader header, std::span<const std::byte> data) {
        uint64_t at = aligned(sizeof header);
        const auto contents = [&](uint32_t section) {
            return section == kData ? data : std::span<const std::byte>(bytes_[section]);
        };
        for (uint32_t i = 0; i < kSectionCount; ++i) {
            header.sections[i] = {at, contents(i).size() / kElementBytes[i]};
            at = aligned(at + contents(i).size());
        }
        header.total_bytes = at;
        std::vector<std::byte> file(at);
        for (uint32_t i = 0; i < kSectionCount; ++i)
            std::ranges::copy(contents(i),
                              file.begin() + static_cast<ptrdiff_t>(header.sections[i].offset));
        std::memcpy(file.data(), &header, sizeof header);
        header.checksum = checksum(std::span(file).subspan(kChecksumEnd));
        std::memcpy(file.data(), &header, sizeof header);
        return file;
    }

  private:
    static uint64_t aligned(uint64_t at) {
        return (at + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    }
    void append(Section section, const void* data, size_t size) {
        const auto* first = static_cast<const std::byte*>(data);
        bytes_[section].insert(bytes_[section].end(), first, first + size);
    }
    std::vector<std::byte> bytes_[kSectionCount];
};

ExtentRecord to_record(const Extent& extent) {
    return {extent.fixed, extent.is_batch};
}
Extent from_record(const ExtentRecord& extent) {
    return {extent.fixed, extent.is_batch};
}

ShapeRecord to_record(const Shape& shape) {
    ShapeRecord record{};
    record.rank = static_cast<uint32_t>(shape.rank());
    for (int i = 0; i < shape.rank(); ++i) {
        record.counts[i] = shape[i].count;
        if (shape[i].is_batch) record.batch_mask |= 1u << i;
    }
    return record;
}

void write(Writer& writer, const Kernel& k) {
    std::vector<SpecConstantRecord> constants;
    for (const SpecConstant& c : k.spec_constants) constants.push_back({c.id, c.value});
    KernelRecord record{};
    record.name = writer.text(k.name);
    record.source = writer.text(k.source);
    record.spirv = writer.list(kSpirv, std::span(k.spirv));
    record.spec_constants =
        writer.list(kSpecConstants, std::span<const SpecConstantRecord>(constants));
    std::vector<KernelOperandRecord> operands;
    for (const KernelOperand& o : k.operands)
        operands.push_back({static_cast<uint32_t>(o.access), o.bytes_per_word, to_record(o.bytes)});
    record.operands = writer.list(kKernelOperands, std::span<const KernelOperandRecord>(operands));
    record.access_bytes = k.access_bytes;
    record.operand_count = k.operand_count;
    record.word_count = k.word_count;
    record.located_count = k.located_count;
    std::copy(k.local_size.begin(), k.local_size.end(), record.local_size);
    record.flags = (k.needs_fp16_storage ? kNeedsFp16Storage : 0u) |
                   (k.needs_fp16_arithmetic ? kNeedsFp16Arithmetic : 0u) |
                   (k.needs_subgroup_arithmetic ? kNeedsSubgroupArithmetic : 0u) |
                   (k.needs_int8_storage ? kNeedsInt8Storage : 0u) |
                   (k.needs_matrix_cores == CooperativeMatrixExt::kNv    ? kNeedsNvMatrixCores
                    : k.needs_matrix_cores == CooperativeMatrixExt::kKhr ? kNeedsKhrMatrixCores
                                                                         : 0u) |
                   (k.needs_workgroup_matrices ? kNeedsWorkgroupMatrices : 0u);
    record.subgroup_size = k.subgroup_size;
    record.matrix_m = k.matrix.m;
    record.matrix_n = k.matrix.n;
    record.matrix_k = k.matrix.k;
    writer.record(kKernels, record);
}

void write(Writer& writer, const Operand& o) {
    writer.record(kOperands,
                  OperandRecord{static_cast<uint32_t>(o.region), static_cast<uint32_t>(o.access),
                                o.binding, 0, o.offset, to_record(o.bytes)});
}

void write(Writer& writer, const Command& s) {
    CommandRecord record{};
    record.kind = static_cast<uint32_t>(s.kind);
    record.kernel = s.kernel;
    record.operands = {s.first_operand, s.operand_count};
    record.words = {s.first_word, s.word_count};
    for (size_t i = 0; i < 3; ++i) record.grid[i] = {to_record(s.grid[i].work), s.grid[i].tile, 0};
    record.label = writer.text(s.label);
    record.flops = s.flops;
    record.bytes_moved = s.bytes_moved;
    record.computes = writer.list(kValues, std::span(s.computes));
    record.operand_values = writer.list(kValues, std::span(s.operand_values));
    writer.record(kCommands, record);
}

void write(Writer& writer, const Entry& e) {
    writer.record(kEntries, EntryRecord{writer.text(e.name),
                                        {e.first_command, e.command_count},
                                        writer.list(kEntryBindings, std::span(e.bindings)),
                                        e.arena_offset,
                                        e.arena_bytes});
}

void write(Writer& writer, const Binding& b) {
    std::vector<TextRef> names;
    for (const std::string& name : b.elements) names.push_back(writer.text(name));
    writer.record(kBindings, BindingRecord{writer.text(b.name), static_cast<uint32_t>(b.direction),
                                           static_cast<uint32_t>(b.dtype), to_record(b.shape),
                                           to_record(b.bytes),
                                           writer.list(kNames, std::span<const TextRef>(names))});
}

void write(Writer& writer, const Variable& s) {
    writer.record(kVariables, VariableRecord{writer.text(s.name), static_cast<uint32_t>(s.kind),
                                             static_cast<uint32_t>(s.dtype), to_record(s.shape),
                                             s.offset, s.bytes, s.data_offset});
}

/// Indices of the variables in ascending order of their names.
std::vector<uint32_t> order_by_name(const std::vector<Variable>& variables) {
    std::vector<uint32_t> order(variables.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return variables[a].name < variables[b].name; });
    return order;
}

template <class T>
std::vector<T> to_vector(std::span<const T> values) {
    return {values.begin(), values.end()};
}

Kernel read(const ProgramView& view, const KernelRecord& k) {
    Kernel kernel;
    kernel.name = view.text_view(k.name);
    kernel.source = view.text_view(k.source);
    kernel.spirv = to_vector(view.spirv_of(k));
    for (const SpecConstantRecord& c : view.spec_constants_of(k))
        kernel.spec_constants.push_back({c.id, c.value});
    for (const KernelOperandRecord& o : view.operands_of(k))
        kernel.operands.push_back(
            {static_cast<Access>(o.access), from_record(o.bytes), o.bytes_per_word});
    kernel.access_bytes = k.access_bytes;
    kernel.operand_count = k.operand_count;
    kernel.word_count = k.word_count;
    kernel.located_count = k.located_count;
    std::copy(k.local_size, k.local_size + 3, kernel.local_size.begin());
    kernel.needs_fp16_storage = (k.flags & kNeedsFp16Storage) != 0;
    kernel.needs_fp16_arithmetic = (k.flags & kNeedsFp16Arithmetic) != 0;
    kernel.needs_subgroup_arithmetic = (k.flags & kNeedsSubgroupArithmetic) != 0;
    kernel.needs_int8_storage = (k.flags & kNeedsInt8Storage) != 0;
    kernel.needs_matrix_cores = (k.flags & kNeedsNvMatrixCores) != 0 ? CooperativeMatrixExt::kNv
                                : (k.flags & kNeedsKhrMatrixCores) != 0
                                    ? CooperativeMatrixExt::kKhr
                                    : CooperativeMatrixExt::kNone;
    kernel.needs_workgroup_matrices = (k.flags & kNeedsWorkgroupMatrices) != 0;
    kernel.subgroup_size = k.subgroup_size;
    kernel.matrix = {k.matrix_m, k.matrix_n, k.matrix_k};
    return kernel;
}

Operand read(const ProgramView&, const OperandRecord& o) {
    return {static_cast<Region>(o.region), static_cast<Access>(o.access), o.binding, o.offset,
            from_record(o.bytes)};
}

Command read(const ProgramView& view, const CommandRecord& s) {
    Command command;
    command.kind = static_cast<CommandKind>(s.kind);
    command.kernel = s.kernel;
    command.first_operand = s.operands.first;
    command.operand_count = s.operands.count;
    command.first_word = s.words.first;
    command.word_count = s.words.count;
    for (size_t i = 0; i < 3; ++i) command.grid[i] = {from_record(s.grid[i].work), s.grid[i].tile};
    command.label = view.text_view(s.label);
    command.flops = s.flops;
    command.bytes_moved = s.bytes_moved;
    command.computes = to_vector(view.values(s.computes));
    command.operand_values = to_vector(view.values(s.operand_values));
    return command;
}

Entry read(const ProgramView& view, const EntryRecord& e) {
    return {std::string(view.text_view(e.name)),
            e.commands.first,
            e.commands.count,
            e.arena_offset,
            e.arena_bytes,
            to_vector(view.bindings_of(e))};
}

Binding read(const ProgramView& view, const BindingRecord& b) {
    Binding binding{std::string(view.text_view(b.name)), static_cast<Direction>(b.direction),
                    static_cast<DType>(b.dtype), to_shape(b.shape), from_record(b.bytes)};
    for (const TextRef& name : view.elements_of(b))
        binding.elements.emplace_back(view.text_view(name));
    return binding;
}

Variable read(const ProgramView& view, const VariableRecord& s) {
    return {std::string(view.text_view(s.name)),
            static_cast<VariableKind>(s.kind),
            static_cast<DType>(s.dtype),
            to_shape(s.shape),
            s.offset,
            s.bytes,
            s.data_offset};
}

template <class T, class Record>
void read_all(const ProgramView& view, std::span<const Record> records, std::vector<T>& out) {
    out.reserve(records.size());
    for (const Record& record : records) out.push_back(read(view, record));
}

std::vector<std::byte> save(const Program& program, std::span<const std::byte> data,
                            FileHeader header) {
    Writer writer;
    header.magic = kMagic;
    header.format_version = program.format_version;
    header.content_hash = program.hash;
    header.graph_hash = program.graph_hash;
    header.binding_model = static_cast<uint32_t>(program.binding_model);
    header.flags |= (program.storage.bits16 ? kStores16Bits : 0u) |
                    (program.storage.bits8 ? kStores8Bits : 0u) |
                    (program.storage.int64 ? kStoresInt64 : 0u) |
                    (program.storage.float64 ? kStoresFloat64 : 0u) |
                    static_cast<uint32_t>(program.cpu) << kCpuShift;
    header.max_batch_size = program.max_batch_size;
    header.arena_bytes = program.arena_bytes;
    header.weights_bytes = program.weights_bytes;
    header.device_target = writer.text(program.device_target);
    for (const Kernel& kernel : program.kernels) write(writer, kernel);
    for (const Operand& operand : program.operands) write(writer, operand);
    writer.list(kWords, std::span(program.words));
    for (const Command& command : program.commands) write(writer, command);
    for (const Entry& entry : program.entries) write(writer, entry);
    for (const Binding& binding : program.bindings) write(writer, binding);
    for (const Variable& variable : program.variables) write(writer, variable);
    writer.list(kVariableNames, std::span<const uint32_t>(order_by_name(program.variables)));
    return writer.finish(header, data);
}

}  // namespace

std::vector<std::byte> save_program(const Program& program) {
    return save(program, program.data, FileHeader{});
}

std::vector<std::byte> save_program_without_data(const Program& program, uint64_t outside_bytes) {
    FileHeader header{};
    header.flags = kDataIsOutside;
    header.outside_bytes = outside_bytes;
    return save(program, {}, header);
}

Result<Program> load_program(std::span<const std::byte> bytes, std::span<const std::byte> outside) {
    // The view reads in place and needs aligned bytes, which the caller's may not be.
    std::vector<uint64_t> copy;
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(FileHeader) != 0) {
        copy.resize((bytes.size() + 7) / 8);
        std::memcpy(copy.data(), bytes.data(), bytes.size());
        bytes = std::as_bytes(std::span(copy)).first(bytes.size());
    }
    ProgramView view;
    ViewError error;
    if (!view.open(bytes, &error, outside)) return Status(error.code, error.text.c_str());

    const FileHeader& header = view.header();
    Program program;
    program.format_version = header.format_version;
    program.hash = header.content_hash;
    program.graph_hash = header.graph_hash;
    program.device_target = view.text_view(header.device_target);
    program.binding_model = view.binding_model();
    program.cpu = view.cpu();
    program.storage = view.storage();
    program.max_batch_size = header.max_batch_size;
    program.arena_bytes = header.arena_bytes;
    program.weights_bytes = header.weights_bytes;
    read_all(view, view.kernels(), program.kernels);
    read_all(view, view.operands(), program.operands);
    program.words = to_vector(view.words());
    read_all(view, view.commands(), program.commands);
    read_all(view, view.entries(), program.entries);
    read_all(view, view.bindings(), program.bindings);
    read_all(view, view.variables(), program.variables);
    program.data = to_vector(view.data());
    return program;
}

}  // namespace hearth

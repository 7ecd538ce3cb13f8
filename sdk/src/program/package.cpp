// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes packages: graph, weights and compiled programs in one file.

#include "program/package.hpp"

#include "core/checksum.hpp"
#include "core/lz4.hpp"
#include "core/portable.hpp"
#include "program/file_header.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

using namespace file;

namespace {

constexpr uint64_t kPackageChecksumEnd = 24;  // start of the checksummed bytes of the header

uint64_t align_up(uint64_t at, uint64_t alignment) {
    return (at + alignment - 1) / alignment * alignment;
}

uint64_t tables_end(const PackageHeader& header) {
    return sizeof header + uint64_t{header.section_count} * sizeof(PackageSectionRecord) +
           uint64_t{header.device_target_count} * sizeof(DeviceTargetRecord);
}

constexpr FileFormat kFormat{.noun = "package",
                             .magic = kPackageMagic,
                             .oldest_version = 1,
                             .newest_version = kPackageFormatVersion,
                             .if_older = "cook the model again",
                             .if_newer = "update Hearth, or cook with this version"};

bool fail(ViewError* error, StatusCode code, const char* what) {
    return refuse_file(kFormat, code, what, error);
}

HEARTH_PRINTF(4, 5)
bool bad(ViewError* error, const char* table, uint32_t index, const char* format, ...) {
    error->code = StatusCode::kCorruptData;
    error->text.set("package: %s %u: ", table, index);
    va_list arguments;
    va_start(arguments, format);
    error->text.append_list(format, arguments);
    va_end(arguments);
    error->text.append("; cook it again");
    return false;
}

bool may_be_compressed(uint32_t kind) {
    return kind == static_cast<uint32_t>(PackageSectionKind::kGraph) ||
           kind == static_cast<uint32_t>(PackageSectionKind::kProgram);
}

Status check(const PackageContents& contents) {
    if (contents.device_targets.empty() || contents.device_targets.size() > kMaxProfiles)
        return invalid_argument("a package has 1 to " + std::to_string(kMaxProfiles) +
                                " device targets, found " +
                                std::to_string(contents.device_targets.size()));
    for (size_t i = 0; i < contents.device_targets.size(); ++i) {
        const std::string& name = contents.device_targets[i].name;
        if (name.empty() || name.size() >= sizeof(DeviceTargetRecord::name))
            return invalid_argument("a device target's name has 1 to 31 characters, found '" +
                                    name + "'");
        for (size_t k = 0; k < i; ++k)
            if (contents.device_targets[k].name == name)
                return invalid_argument("two device targets are named '" + name + "'");
    }
    return {};
}

struct NewSection {
    PackageSectionKind kind;
    std::vector<std::byte> bytes;  ///< of the weights: none, they are in the pool
    uint32_t decompressed_bytes = 0;
};

NewSection compressible(PackageSectionKind kind, std::vector<std::byte> bytes, bool compress) {
    if (!compress || bytes.size() > INT32_MAX) return {kind, std::move(bytes)};
    std::vector<std::byte> block = lz4_compress(bytes);
    if (block.size() >= bytes.size()) return {kind, std::move(bytes)};
    return {kind, std::move(block), static_cast<uint32_t>(bytes.size())};
}

std::vector<std::byte> lay_out(PackageHeader header, const std::vector<NewSection>& sections,
                               const DataPool& pool,
                               const std::vector<DeviceTargetRecord>& device_targets) {
    header.section_count = static_cast<uint32_t>(sections.size());
    header.device_target_count = static_cast<uint32_t>(device_targets.size());
    std::vector<PackageSectionRecord> records;
    uint64_t at = tables_end(header);
    for (const NewSection& section : sections) {
        const bool is_pool = section.kind == PackageSectionKind::kWeights;
        at = align_up(at, is_pool ? kWeightsAlignment : kPackageAlignment);
        const uint64_t size = is_pool ? pool.size() : section.bytes.size();
        records.push_back(
            {static_cast<uint32_t>(section.kind), section.decompressed_bytes, at, size, 0});
        at += size;
    }
    header.total_bytes = at;
    std::vector<std::byte> out(at);
    for (size_t i = 0; i < sections.size(); ++i) {
        const auto to = std::span(out).subspan(records[i].offset, records[i].bytes);
        if (sections[i].kind == PackageSectionKind::kWeights)
            pool.copy_to(to);
        else
            std::ranges::copy(sections[i].bytes, to.begin());
        records[i].checksum = checksum(to);
    }
    std::byte* tables = out.data() + sizeof header;
    std::memcpy(tables, records.data(), records.size() * sizeof records[0]);
    std::memcpy(tables + records.size() * sizeof records[0], device_targets.data(),
                device_targets.size() * sizeof device_targets[0]);
    std::memcpy(out.data(), &header, sizeof header);
    header.checksum =
        checksum(std::span(out).first(tables_end(header)).subspan(kPackageChecksumEnd));
    std::memcpy(out.data(), &header, sizeof header);
    return out;
}

}  // namespace

uint64_t DataPool::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    if (bytes.empty()) return 0;
    const uint64_t key = checksum(bytes);
    const auto [begin, end] = runs_.equal_range(key);
    for (auto run = begin; run != end; ++run)
        if (std::ranges::equal(run->second.bytes, bytes)) return run->second.offset;
    const uint64_t offset = align_up(size_, kAlignment);
    size_ = offset + bytes.size();
    runs_.emplace(key, Run{offset, bytes, std::move(owner)});
    return offset;
}

void DataPool::copy_to(std::span<std::byte> out) const {
    std::ranges::fill(out, std::byte{0});
    for (const auto& [key, run] : runs_)
        std::ranges::copy(run.bytes, out.begin() + static_cast<ptrdiff_t>(run.offset));
}

void move_data(Program& program, DataPool& pool) {
    const auto data = std::make_shared<const std::vector<std::byte>>(
        std::exchange(program.data, std::vector<std::byte>()));
    if (data->empty()) return;
    for (Variable& variable : program.variables)
        if (variable.data_offset != kZeroFilled)
            variable.data_offset =
                pool.add(std::span(*data).subspan(variable.data_offset, variable.bytes), data);
}

Result<std::vector<std::byte>> save_package(PackageContents contents) {
    HEARTH_TRY(check(contents));
    std::vector<NewSection> sections;
    sections.push_back(
        compressible(PackageSectionKind::kGraph, std::move(contents.graph), contents.compress));
    std::vector<DeviceTargetRecord> device_targets;
    for (PackedDeviceTarget& device_target : contents.device_targets)
        move_data(device_target.program, contents.pool);
    for (const PackedDeviceTarget& device_target : contents.device_targets) {
        DeviceTargetRecord record{};
        device_target.name.copy(record.name, sizeof record.name - 1);
        record.section = static_cast<uint32_t>(sections.size());
        record.shared_memory_bytes = device_target.shared_memory_bytes;
        record.subgroup_size = device_target.subgroup_size;
        device_targets.push_back(record);
        sections.push_back(
            compressible(PackageSectionKind::kProgram,
                         save_program_without_data(device_target.program, contents.pool.size()),
                         contents.compress));
    }
    if (!contents.notes.empty()) {
        const auto remarks = std::as_bytes(std::span(contents.notes));
        sections.push_back({PackageSectionKind::kNotes, {remarks.begin(), remarks.end()}});
    }
    if (!contents.agents.empty())
        sections.push_back({PackageSectionKind::kAgents, std::move(contents.agents)});
    sections.push_back({PackageSectionKind::kWeights, {}});
    PackageHeader header{};
    header.magic = kPackageMagic;
    header.format_version = kPackageFormatVersion;
    header.graph_hash = contents.graph_hash;
    return lay_out(header, sections, contents.pool, device_targets);
}

bool is_package(std::span<const std::byte> bytes) {
    uint32_t magic = 0;
    if (bytes.size() < sizeof magic) return false;
    std::memcpy(&magic, bytes.data(), sizeof magic);
    return magic == kPackageMagic;
}

bool PackageView::open(std::span<const std::byte> bytes, ViewError* error) {
    if (!check_file_header(kFormat, sizeof(PackageHeader), bytes, error)) return false;
    bytes_ = bytes;
    header_ = reinterpret_cast<const PackageHeader*>(bytes.data());
    if (header_->section_count > kMaxPackageSections ||
        header_->device_target_count > kMaxProfiles || header_->device_target_count == 0 ||
        tables_end(*header_) > bytes.size())
        return fail(error, StatusCode::kCorruptData,
                    "the header declares no device target, or too many sections or targets");
    if (header_->checksum !=
        checksum(bytes.first(tables_end(*header_)).subspan(kPackageChecksumEnd)))
        return fail(error, StatusCode::kCorruptData,
                    "the header's checksum differs, so the file is damaged; copy it again or cook "
                    "it again");
    const std::byte* tables = bytes.data() + sizeof(PackageHeader);
    sections_ = {reinterpret_cast<const PackageSectionRecord*>(tables), header_->section_count};
    device_targets_ = {reinterpret_cast<const DeviceTargetRecord*>(tables + sections_.size_bytes()),
                       header_->device_target_count};
    return check_sections(error) && check_device_targets(error);
}

bool PackageView::check_sections(ViewError* error) {
    uint32_t graphs = 0, pools = 0, remarks = 0, agents = 0;
    uint64_t end = tables_end(*header_);
    for (uint32_t i = 0; i < sections_.size(); ++i) {
        const PackageSectionRecord& s = sections_[i];
        // Sections are in order, do not overlap and have only padding between them.
        if (s.offset % kPackageAlignment != 0 || s.offset < end ||
            s.offset - end >= kWeightsAlignment || s.offset > bytes_.size() ||
            s.bytes > bytes_.size() - s.offset)
            return bad(error, "section", i,
                       "it lies outside the file, or overlaps the previous one");
        for (std::byte padding : bytes_.subspan(end, s.offset - end))
            if (padding != std::byte{0})
                return bad(error, "section", i, "the padding before it must be zero");
        end = s.offset + s.bytes;
        if (s.decompressed_bytes != 0 &&
            (!may_be_compressed(s.kind) || header_->format_version < 2))
            return bad(error, "section", i, "its contents must not be compressed");
        if (s.decompressed_bytes > kLz4MostRatio * s.bytes)
            return bad(error, "section", i,
                       "it claims %u bytes of contents, which %llu compressed ones cannot hold",
                       s.decompressed_bytes, static_cast<unsigned long long>(s.bytes));
        if (s.checksum != checksum(section(i)))
            return bad(error, "section", i, "its checksum differs, so the file is damaged");
        switch (static_cast<PackageSectionKind>(s.kind)) {
            case PackageSectionKind::kGraph:
                graph_ = i;
                ++graphs;
                continue;
            case PackageSectionKind::kWeights:
                if (s.offset % kWeightsAlignment != 0)
                    return bad(error, "section", i,
                               "the weights must begin at a multiple of the page size");
                weights_ = i;
                ++pools;
                continue;
            case PackageSectionKind::kNotes:
                notes_ = i;
                ++remarks;
                continue;
            case PackageSectionKind::kAgents:
                agents_ = i;
                ++agents;
                continue;
            case PackageSectionKind::kProgram:
                continue;
        }
        return bad(error, "section", i, "its kind is %u, which is unknown", s.kind);
    }
    if (end != bytes_.size())
        return fail(error, StatusCode::kCorruptData, "there are bytes after the last section");
    if (graphs != 1 || pools != 1 || remarks > 1 || agents > 1)
        return fail(error, StatusCode::kCorruptData,
                    "needs exactly one graph section and one weights section, and at most one of "
                    "notes and one of agents");
    if (remarks == 0) notes_ = graph_;
    if (agents == 0) agents_ = graph_;
    return true;
}

bool PackageView::check_device_targets(ViewError* error) {
    for (uint32_t i = 0; i < device_targets_.size(); ++i) {
        const DeviceTargetRecord& p = device_targets_[i];
        if (p.name[0] == '\0' || std::memchr(p.name, '\0', sizeof p.name) == nullptr)
            return bad(error, "device target", i, "it has no name");
        if (p.reserved != 0)
            return bad(error, "device target", i, "its reserved field must be zero");
        if (find_device_target(p.name) != static_cast<int>(i))
            return bad(error, "device target", i, "another one is named '%s', too", p.name);
        if (p.section >= sections_.size() ||
            sections_[p.section].kind != static_cast<uint32_t>(PackageSectionKind::kProgram))
            return bad(error, "device target", i, "'%s' has no program section", p.name);
    }
    return true;
}

bool PackageView::read(uint32_t section, std::span<std::byte> out, ViewError* error) const {
    const std::span<const std::byte> stored = this->section(section);
    if (!is_compressed(section)) {
        std::ranges::copy(stored, out.begin());
        return true;
    }
    return lz4_decompress(stored, out) ||
           bad(error, "section", section, "it is no block of LZ4 with contents of %u bytes",
               sections_[section].decompressed_bytes);
}

bool PackageView::open_program(uint32_t device_target, std::span<const std::byte> program_bytes,
                               ProgramView* program, ViewError* error) const {
    if (!program->open(program_bytes, error, weights())) return false;
    if (program->header().graph_hash == header_->graph_hash) return true;
    return bad(error, "device target", device_target, "its program is of another graph");
}

bool PackageView::check_programs(ViewError* error) const {
    for (uint32_t i = 0; i < device_targets_.size(); ++i) {
        const Result<OpenProgram> program = hearth::open_program(*this, i);
        if (!program.ok() && program.status().code() == StatusCode::kUnsupported) continue;
        if (!program.ok()) {
            error->code = program.status().code();
            error->text.set("%s", program.status().message().c_str());
            return false;
        }
        if (!check_content_hash(program->view, error)) return false;
    }
    return true;
}

Result<std::vector<std::byte>> contents_of(const PackageView& package, uint32_t section) {
    std::vector<std::byte> contents(package.contents_bytes(section));
    ViewError error;
    if (!package.read(section, contents, &error)) return Status(error.code, error.text.c_str());
    return contents;
}

Result<OpenProgram> open_program(const PackageView& package, uint32_t device_target) {
    const uint32_t section = package.program_section(device_target);
    const uint64_t contents_bytes = package.contents_bytes(section);
    const auto size = static_cast<size_t>(contents_bytes);
    OpenProgram program;
    program.contents.resize((size + 7) / 8);
    const auto bytes = std::as_writable_bytes(std::span(program.contents)).first(size);
    ViewError error;
    if (!package.read(section, bytes, &error) ||
        !package.open_program(device_target, bytes, &program.view, &error))
        return Status(error.code, error.text.c_str());
    return program;
}

Result<Program> load_program(const PackageView& package, uint32_t device_target) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  contents_of(package, package.program_section(device_target)));
    return load_program(bytes, package.weights());
}

int PackageView::find_device_target(std::string_view name) const {
    for (uint32_t i = 0; i < device_targets_.size(); ++i)
        if (name == device_targets_[i].name) return static_cast<int>(i);
    return -1;
}

std::string_view PackageView::notes() const {
    if (notes_ == graph_) return {};
    const std::span<const std::byte> text = section(notes_);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::span<const std::byte> PackageView::agents() const {
    if (agents_ == graph_) return {};
    return section(agents_);
}

}  // namespace hearth

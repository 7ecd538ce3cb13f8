// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth's own formats: packages, programs, graphs, brains, tuning, saved pipeline caches.  Changes
// keep checksums right; whoever makes such a file can compute them too.

#include "compiler/driver/graph_file.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "core/bytes.hpp"
#include "core/checksum.hpp"
#include "files.hpp"
#include "program/brain.hpp"
#include "program/package.hpp"
#include "readers.hpp"
#include "support/package_contents.hpp"
#include "support/smallest_package.hpp"

#include <hearth/brain.hpp>
#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

#include <cstddef>

namespace hearth::hostile {

namespace {

// --- Seeds ---

const Cooked& cooked() {
    static const Cooked made = [] {
        Result<Cooked> result = testing::cook_smallest_package();
        return result.ok() ? std::move(*result) : Cooked();
    }();
    return made;
}

Bytes package() {
    return testing::without_compression(cooked().bytes).value();
}

/// The package's program, with its data inside.
Bytes program() {
    const Bytes bytes = package();
    const Aligned aligned(bytes);
    PackageView view;
    ViewError error;
    if (!view.open(aligned.bytes(), &error)) return {};
    const Result<Program> program = load_program(view, 0);
    return program.ok() ? save_program(*program) : Bytes();
}

Bytes brain(bool is_delta) {
    const Bytes bytes = package();
    const Result<Brain> shipped = initial_brain(bytes);
    if (!shipped.ok()) return {};
    Brain learned = *shipped;
    learned.find("weight")->value.set(1, 7);
    learned.user_data = Bytes(100, std::byte{3});
    return *save_brain(learned, is_delta ? &*shipped : nullptr);
}

/// A graph and its data, as readers.cpp takes them apart again: a length, the graph, the data.
Bytes joined(const Bytes& graph, const Bytes& data) {
    ByteWriter out;
    out.number(static_cast<uint64_t>(graph.size())).bytes(graph).bytes(data);
    return out.finish();
}

Bytes graph() {
    Trace trace("graph");
    const Tensor x = trace.input("x", {kBatch, 4});
    const Tensor w = trace.param("w", {3, 4}, Init::uniform(-1, 1));
    Tensor y = softmax(linear(x, w, trace.param("b", {3}, Init::constant(1))), -1);
    y = concat({y, slice(y, 1, 0, 2)}, 1);
    trace.output("y", cast(y, DType::kF16));
    const Result<Graph> finished = trace.build();
    if (!finished.ok()) return {};
    Bytes data;
    const Bytes saved =
        save_graphs(std::span(&*finished, 1), [&](std::span<const std::byte> contents) {
            const uint64_t at = data.size();
            data.insert(data.end(), contents.begin(), contents.end());
            return at;
        });
    return joined(saved, data);
}

// --- Checksums ---

void mend_program(std::span<std::byte> program) {
    if (program.size() < sizeof(file::FileHeader)) return;
    const uint64_t sum = checksum(program.subspan(file::kChecksumEnd));
    std::memcpy(program.data() + offsetof(file::FileHeader, checksum), &sum, sizeof sum);
    const uint64_t size = program.size();
    std::memcpy(program.data() + offsetof(file::FileHeader, total_bytes), &size, sizeof size);
    const uint64_t again = checksum(program.subspan(file::kChecksumEnd));
    std::memcpy(program.data() + offsetof(file::FileHeader, checksum), &again, sizeof again);
}

void mend_brain(Bytes& bytes) {
    constexpr size_t kSum = offsetof(file::BrainHeader, checksum);
    if (bytes.size() < sizeof(file::BrainHeader)) return;
    put(bytes, offsetof(file::BrainHeader, total_bytes), static_cast<uint64_t>(bytes.size()));
    put(bytes, kSum, checksum(std::span(bytes).subspan(kSum + sizeof(uint64_t))));
}

// --- Named attacks ---

/// A graph file by hand: one graph "g" of these values, nodes and outputs.
struct GraphText {
    ByteWriter out;
    uint32_t value_count = 0;
    ByteWriter values;

    void value(uint8_t kind, const std::vector<int64_t>& shape, const std::string& name,
               uint64_t data_offset, uint32_t node = 0, uint32_t output = 0) {
        values.number(kind).number(uint8_t{0}).number(static_cast<uint32_t>(shape.size()));
        for (int64_t n : shape) values.number(n).number(uint8_t{0});
        values.number(node).number(output).counted_text(name).number(data_offset);
        ++value_count;
    }
    Bytes finish(const std::function<void(ByteWriter&)>& rest) {
        out.text("HRGR").number(kGraphFormatVersion).number(uint32_t{1}).counted_text("g");
        out.number(value_count).bytes(values.finish());
        rest(out);
        return out.finish();
    }
};

constexpr uint64_t kNoData = ~uint64_t{0};
constexpr uint8_t kInput = 1, kConstant = 4;

/// Constants that all have their contents in one place.
Bytes shared_contents(int count, const std::vector<std::vector<int64_t>>& shapes) {
    GraphText g;
    for (int i = 0; i < count; ++i)
        g.value(kConstant, shapes[static_cast<size_t>(i) % shapes.size()], "", 0);
    return joined(g.finish([](ByteWriter& out) {
        for (int list = 0; list < 4; ++list) out.number(uint32_t{0});
    }),
                  Bytes(1 << 20));
}

/// Many nodes of the operator with the most attributes, of which the file has none.
Bytes left_out_attributes(int count) {
    GraphText g;
    g.value(kInput, {1}, "x", kNoData);
    return joined(g.finish([&](ByteWriter& out) {
        out.number(static_cast<uint32_t>(count));
        for (int i = 0; i < count; ++i)
            out.counted_text("roi_align").number(uint32_t{0}).number(uint32_t{0}).number(0u);
        for (int list = 0; list < 3; ++list) out.number(uint32_t{0});
    }),
                  {});
}

Bytes long_graph(uint32_t length) {
    GraphText g;
    g.value(kInput, {1}, "x", kNoData);
    for (uint32_t i = 0; i < length; ++i) g.value(0, {1}, "", kNoData, i, 0);
    return joined(g.finish([&](ByteWriter& out) {
        out.number(length);
        for (uint32_t i = 0; i < length; ++i)
            out.counted_text("neg").number(0u).number(1u).number(i).number(1u).number(i + 1);
        out.number(1u).number(0u);                        // inputs
        out.number(1u).counted_text("y").number(length);  // outputs
        out.number(0u);                                   // updates
    }),
                  {});
}

Bytes tuning_text(const std::string& lines) {
    return bytes_of("hearth tuning 1\ndevice d\ndriver e\nversion f\n" + lines);
}

void add_tuning(Files& files) {
    add_mutations(
        files, "tuning", "three kernels",
        [] { return tuning_text("a = b\nc = d = 3 us\ne = f\n"); }, {}, 15);
    const auto attack = [&](const std::string& name, const std::function<Bytes()>& make) {
        files.push_back({"tuning", name, make});
    };
    attack("200,000 kernels", [] {
        std::string lines;
        for (int i = 0; i < 200'000; ++i) lines += std::to_string(i) + " = v\n";
        return tuning_text(lines);
    });
    attack("a kernel of 20 MB, twice", [] {
        const std::string line = std::string(10 << 20, 'k') + " = v\n";
        return tuning_text(line + line);
    });
    attack("separators alone",
           [] { return tuning_text(std::string(1 << 20, ' ') + "\n = = = \n"); });
    attack("empty lines", [] { return tuning_text(std::string(4 << 20, '\n')); });
    attack("control characters",
           [] { return tuning_text("\x1b[31m\r = \x7f\n\x1b[31m\r = \x7f\n"); });
}

}  // namespace

void mend_package(Bytes& bytes) {
    file::PackageHeader header;
    if (bytes.size() < sizeof header) return;
    put(bytes, offsetof(file::PackageHeader, total_bytes), static_cast<uint64_t>(bytes.size()));
    std::memcpy(&header, bytes.data(), sizeof header);
    const uint64_t count = std::min(header.section_count, file::kMaxPackageSections);
    for (uint64_t i = 0; i < count; ++i) {
        file::PackageSectionRecord record;
        const size_t at = sizeof header + i * sizeof record;
        if (at + sizeof record > bytes.size()) return;
        std::memcpy(&record, bytes.data() + at, sizeof record);
        if (record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) continue;
        const auto section = std::span(bytes).subspan(static_cast<size_t>(record.offset),
                                                      static_cast<size_t>(record.bytes));
        if (static_cast<file::PackageSectionKind>(record.kind) ==
            file::PackageSectionKind::kProgram)
            mend_program(section);
        record.checksum = checksum(section);
        std::memcpy(bytes.data() + at, &record, sizeof record);
    }
    const uint64_t end = sizeof header + count * sizeof(file::PackageSectionRecord) +
                         uint64_t{header.device_target_count} * sizeof(file::DeviceTargetRecord);
    const size_t begin = offsetof(file::PackageHeader, checksum) + sizeof(uint64_t);
    if (end > bytes.size()) return;
    header.checksum = checksum(std::span(bytes).subspan(begin, static_cast<size_t>(end) - begin));
    std::memcpy(bytes.data(), &header, sizeof header);
}

void add_program_files(Files& files) {
    add_mutations(files, "package", "a learner", package, mend_package, 70);
    add_mutations(
        files, "package", "a compressed learner", [] { return cooked().bytes; }, mend_package, 70);
    add_mutations(
        files, "program", "a learner", program, [](Bytes& b) { mend_program(b); }, 60);
    add_mutations(
        files, "brain", "all of it", [] { return brain(false); }, mend_brain, 40);
    add_mutations(
        files, "brain", "what changed", [] { return brain(true); }, mend_brain, 25);
    add_mutations(files, "graph", "a small net", graph, {}, 60);
    const auto attack = [&](const std::string& name, const std::function<Bytes()>& make) {
        files.push_back({"graph", name, make});
    };
    attack("40,000 constants of one megabyte", [] { return shared_contents(40'000, {{1 << 18}}); });
    attack("40,000 constants of one megabyte in two shapes", [] {
        return shared_contents(40'000, {{1 << 18}, {1 << 9, 1 << 9}});
    });
    attack("constants of 2^93 elements", [] {
        return shared_contents(3, {{INT32_MAX, INT32_MAX, INT32_MAX}});
    });
    attack("constants of no elements times 2^62", [] {
        return shared_contents(3, {{1ll << 62, 0}, {1ll << 62, 1ll << 62, 0}});
    });
    attack("100,000 nodes without their attributes", [] { return left_out_attributes(100'000); });
    attack("100,000 nodes long", [] { return long_graph(100'000); });
    add_tuning(files);
    add_mutations(files, "pipeline cache", "a kilobyte of it", saved_pipeline_cache,
                  mend_pipeline_cache, 12);
}

}  // namespace hearth::hostile

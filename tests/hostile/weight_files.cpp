// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// .safetensors, .pt with its archive and its pickle, and .npy.

#include "files.hpp"

#include <hearth/weights.hpp>

#include <array>
#include <utility>

namespace hearth::hostile {

namespace {

template <class T>
void append(std::string& to, T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    to.append(bytes, sizeof value);
}

// --- .safetensors ---

Bytes valid_safetensors() {
    NamedTensors tensors;
    for (int i = 0; i < kDTypeCount; ++i)
        tensors.emplace("t" + std::to_string(i), HostTensor(static_cast<DType>(i), {2, 3}));
    tensors.emplace("empty", HostTensor(DType::kF32, {3, 0}));
    return write_safetensors(tensors, {{"note", "a \"quoted\" text"}});
}

Bytes safetensors_of(const std::string& header, size_t data_bytes) {
    std::string text;
    append(text, static_cast<uint64_t>(header.size()));
    return bytes_of(text + header + std::string(data_bytes, '\1'));
}

/// A changed file whose header's length is right again: all that is no data.
void mend_safetensors(Bytes& bytes) {
    constexpr size_t kData = 256;  // about what the valid file has
    if (bytes.size() > 8 + kData) put(bytes, 0, static_cast<uint64_t>(bytes.size() - 8 - kData));
}

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
    return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + offsets + "}";
}

void add_safetensors(Files& files) {
    add_mutations(files, "safetensors", "thirteen types", valid_safetensors, mend_safetensors, 40);
    const auto attack = [&](const std::string& name, std::function<Bytes()> make) {
        files.push_back({"safetensors", name, std::move(make)});
    };
    const auto header = [&](const std::string& name, const std::string& text, size_t data) {
        attack(name, [=] { return safetensors_of(text, data); });
    };
    header("an element type that is 20 MB long",
           "{" + entry("w", "[2]", "[0,8]", std::string(20 << 20, 'F')) + "}", 8);
    header("2^124 elements",
           "{" + entry("w", "[4611686018427387904,4611686018427387904]", "[0,8]") + "}", 8);
    header("2^62 elements and none", "{" + entry("w", "[4611686018427387904,0]", "[0,0]") + "}", 0);
    header("offsets that wrap", "{" + entry("w", "[2]", "[9223372036854775807,7]") + "}", 8);
    header("half a surrogate pair", "{" + entry("\\ude00", "[0]", "[0,0]") + "}", 0);
    header("control characters", "{" + entry("a\\u001b[31m\\n\\u0000", "[3]", "[0,8]") + "}", 8);
    header("brackets without end", std::string(1 << 20, '['), 0);
    header("braces without end", std::string(1 << 20, '{'), 0);
    header("a shape of a million extents",
           "{" + entry("w", "[" + std::string(2'000'000, '1') + "]", "[0,8]") + "}", 8);
    attack("a shape of a million ones", [] {
        std::string shape = "[1";
        for (int i = 0; i < 1'000'000; ++i) shape += ",1";
        return safetensors_of("{" + entry("w", shape + "]", "[0,4]") + "}", 4);
    });
    attack("50,000 empty tensors", [] {
        std::string text = "{";
        for (int i = 0; i < 50'000; ++i)
            text += (i > 0 ? "," : "") + entry(std::to_string(i), "[0]", "[0,0]");
        return safetensors_of(text + "}", 0);
    });
    attack("100,000 texts", [] {
        std::string text = R"({"__metadata__":{)";
        for (int i = 0; i < 100'000; ++i)
            text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
        return safetensors_of(text + "}}", 0);
    });
    attack("a header as long as 2^64", [] {
        std::string text;
        append(text, ~uint64_t{0});
        return bytes_of(text + "{}");
    });
}

// --- Archives ---

uint32_t crc32(std::string_view bytes) {
    uint32_t crc = ~0u;
    for (char c : bytes) {
        crc ^= static_cast<uint8_t>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    return ~crc;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

/// A zip archive; repeats: each entry so often in the directory.
std::string zip(const Entries& entries, int repeats = 1) {
    std::string text, directory;
    uint32_t count = 0;
    for (const auto& [name, contents] : entries) {
        const auto size = static_cast<uint32_t>(contents.size());
        const auto offset = static_cast<uint32_t>(text.size());
        std::string both;  // what both headers have
        append(both, uint16_t{20});
        append(both, uint64_t{0});  // flags, method, time and date
        append(both, crc32(contents));
        append(both, size);
        append(both, size);
        append(both, static_cast<uint16_t>(name.size()));
        append(both, uint16_t{0});
        append(text, 0x04034b50u);
        text += both + name + contents;
        for (int i = 0; i < repeats; ++i, ++count) {
            append(directory, 0x02014b50u);
            append(directory, uint16_t{20});
            directory += both;
            directory += std::string(2 + 2 + 2 + 4, '\0');
            append(directory, offset);
            directory += name;
        }
    }
    const auto at = static_cast<uint32_t>(text.size());
    text += directory;
    append(text, 0x06054b50u);
    append(text, uint32_t{0});
    append(text, static_cast<uint16_t>(count));
    append(text, static_cast<uint16_t>(count));
    append(text, static_cast<uint32_t>(directory.size()));
    append(text, at);
    append(text, uint16_t{0});
    return text;
}

// --- Pickles ---

std::string text_op(const std::string& value) {
    std::string op = "X";
    append(op, static_cast<uint32_t>(value.size()));
    return op + value;
}

std::string integer_op(int32_t value) {
    std::string op = "J";
    append(op, value);
    return op;
}

std::string tuple_op(const std::vector<int32_t>& values) {
    std::string op = "(";
    for (int32_t v : values) op += integer_op(v);
    return op + "t";
}

std::string tensor_op(const std::string& key, int32_t offset, const std::vector<int32_t>& extents,
                      const std::vector<int32_t>& strides) {
    return "ctorch._utils\n_rebuild_tensor_v2\n((" + text_op("storage") + "ctorch\nFloatStorage\n" +
           text_op(key) + text_op("cpu") + integer_op(6) + "tQ" + integer_op(offset) +
           tuple_op(extents) + tuple_op(strides) +
           "\x89"
           "ccollections\nOrderedDict\n)RtR";
}

std::string pickle(const std::string& ops) {
    return "\x80\x02" + ops + ".";
}

/// {"weight": a tensor, "inner": {"bias": another}}
std::string valid_pickle() {
    return pickle("}" + text_op("weight") + tensor_op("0", 0, {2, 3}, {3, 1}) + "s" +
                  text_op("inner") + "}" + text_op("bias") + tensor_op("0", 1, {2}, {2}) + "ss");
}

Bytes archive(const std::string& pickled, size_t storage_floats = 6) {
    std::string storage;
    for (size_t i = 0; i < storage_floats; ++i) append(storage, static_cast<float>(i));
    return bytes_of(zip({{"a/data.pkl", pickled}, {"a/data/0", storage}, {"a/version", "3\n"}}));
}

/// A list of two of the list before, and so on: 2^levels values for a reader that unfolds what is
/// shared.
std::string doubling(int levels) {
    std::string ops = tensor_op("0", 0, {1}, {1});
    for (int i = 0; i < levels; ++i) ops += "2\x86";  // DUP TUPLE2
    return pickle(ops);
}

void add_torch(Files& files) {
    files.push_back({"torch", "two tensors", [] { return archive(valid_pickle()); }, true});
    add_mutations(
        files, "torch", "an archive", [] { return archive(valid_pickle()); }, {}, 25);
    add_mutations(
        files, "pickle", "a pickle", [] { return bytes_of(valid_pickle()); }, {}, 30);
    for (int i = 0; i < 40; ++i)
        files.push_back({"torch", "a changed pickle in a right archive " + std::to_string(i), [=] {
                             Random random("pickle " + std::to_string(i));
                             std::string changed = valid_pickle();
                             for (size_t n = 1 + random.below(3); n > 0; --n)
                                 changed[random.below(changed.size())] =
                                     static_cast<char>(random.bits());
                             return archive(changed);
                         }});
    const auto attack = [&](const std::string& name, std::function<Bytes()> make) {
        files.push_back({"torch", name, std::move(make)});
    };
    const auto tensor = [&](const std::string& name, int32_t offset,
                            const std::vector<int32_t>& extents,
                            const std::vector<int32_t>& strides) {
        attack(name, [=] { return archive(pickle(tensor_op("0", offset, extents, strides))); });
    };
    tensor("an offset before the storage", -1, {2}, {1});
    tensor("an offset behind the storage", 7, {2}, {1});
    tensor("negative strides", 5, {2}, {-1});
    tensor("negative extents", 0, {-2}, {1});
    tensor("strides beyond the storage", 0, {2}, {INT32_MAX});
    tensor("2^93 elements of one", 0, {INT32_MAX, INT32_MAX, INT32_MAX}, {0, 0, 0});
    tensor("2^30 elements of one", 0, {1 << 30}, {0});
    tensor("rank 100", 0, std::vector<int32_t>(100, 1), std::vector<int32_t>(100, 1));
    tensor("no elements of 2^31", 0, {INT32_MAX, 0}, {1, 1});
    for (int levels : {10, 30, 60, 200})
        attack("shared values " + std::to_string(levels) + " levels deep",
               [=] { return archive(doubling(levels)); });
    attack("one tensor 2^18 times", [] { return archive(doubling(18)); });
    attack("a thousand views of one storage", [] {
        std::string ops = "}";
        for (int i = 0; i < 1000; ++i)
            ops += text_op(std::to_string(i)) + tensor_op("0", 0, {100'000}, {1}) + "s";
        return archive(pickle(ops), 100'000);
    });
    attack("lists of one byte each", [] { return archive(pickle(std::string(4 << 20, ']'))); });
    attack("memos of one byte each",
           [] { return archive(pickle("]" + std::string(4 << 20, '\x94'))); });
    attack("long names of five bytes each", [] {
        std::string ops = text_op(std::string(500, 'm')) + std::string("q\0", 2);
        for (int i = 0; i < 200'000; ++i) ops += std::string("h\0h\0\x93", 5);
        return archive(pickle(ops));
    });
    attack("a list in itself", [] { return archive(pickle("]" + std::string("q\0h\0a", 5))); });
    attack("tuples a million deep",
           [] { return archive(pickle(")" + std::string(1 << 20, '\x85'))); });
    attack("a name of a megabyte, in a name, in a name", [] {
        std::string ops = "}" + text_op(std::string(1 << 20, 'n')) + std::string("q\0", 2);
        for (int i = 0; i < 60; ++i) ops += std::string("}h\0", 3);
        return archive(pickle(ops + "N" + std::string(60, 's')));
    });
    attack("system('ls')",
           [] { return archive(pickle("cos\nsystem\n" + text_op("ls") + "\x85R")); });
    attack("two entries of one name", [] {
        return bytes_of(zip({{"a/data.pkl", valid_pickle()}, {"a/data.pkl", pickle("N")}}));
    });
    attack("ten thousand entries in one place", [] {
        return bytes_of(zip({{"a/data.pkl", std::string(1 << 16, 'N')}}, 10'000));
    });
    attack("sixty thousand empty entries", [] {
        Entries entries;
        for (int i = 0; i < 60'000; ++i) entries.emplace_back("a/" + std::to_string(i), "");
        return bytes_of(zip(entries));
    });
    attack("an old file of a thousand storages", [] {
        std::string keys = "]";
        for (int i = 0; i < 1000; ++i) keys += text_op("k") + "a";
        return bytes_of("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." +
                        pickle("M\xe9\x03") + pickle("}") + pickle(tensor_op("k", 0, {1}, {1})) +
                        pickle(keys));
    });
}

// --- .npy ---

Bytes npy(const std::string& header, size_t data_bytes, uint8_t version = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    if (version == 1)
        append(text, static_cast<uint16_t>(header.size()));
    else
        append(text, static_cast<uint32_t>(header.size()));
    return bytes_of(text + header + std::string(data_bytes, '\1'));
}

std::string npy_header(const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

void add_npy(Files& files) {
    add_mutations(
        files, "npy", "floats", [] { return npy(npy_header("<f4", "(2, 3)"), 24); }, {}, 20);
    const auto header = [&](const std::string& name, const std::string& text, size_t data) {
        files.push_back({"npy", name, [=] { return npy(text, data, 2); }});
    };
    header("2^124 elements", npy_header("<f4", "(4611686018427387904, 4611686018427387904)"), 8);
    header("2^124 elements times none",
           npy_header("<f4", "(4611686018427387904, 4611686018427387904, 0)"), 0);
    header("none times 2^62", npy_header("<f4", "(0, 4611686018427387904)"), 0);
    header("an extent beyond 2^64", npy_header("<f4", "(99999999999999999999,)"), 8);
    header("a negative extent", npy_header("<f4", "(-1,)"), 8);
    header("rank 1,000", npy_header("<f4", "(" + std::string(1000, '1') + ")"), 4);
    header("no shape", "{'descr': '<f4', 'fortran_order': False}", 4);
    header("a shape without end", npy_header("<f4", "(1, 2"), 8);
    header("an element type of 20 MB", npy_header(std::string(20 << 20, 'f'), "(1,)"), 4);
    header("control characters", npy_header("\x1b[31m\n", "(1,)"), 4);
    header("Fortran's order", "{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", 4);
    header("big-endian", npy_header(">f4", "(1,)"), 4);
    header("objects", npy_header("|O", "(1,)"), 8);
    header("nothing", "", 0);
}

}  // namespace

void add_weight_files(Files& files) {
    add_safetensors(files);
    add_torch(files);
    add_npy(files);
}

}  // namespace hearth::hostile

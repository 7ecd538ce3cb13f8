// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One field of a brain at a time, with the checksum mended: the last value that is accepted, the
// first that is refused.

#include "core/checksum.hpp"
#include "program/brain.hpp"

#include <hearth/brain.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

namespace hearth::test {
namespace {

using file::BrainHeader;
using file::BrainTensorRecord;

/// Tensors "a" (raw), "b" (nothing but zeros, packed) and "c" (a state), and three bytes of the
/// host.
Brain small_brain() {
    Brain brain;
    const std::vector<float> values{1.1f, -2.3f, 3.7f};  // no byte of which is zero
    brain.tensors.push_back({"a", false, HostTensor::of({3}, values)});
    brain.tensors.push_back({"b", false, HostTensor(DType::kF32, {64})});
    brain.tensors.push_back({"c", true, HostTensor::scalar(7, DType::kI32)});
    brain.user_data = {std::byte{1}, std::byte{2}, std::byte{3}};
    return brain;
}

/// A brain's bytes, aligned as a view wants them.
class BrainBytes {
  public:
    explicit BrainBytes(const std::vector<std::byte>& bytes)
        : words_(bytes.size() / 8 + 2), size_(bytes.size()) {
        std::memcpy(words_.data(), bytes.data(), bytes.size());
    }
    BrainHeader& header() { return *reinterpret_cast<BrainHeader*>(words_.data()); }
    BrainTensorRecord& tensor(size_t i) {
        return reinterpret_cast<BrainTensorRecord*>(&header() + 1)[i];
    }
    char* names() { return reinterpret_cast<char*>(words_.data()) + header().texts_offset; }
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)).first(size_); }
    size_t size() const { return size_; }
    void mend() { header().checksum = checksum(bytes().subspan(24)); }

  private:
    std::vector<uint64_t> words_;
    size_t size_;
};

std::string opened(std::span<const std::byte> bytes) {
    BrainView view;
    ViewError error;
    return view.open(bytes, &error) ? "" : error.text.c_str();
}

std::string with(const std::function<void(BrainBytes&)>& change) {
    BrainBytes brain(*save_brain(small_brain()));
    change(brain);
    brain.mend();
    return opened(brain.bytes());
}

std::string with_tensor(size_t i, const std::function<void(BrainTensorRecord&)>& change) {
    return with([&](BrainBytes& b) { change(b.tensor(i)); });
}

TEST(BrainView, LooksAtTheHeaderBeforeAnythingElse) {
    BrainBytes brain(*save_brain(small_brain()));
    EXPECT_EQ(opened(brain.bytes()), "");
    for (const size_t size : {size_t{0}, size_t{4}, sizeof(BrainHeader) - 1}) {
        // A copy of its own, so that a sanitizer sees reads beyond the end.
        const auto front = brain.bytes().first(size);
        EXPECT_EQ(load_brain(std::vector<std::byte>(front.begin(), front.end())).status().message(),
                  "brain: shorter than its header, so the file is truncated; copy it again");
    }
    const std::string size = std::to_string(brain.size());
    EXPECT_EQ(opened(brain.bytes().first(sizeof(BrainHeader))),
              "brain: 96 bytes, and the header says " + size + "; copy the file again");
    EXPECT_EQ(opened(brain.bytes().subspan(1)),
              "brain: the bytes must be at an address that is a multiple of 8; copy them to an "
              "aligned buffer");
    EXPECT_EQ(
        with([](BrainBytes& b) { b.header().magic ^= 1; }),
        "brain: not a Hearth brain; found another kind of file; give the output of `hearth cook`, "
        "compile() or cook()");
    EXPECT_EQ(with([](BrainBytes& b) { b.header().format_version = 0; }),
              "brain: format version 0, this library reads version 1; make it again");
    EXPECT_EQ(with([](BrainBytes& b) { b.header().format_version = 2; }),
              "brain: format version 2, this library reads version 1; update Hearth");
    EXPECT_EQ(with([](BrainBytes& b) { b.header().total_bytes -= 1; }),
              "brain: " + size + " bytes, and the header says " + std::to_string(brain.size() - 1) +
                  "; copy the file again");
    brain.header().checksum ^= 1;
    EXPECT_EQ(
        opened(brain.bytes()),
        "brain: the checksum differs, so the file is damaged; copy it again or make it again");
    EXPECT_EQ(opened(BrainBytes(*save_brain({})).bytes()), "");
}

TEST(BrainView, KeepsItsTablesInsideTheFile) {
    const std::string count = "brain: the header declares more tensors than fit into the file",
                      outside = "brain: names or user data lie outside the file";
    EXPECT_EQ(with([](BrainBytes& b) { b.header().contents = 3; }), count);
    EXPECT_EQ(with([](BrainBytes& b) {
                  b.header().tensor_count = static_cast<uint32_t>(
                      (b.size() - sizeof(BrainHeader)) / sizeof(BrainTensorRecord) + 1);
              }),
              count);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().tensor_count = ~0u; }), count);
    // A file of nothing but records has as many as fit.
    std::vector<std::byte> bare(sizeof(BrainHeader) + sizeof(BrainTensorRecord));
    BrainBytes one(bare);
    one.header() = {file::kBrainMagic, 1, bare.size(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    one.tensor(0).shape = {{0}, 1, 0};
    one.mend();
    EXPECT_EQ(opened(one.bytes()), "");

    EXPECT_EQ(with([](BrainBytes& b) { b.header().texts_offset = b.size() + 1; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().texts_bytes = b.size(); }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().texts_bytes = ~uint64_t{0}; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().host_offset = b.size() + 1; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().host_offset = ~uint64_t{0}; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().host_bytes += 1; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.header().host_bytes = ~uint64_t{0}; }), outside);
    EXPECT_EQ(
        with([](BrainBytes& b) { b.header().host_offset = b.size(), b.header().host_bytes = 0; }),
        "");
    EXPECT_EQ(with([](BrainBytes& b) { b.header().texts_bytes = 2; }), "brain: names overlap");
}

TEST(BrainView, ChecksEachFieldOfATensor) {
    const std::string tensor = "brain: tensor 1: ", again = "; load another copy of the file";
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.name.offset = 3; }),
              tensor + "its name lies outside the name table" + again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.name.offset = ~0u; }),
              tensor + "its name lies outside the name table" + again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.name.offset = 0; }),
              tensor + "names must be in ascending order" + again);
    EXPECT_EQ(with([](BrainBytes& b) { b.names()[1] = 'A'; }),
              tensor + "names must be in ascending order" + again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.kind = 2; }),
              tensor +
                  "its kind must be param or state, or, in saved games, a non-persistent state" +
                  again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.kind = 1; }), "");
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.dtype = kDTypeCount; }),
              tensor + "unknown element type" + again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.reserved = 1; }),
              tensor + "reserved field is not zero" + again);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.encoding = 4; }), tensor + "unknown encoding" + again);
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.encoding = 2; }),
              "brain: tensor 0: it equals the base, so nothing must be stored for it" + again);
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.encoding = 2, t.stored_bytes = 0; }), "");

    const std::string impossible = tensor + "impossible shape" + again;
    const auto shaped = [](const std::function<void(file::ShapeRecord&)>& change) {
        return with_tensor(1, [&](auto& t) { change(t.shape); });
    };
    EXPECT_EQ(shaped([](auto& s) { s.rank = 9; }), impossible);
    EXPECT_EQ(shaped([](auto& s) {
                  s.rank = 8;
                  for (int i = 1; i < 8; ++i) s.counts[i] = 1;
              }),
              "");
    EXPECT_EQ(shaped([](auto& s) { s.batch_mask = 1; }), impossible);
    EXPECT_EQ(shaped([](auto& s) { s.counts[0] = -64; }), impossible);
    EXPECT_EQ(shaped([](auto& s) { s.counts[1] = 1; }), impossible);
    EXPECT_EQ(shaped([](auto& s) { s.counts[7] = 1; }), impossible);

    const std::string size = tensor + "its size does not match its shape and type" + again;
    EXPECT_EQ(shaped([](auto& s) { s.counts[0] = 65; }), size);
    EXPECT_EQ(with_tensor(1, [](auto& t) { t.bytes += 4; }), size);
    EXPECT_EQ(with_tensor(1,
                          [](auto& t) {
                              // 2^62 bytes, and twice as many.
                              t.shape = {{int64_t{1} << 60}, 1, 0};
                              t.bytes = uint64_t{1} << 62;
                          }),
              "");
    EXPECT_EQ(with_tensor(1,
                          [](auto& t) {
                              t.shape = {{int64_t{1} << 61}, 1, 0};
                              t.bytes = uint64_t{1} << 63;
                          }),
              size);

    const std::string outside = "brain: tensor 0: its bytes lie outside the file" + again;
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.offset = 1 << 20; }), outside);
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.offset = ~uint64_t{0}; }), outside);
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.stored_bytes = 1 << 20; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.tensor(0).offset = b.size() - 11; }), outside);
    EXPECT_EQ(with([](BrainBytes& b) { b.tensor(0).offset = b.size() - 12; }), "");
    EXPECT_EQ(with([](BrainBytes& b) {
                  b.tensor(0).offset = b.size(), b.tensor(0).encoding = 2;
                  b.tensor(0).stored_bytes = 0;
              }),
              "");
    EXPECT_EQ(with_tensor(0, [](auto& t) { t.stored_bytes -= 4; }),
              "brain: tensor 0: its stored size must equal its size" + again);
}

/// What decoding tensor "b" gives once its packed bytes are these.
bool unpacks(std::initializer_list<int> packed, uint64_t bytes) {
    Brain brain;
    brain.tensors.push_back({"b", false, HostTensor(DType::kU8, {64})});
    BrainBytes file(*save_brain(brain));
    std::vector<std::byte> stored;
    for (const int byte : packed) stored.push_back(static_cast<std::byte>(byte));
    std::vector<std::byte> whole(file.bytes().begin(), file.bytes().end());
    // Behind the file's end, so that there is room.
    whole.resize((whole.size() + 15) / 16 * 16);
    const uint64_t at = whole.size();
    whole.insert(whole.end(), stored.begin(), stored.end());
    BrainBytes longer(whole);
    longer.header().total_bytes = whole.size();
    BrainTensorRecord& t = longer.tensor(0);
    t.offset = at;
    t.stored_bytes = stored.size();
    t.encoding = static_cast<uint32_t>(file::BrainEncoding::kPacked);
    t.bytes = bytes;
    t.shape.counts[0] = static_cast<int64_t>(bytes);
    std::vector<std::byte> expected(bytes);
    for (size_t i = 0; i < bytes; ++i) expected[i] = std::byte{i == 2 ? uint8_t{9} : uint8_t{0}};
    t.checksum = checksum(expected);
    longer.mend();
    BrainView view;
    ViewError error;
    EXPECT_TRUE(view.open(longer.bytes(), &error)) << error.text.c_str();
    std::vector<std::byte> out(bytes);
    return view.decode(view.tensors()[0], {}, out);
}

TEST(BrainView, PackedBytesAreJustThoseOfTheTensor) {
    // Two zeros, one byte, 9, and a zero more.
    EXPECT_TRUE(unpacks({2, 1, 9, 1, 0}, 4));
    EXPECT_TRUE(unpacks({2, 2, 9, 0}, 4));
    EXPECT_TRUE(unpacks({0x82, 0, 1, 9, 1, 0}, 4)) << "a length may take more groups than it needs";
    EXPECT_FALSE(unpacks({2, 1, 8, 1, 0}, 4)) << "other bytes than were saved";
    EXPECT_FALSE(unpacks({2, 1, 9, 2, 0}, 4)) << "more zeros than are left";
    EXPECT_FALSE(unpacks({2, 1, 9, 0, 2, 0, 0}, 4)) << "more bytes than are left";
    EXPECT_FALSE(unpacks({2, 2, 9}, 4)) << "more bytes than there are";
    EXPECT_FALSE(unpacks({2, 1, 9}, 4)) << "no end";
    EXPECT_FALSE(unpacks({2, 1, 9, 1}, 4)) << "one length of two";
    EXPECT_FALSE(unpacks({2, 1, 9, 1, 0, 0}, 4)) << "something behind the end";
    EXPECT_FALSE(unpacks({0, 0, 2, 1, 9, 1, 0}, 4)) << "a pair that stands for nothing";
    EXPECT_FALSE(unpacks({0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 9, 1, 0}, 4))
        << "a length of more than 63 bits";
    // What is claimed of a large tensor lies far beyond the file, or beyond the tensor.
    EXPECT_FALSE(unpacks({0, 0x80, 0x80, 0x80, 0x20, 9}, 1 << 26));
    EXPECT_FALSE(unpacks({0, 0x80, 0x80, 0x80, 0x20, 9}, 4));
    EXPECT_FALSE(unpacks({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 9, 1, 0}, 4));
}

TEST(BrainView, DecodesOnlyIntoAsManyBytesAsTheTensorHas) {
    Brain parent = small_brain();
    parent.tensors[1].value.set(3, 2.5);
    Brain brain = parent;
    brain.tensors[1].value.set(1, 5);
    BrainBytes file(*save_brain(brain, &parent));
    BrainView view;
    ViewError error;
    ASSERT_TRUE(view.open(file.bytes(), &error));
    const BrainTensorRecord& t = view.tensors()[1];
    std::vector<std::byte> out(256), more(260), less(252);
    const auto from = parent.tensors[1].value.bytes();
    EXPECT_TRUE(view.decode(t, from, out));
    EXPECT_FALSE(view.decode(t, from, more));
    EXPECT_FALSE(view.decode(t, from, less));
    EXPECT_FALSE(view.decode(t, more, out)) << "a parent of another size";
    EXPECT_FALSE(view.decode(t, {}, out)) << "another parent";
    // So large that what is written beyond the end could not go unnoticed.
    Brain large, changed;
    large.tensors.push_back({"a", false, HostTensor(DType::kF32, {1 << 20})});
    for (int64_t i = 0; i < 1 << 20; ++i)
        large.tensors[0].value.set(i, 1.1 + static_cast<double>(i) * 1.37e-3);
    changed = large;
    changed.tensors[0].value.set(7, 5);
    for (const Brain* base : {static_cast<const Brain*>(nullptr), &std::as_const(large)}) {
        BrainBytes bytes(*save_brain(changed, base));
        BrainView of_large;
        ASSERT_TRUE(of_large.open(bytes.bytes(), &error));
        std::vector<std::byte> small(8);
        EXPECT_FALSE(of_large.decode(of_large.tensors()[0], large.tensors[0].value.bytes(), small));
        EXPECT_FALSE(view.decode(t, large.tensors[0].value.bytes(), out));
    }
    EXPECT_EQ(view.find("a"), &view.tensors()[0]);
    EXPECT_EQ(view.find("aa"), nullptr);
    EXPECT_EQ(view.find("d"), nullptr);
}

// --- Whole brains

TEST(Brain, NeedsAParentThatHasWhatItDiffersFrom) {
    const Brain parent = small_brain();
    const std::vector<std::byte> delta = *save_brain(parent, &parent);
    EXPECT_EQ(load_brain(delta).status().message(),
              "brain: it is a delta; give the initial brain of the program that it was saved by");
    // A parent of the right hash without the tensor: a hash is a sum, which anybody can arrange.
    BrainBytes file(delta);
    Brain without = parent;
    without.tensors.erase(without.tensors.begin());
    file.header().parent_hash = hash_of(without);
    file.mend();
    EXPECT_EQ(load_brain(file.bytes(), &without).status().message(),
              "brain: the initial brain has no 'a' of that size");
    Brain longer = parent;
    longer.tensors[0].value = HostTensor(DType::kF32, {4});
    file.header().parent_hash = hash_of(longer);
    file.mend();
    EXPECT_EQ(load_brain(file.bytes(), &longer).status().message(),
              "brain: the initial brain has no 'a' of that size");
    EXPECT_TRUE(load_brain(delta, &parent).ok());
}

TEST(Brain, TakesAsManyBytesAsAreAllowedInAll) {
    const std::vector<std::byte> bytes = *save_brain(small_brain());
    constexpr uint64_t kAll = 12 + 256 + 4;
    EXPECT_TRUE(load_brain(bytes, nullptr, kAll).ok());
    EXPECT_EQ(load_brain(bytes, nullptr, kAll - 1).status().message(),
              "brain: 'c' takes 4 bytes in memory, and only 3 of the allowed bytes are left; raise "
              "max_bytes if you trust the file");
    BrainBytes damaged(bytes);
    damaged.tensor(0).checksum ^= 1;
    damaged.mend();
    EXPECT_EQ(load_brain(damaged.bytes()).status().message(),
              "brain: the stored bytes of 'a' are damaged; load another copy of the file");
}

TEST(Brain, OnlyBrainsOfOneKindMerge) {
    const auto merged = [](const std::function<void(Brain&)>& change,
                           std::vector<double> weights = {1, 1}) {
        std::vector<Brain> brains{small_brain(), small_brain()};
        change(brains[1]);
        return average_brains(brains, weights).status().message();
    };
    const auto same = [](Brain&) {};
    EXPECT_EQ(merged(same), "");
    EXPECT_EQ(merged(same, {1, 0}), "");
    EXPECT_EQ(merged(same, {1}),
              "average_brains: expected one or more brains and one weight for each");
    EXPECT_EQ(average_brains({}, {}).status().message(),
              "average_brains: expected one or more brains and one weight for each");
    EXPECT_EQ(merged(same, {2, -1}), "average_brains: weights must be finite and at least 0");
    EXPECT_EQ(merged(same, {1, INFINITY}), "average_brains: weights must be finite and at least 0");
    EXPECT_EQ(merged(same, {0, 0}),
              "average_brains: the weights sum to zero; at least one must be positive");
    EXPECT_EQ(merged([](Brain& b) { b.schema_hash = 1; }),
              "average_brains: the brains have different schemas; average brains of one program");
    EXPECT_EQ(merged([](Brain& b) { b.user_schema_hash = 1; }),
              "average_brains: the brains have different schemas; average brains of one program");
    EXPECT_EQ(merged([](Brain& b) { b.graph_hash = 1; }),
              "average_brains: the brains are of different graphs; average brains of one program");
    EXPECT_EQ(merged([](Brain& b) { b.tensors.pop_back(); }),
              "average_brains: the brains have 3 and 2 tensors");
    const std::string other = "' of another type or shape in the other";
    EXPECT_EQ(merged([](Brain& b) { b.tensors[1].name = "bb"; }),
              "average_brains: 'b' in one brain, 'bb" + other);
    EXPECT_EQ(merged([](Brain& b) { b.tensors[1].is_state = true; }),
              "average_brains: 'b' in one brain, 'b" + other);
    EXPECT_EQ(merged([](Brain& b) { b.tensors[1].value = HostTensor(DType::kI32, {64}); }),
              "average_brains: 'b' in one brain, 'b" + other);
    EXPECT_EQ(merged([](Brain& b) {
                  b.tensors[1].value = HostTensor(DType::kF32, {8, 8});
              }),
              "average_brains: 'b' in one brain, 'b" + other);
    // A brain of no weight does not count, whatever is in it.
    std::vector<Brain> brains{small_brain(), small_brain()};
    brains[1].tensors[0].value.set(0, NAN);
    EXPECT_EQ(average_brains(brains, std::vector<double>{1, 0})->tensors[0].value,
              brains[0].tensors[0].value);
}

TEST(Brain, DiffersByKindTypeAndShape) {
    using Kind = TensorDiff::Kind;
    const auto kind = [](const std::function<void(BrainTensor&)>& change) {
        Brain other = small_brain();
        change(other.tensors[0]);
        return diff_brains(small_brain(), other)[0].kind;
    };
    EXPECT_EQ(kind([](BrainTensor&) {}), Kind::kEqual);
    EXPECT_EQ(kind([](BrainTensor& t) { t.is_state = true; }), Kind::kTypeChanged);
    EXPECT_EQ(kind([](BrainTensor& t) { t.value = HostTensor(DType::kI32, {3}); }),
              Kind::kTypeChanged);
    EXPECT_EQ(kind([](BrainTensor& t) {
                  t.value = HostTensor(DType::kF32, {1, 3});
              }),
              Kind::kTypeChanged);
}

TEST(Brain, ForgetsOnlyWhatWasShippedAsItIs) {
    const auto forgotten = [](const std::function<void(Brain&)>& change) {
        Brain shipped = small_brain(), brain = small_brain();
        change(shipped);
        return reset_to_initial(brain, shipped, "a").status().message();
    };
    const std::string none =
        "reset_to_initial: the initial brain has no 'a' of that type and shape; give the one of "
        "its own program";
    EXPECT_EQ(forgotten([](Brain&) {}), "");
    EXPECT_EQ(forgotten([](Brain& b) { b.tensors.erase(b.tensors.begin()); }), none);
    EXPECT_EQ(forgotten([](Brain& b) { b.tensors[0].value = HostTensor(DType::kI32, {3}); }), none);
    EXPECT_EQ(forgotten([](Brain& b) {
                  b.tensors[0].value = HostTensor(DType::kF32, {1, 3});
              }),
              none);
    EXPECT_EQ(forgotten([](Brain& b) { b.tensors.pop_back(); }), "");
}

}  // namespace
}  // namespace hearth::test

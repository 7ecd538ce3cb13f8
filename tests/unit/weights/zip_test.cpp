// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/archive/zip.hpp"

#include "unit/weights/archive.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hearth {
namespace {

using namespace archive;

/// What is in the archive, or what is wrong with it.
std::string contents_of(const std::string& archive) {
    const auto entries = read_zip(std::as_bytes(std::span(archive)));
    if (!entries.ok()) return entries.status().message();
    std::string text;
    for (const auto& [name, bytes] : *entries)
        text += name + "=" +
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) + ";";
    return text;
}

std::string with(const std::function<void(Member&)>& change) {
    Member member;
    change(member);
    return contents_of(archive_of(member));
}

std::string with_end(const std::function<void(End&)>& change) {
    End end;
    change(end);
    return contents_of(archive_of({}, end));
}

TEST(Zip, StoredEntriesAreReadInPlace) {
    EXPECT_EQ(contents_of(archive_of({})), "a=hello;");
    EXPECT_EQ(with([](Member& m) { m.extra = std::string("\xff\xff\x02\0xy", 6); }), "a=hello;");
    EXPECT_EQ(with([](Member& m) { m.comment = "a comment", m.local_extra = "xyz"; }), "a=hello;");
    EXPECT_EQ(with_end([](End& e) { e.comment = std::string(0xffff, 'c'); }), "a=hello;");
    // An end record within the comment whose own comment would end elsewhere is none.
    EXPECT_EQ(with_end([](End& e) { e.comment = end_of({}, 0, 0) + "?"; }), "a=hello;");
    EXPECT_EQ(contents_of(end_of({.count = 0}, 0, 0)), "");
    const std::string archive = archive_of({});
    EXPECT_TRUE(looks_like_zip(std::as_bytes(std::span(archive))));
    EXPECT_FALSE(looks_like_zip(std::as_bytes(std::span(archive).subspan(1))));
}

TEST(Zip, EntriesThatAreNotAsTheDirectorySaysAreRefused) {
    EXPECT_EQ(with([](Member& m) { m.flags = 1; }), "entry 'a': is encrypted");
    EXPECT_EQ(with([](Member& m) { m.flags = 2; }), "a=hello;");
    EXPECT_EQ(with([](Member& m) { m.method = 8; }),
              "entry 'a': is compressed (method 8); expected entries without compression, as "
              "torch.save writes them");
    EXPECT_EQ(with([](Member& m) { m.stored = 4; }),
              "entry 'a': is compressed (method 0); expected entries without compression, as "
              "torch.save writes them");
    EXPECT_EQ(with([](Member& m) { m.crc ^= 1; }), "entry 'a': its checksum differs");
    EXPECT_EQ(with([](Member& m) { m.local_magic ^= 1; }),
              "entry 'a': is not where the directory says");
    EXPECT_EQ(with([](Member& m) { m.offset = 1 << 20; }),
              "entry 'a': is not where the directory says");
    EXPECT_EQ(with([](Member& m) { m.local_name = "b"; }),
              "entry 'a': has another name than in the directory");
    EXPECT_EQ(with([](Member& m) { m.stored = m.size = 80; }), "entry 'a': is truncated");
    EXPECT_EQ(with([](Member& m) { m.stored = m.size = 1 << 20; }),
              "its entries take more bytes than there are");
}

TEST(Zip, DirectoriesThatAreNoneAreRefused) {
    EXPECT_EQ(with([](Member& m) { m.directory_magic ^= 1; }),
              "its directory is damaged at byte 40");
    EXPECT_EQ(with_end([](End& e) { e.count = 2; }), "its directory is damaged at byte 87");
    EXPECT_EQ(with_end([](End& e) { e.part = 1; }),
              "is one of several parts of a split archive; join them");
    EXPECT_EQ(with_end([](End& e) { e.magic ^= 1; }),
              "has no directory at its end; the file is truncated, copy it again");
    EXPECT_EQ(with_end([](End& e) { e.comment_size = 1; }),
              "has no directory at its end; the file is truncated, copy it again");
    EXPECT_EQ(contents_of(std::string(21, 'x')), "is too short");
    EXPECT_EQ(contents_of(std::string(22, 'x')),
              "has no directory at its end; the file is truncated, copy it again");
    // The directory's last entry lies at the file's very end, in the comment, and goes on behind.
    const std::string cut = directory_of({}).substr(0, 46);
    EXPECT_EQ(contents_of(end_of({.offset = 22, .comment = cut}, 0, 0)),
              "its directory is truncated");
}

TEST(Zip, EntriesOfOneNameAreRefused) {
    Member second;
    const std::string first = local_of({});
    second.offset = static_cast<uint32_t>(first.size());
    const std::string locals = first + local_of(second);
    const std::string directory = directory_of({}) + directory_of(second);
    EXPECT_EQ(contents_of(locals + directory +
                          end_of({.count = 2}, static_cast<uint32_t>(locals.size()), 0)),
              "entry 'a' is there twice");
}

TEST(Zip, EntriesThatShareBytesAreCheckedNoMoreOftenThanTheFileIsLong) {
    const std::string local = local_of({});
    std::string directory;
    const uint16_t count = 60'000;
    for (int i = 0; i < count; ++i) directory += directory_of({});
    // Five bytes each, so that all of them together are less than the file.
    EXPECT_EQ(contents_of(local + directory +
                          end_of({.count = count}, static_cast<uint32_t>(local.size()), 0)),
              "entry 'a' is there twice");
    Member large;
    large.data = std::string(100, 'x');
    large.crc = crc32(large.data);
    large.stored = large.size = 100;
    Member other = large;
    other.name = other.local_name = "b";
    other.offset = static_cast<uint32_t>(local_of(large).size());
    const std::string locals = local_of(large) + local_of(other);
    const auto offset = static_cast<uint32_t>(locals.size());
    EXPECT_NE(contents_of(locals + directory_of(large) + directory_of(other) +
                          end_of({.count = 2}, offset, 0))
                  .find("b=xxx"),
              std::string::npos);
    // A second entry of more bytes than are left once the first has its own.
    other.stored = other.size = static_cast<uint32_t>(offset + 60);
    EXPECT_EQ(contents_of(locals + directory_of(large) + directory_of(other) +
                          end_of({.count = 2}, offset, 0)),
              "its entries take more bytes than there are");
}

// --- 64-bit records

/// The sizes and the place of an entry, as many of them as its 32-bit fields leave to this one.
std::string wide_field(std::initializer_list<uint64_t> values, int bytes = -1) {
    std::string data;
    for (const uint64_t v : values) data += number(v);
    return number<uint16_t>(1) +
           number(static_cast<uint16_t>(bytes < 0 ? static_cast<int>(data.size()) : bytes)) + data;
}

TEST(Zip, NumbersThatDoNotFit32BitsAreTakenFromTheExtraField) {
    EXPECT_EQ(with([](Member& m) {
                  m.size = m.stored = 0xffffffff;
                  m.extra = std::string("\x09\0\x01\0x", 5) + wide_field({5, 5});
              }),
              "a=hello;");
    EXPECT_EQ(with([](Member& m) {
                  m.offset = 0xffffffff;
                  m.extra = wide_field({0});
              }),
              "a=hello;");
    EXPECT_EQ(with([](Member& m) {
                  m.size = m.stored = 0xffffffff;
                  m.extra = wide_field({5});
              }),
              "its 64-bit sizes are truncated");
    EXPECT_EQ(with([](Member& m) { m.extra = wide_field({5}, 9); }),
              "its extra fields are truncated");
}

struct Wide {
    uint32_t locator_magic = 0x07064b50, end_magic = 0x06064b50;
    uint64_t count = 1;
    uint64_t end_offset = 0;  ///< added to the right one
};

/// With 64-bit end records ahead of the end record.
std::string wide_archive(const Wide& w, const End& end) {
    const std::string local = local_of({}), directory = directory_of({});
    const uint64_t at = local.size();
    const std::string wide_end = number(w.end_magic) + number<uint64_t>(44) + number<uint64_t>(0) +
                                 number<uint32_t>(0) + number(w.count) + number(w.count) +
                                 number<uint64_t>(directory.size()) + number(at);
    const std::string locator = number(w.locator_magic) + number<uint32_t>(0) +
                                number<uint64_t>(at + directory.size() + w.end_offset) +
                                number<uint32_t>(1);
    return local + directory + wide_end + locator + end_of(end, static_cast<uint32_t>(at), 0);
}

TEST(Zip, DirectoriesOf64BitsAreRead) {
    const End by_count{.count = 0xffff}, by_offset{.count = 1, .offset = 0xffffffff};
    EXPECT_EQ(contents_of(wide_archive({}, by_count)), "a=hello;");
    EXPECT_EQ(contents_of(wide_archive({}, by_offset)), "a=hello;");
    EXPECT_EQ(contents_of(wide_archive({.locator_magic = 1}, by_count)), "has no 64-bit directory");
    EXPECT_EQ(contents_of(wide_archive({.end_magic = 1}, by_count)),
              "its 64-bit directory is not at the offset that the archive gives");
    EXPECT_EQ(contents_of(wide_archive({.end_offset = 1}, by_count)),
              "its 64-bit directory is not at the offset that the archive gives");
    EXPECT_EQ(contents_of(wide_archive({.end_offset = ~uint64_t{0}}, by_count)),
              "its 64-bit directory is not at the offset that the archive gives");
    EXPECT_EQ(contents_of(wide_archive({.count = 0}, by_count)), "");
    EXPECT_EQ(contents_of(wide_archive({.count = 2}, by_count)),
              "its directory is damaged at byte 87");
    // No room for a locator; or just enough.
    EXPECT_EQ(contents_of(std::string(19, 'x') + end_of(by_count, 0, 0)),
              "has no 64-bit directory");
    const std::string locator =
        number(0x07064b50u) + number<uint32_t>(0) + number<uint64_t>(42) + number<uint32_t>(1);
    const std::string wide_end = number(0x06064b50u) + std::string(52, '\0');
    End with_comment = by_count;
    with_comment.comment = wide_end;
    EXPECT_EQ(contents_of(locator + end_of(with_comment, 0, 0)), "");
    with_comment.comment = wide_end.substr(0, 40);
    EXPECT_EQ(contents_of(locator + end_of(with_comment, 0, 0)),
              "its 64-bit directory is truncated");
}

}  // namespace
}  // namespace hearth

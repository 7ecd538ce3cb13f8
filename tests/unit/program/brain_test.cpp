// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/brain.hpp"

#include "core/checksum.hpp"

#include <hearth/brain.hpp>
#include <hearth/brain_file.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace hearth::test {
namespace {

namespace fs = std::filesystem;

HostTensor random_tensor(DType dtype, const Shape& shape, uint64_t seed) {
    std::mt19937_64 random(seed);
    HostTensor tensor(dtype, shape);
    for (int64_t i = 0; i < tensor.element_count(); ++i)
        tensor.set(i, static_cast<double>(random() % 2001) * 1e-3 - 1);
    return tensor;
}

/// What a game shipped: weights, moments that are zero, a counter, and odd shapes.
Brain shipped() {
    Brain brain;
    brain.graph_hash = 11;
    brain.schema_hash = 22;
    brain.tensors.push_back({"adam/a.m", true, HostTensor(DType::kF32, {7, 9})});
    brain.tensors.push_back({"adam/step", true, HostTensor::scalar(0, DType::kI32)});
    brain.tensors.push_back({"empty", false, HostTensor(DType::kF32, {0, 4})});
    brain.tensors.push_back({"half", false, random_tensor(DType::kF16, {5}, 3)});
    brain.tensors.push_back({"net/a", false, random_tensor(DType::kF32, {7, 9}, 1)});
    brain.tensors.push_back({"net/b", false, random_tensor(DType::kF32, {64, 64}, 2)});
    brain.base_hash = hash_of(brain);
    return brain;
}

/// The same after some learning: net/b has not changed.
Brain learned(uint64_t seed = 5) {
    Brain brain = shipped();
    std::mt19937_64 random(seed);
    HostTensor& weights = brain.find("net/a")->value;
    for (int64_t i = 0; i < weights.element_count(); ++i)
        weights.set(i, weights.get(i) * (1 + 1e-5 * static_cast<double>(random() % 100)));
    brain.find("adam/a.m")->value = random_tensor(DType::kF32, {7, 9}, seed + 1);
    brain.find("adam/step")->value.set_int(0, static_cast<int64_t>(100 + seed));
    brain.user_data = {std::byte{1}, std::byte{2}, std::byte{3}};
    return brain;
}

void expect_equal(const Brain& a, const Brain& b) {
    EXPECT_EQ(a.graph_hash, b.graph_hash);
    EXPECT_EQ(a.schema_hash, b.schema_hash);
    EXPECT_EQ(a.base_hash, b.base_hash);
    EXPECT_EQ(a.user_data, b.user_data);
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (size_t i = 0; i < a.tensors.size(); ++i) {
        EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
        EXPECT_EQ(a.tensors[i].is_state, b.tensors[i].is_state);
        EXPECT_EQ(a.tensors[i].value, b.tensors[i].value) << a.tensors[i].name;
    }
}

TEST(Brain, ComesBackAsItWasSaved) {
    const Brain brain = learned();
    const Result<Brain> loaded = load_brain(*save_brain(brain));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    expect_equal(*loaded, brain);
    const Result<Brain> nothing = load_brain(*save_brain({}));
    ASSERT_TRUE(nothing.ok());
    EXPECT_TRUE(nothing->tensors.empty());
}

TEST(Brain, ADifferenceIsSmallAndExact) {
    const Brain parent = shipped(), brain = learned();
    const std::vector<std::byte> full = *save_brain(brain), delta = *save_brain(brain, &parent);
    EXPECT_LT(delta.size(), full.size() / 8);
    const Result<Brain> loaded = load_brain(delta, &parent);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    expect_equal(*loaded, brain);
}

TEST(Brain, ADifferenceNeedsItsParent) {
    Brain parent = shipped();
    const std::vector<std::byte> delta = *save_brain(learned(), &parent);
    EXPECT_FALSE(load_brain(delta).ok());
    parent.find("net/b")->value.set(0, 9);
    const Result<Brain> other = load_brain(delta, &parent);
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.status().message(),
              "brain: it is a delta from another initial brain than the one given; give that of "
              "the program that it was saved by");
}

TEST(Brain, PackingIsExactForAllKindsOfBytes) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 300; ++round) {
        const DType dtypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI64};
        const DType dtype = dtypes[random() % 4];
        const auto count = static_cast<int64_t>(random() % 300);
        Brain parent, brain;
        parent.tensors.push_back({"t", false, HostTensor(dtype, {Dim(count)})});
        for (std::byte& b : parent.tensors[0].value.bytes()) b = static_cast<std::byte>(random());
        brain = parent;
        const uint64_t rarity = 1 + random() % 40;
        for (std::byte& b : brain.tensors[0].value.bytes())
            if (random() % rarity == 0) b = static_cast<std::byte>(random() % 3);
        const Result<Brain> delta = load_brain(*save_brain(brain, &parent, NonFinite::kAllow),
                                               &parent, 0, NonFinite::kAllow);
        ASSERT_TRUE(delta.ok()) << round;
        EXPECT_EQ(delta->tensors[0].value, brain.tensors[0].value);
        const Result<Brain> full = load_brain(*save_brain(brain, nullptr, NonFinite::kAllow),
                                              nullptr, 0, NonFinite::kAllow);
        ASSERT_TRUE(full.ok()) << round;
        EXPECT_EQ(full->tensors[0].value, brain.tensors[0].value);
    }
}

TEST(Brain, NonfiniteElementsAreFoundInEveryEncoding) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::mt19937_64 random(4);
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64})
        for (const double value :
             {kNan, kInfinity, -kInfinity, 65504.0, 0.0, 0x1.fep59, 0x1p60, -3e38})
            for (int round = 0; round < 20; ++round) {
                const auto count = static_cast<int64_t>(1 + random() % 200);
                Brain parent, brain;
                parent.tensors.push_back({"t", false, HostTensor(dtype, {Dim(count)})});
                for (int64_t i = 0; i < count; ++i)
                    parent.tensors[0].value.set(i, static_cast<double>(random() % 100));
                brain = parent;
                const auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
                // Sparse, so that it is packed; dense, so that it may be raw.
                if (round % 2 == 0) brain.tensors[0].value = HostTensor(dtype, {Dim(count)});
                brain.tensors[0].value.set(at, value);
                const double stored = brain.tensors[0].value.get(at);
                const bool is_finite = std::isfinite(stored);
                for (const Brain* from : std::initializer_list<const Brain*>{nullptr, &parent}) {
                    EXPECT_EQ(save_brain(brain, from).ok(), is_finite);
                    const std::vector<std::byte> bytes =
                        *save_brain(brain, from, NonFinite::kAllow);
                    std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
                    std::memcpy(aligned.data(), bytes.data(), bytes.size());
                    BrainView view;
                    ViewError error;
                    ASSERT_TRUE(
                        view.open(std::as_bytes(std::span(aligned)).first(bytes.size()), &error));
                    EXPECT_EQ(
                        view.first_nonfinite(view.tensors()[0], parent.tensors[0].value.bytes()),
                        is_finite ? -1 : at);
                    EXPECT_EQ(
                        view.first_nonfinite(view.tensors()[0], parent.tensors[0].value.bytes(),
                                             Magnitude::kTrainable),
                        std::abs(stored) < 0x1p60 ? -1 : at)
                        << stored;
                    const Result<Brain> loaded = load_brain(bytes, from);
                    EXPECT_EQ(loaded.ok(), is_finite);
                    if (!loaded.ok()) {
                        EXPECT_EQ(
                            loaded.status().message(),
                            "brain: 't': element " + std::to_string(at) +
                                " is NaN or infinite; reset it, or accept it by NonFinite::kAllow");
                    }
                    EXPECT_TRUE(load_brain(bytes, from, 0, NonFinite::kAllow).ok());
                }
            }
}

/// Makes the checksum right again after bytes were changed.
void fix_checksum(std::vector<std::byte>& bytes) {
    file::BrainHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.checksum = checksum(std::span(bytes).subspan(24));
    std::memcpy(bytes.data(), &header, sizeof header);
}

// 20,000 names of which each is the end of one long one: 200 MB to whoever copies or compares them.
TEST(Brain, NamesThatShareTheirCharactersAreRefused) {
    constexpr uint32_t kCount = 20000;
    Brain brain;
    for (uint32_t i = 0; i < kCount; ++i)
        brain.tensors.push_back(
            {std::to_string(100000 + i), false, HostTensor(DType::kF32, {Dim(0)})});
    std::vector<std::byte> bytes = *save_brain(brain);
    file::BrainHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    auto* names = reinterpret_cast<char*>(bytes.data()) + header.texts_offset;
    for (uint64_t i = 0; i < header.texts_bytes; ++i)
        names[i] = i < header.texts_bytes / 2 ? 'a' : 'b';
    for (uint32_t i = 0; i < kCount; ++i) {
        auto* record = reinterpret_cast<file::BrainTensorRecord*>(bytes.data() + sizeof header) + i;
        // Suffixes of "aaa...": the shorter, the greater, with a 'b' behind the last 'a'.
        record->name.offset = i;
        record->name.size = static_cast<uint32_t>(header.texts_bytes / 2 + 1 - i);
    }
    fix_checksum(bytes);
    const auto begin = std::chrono::steady_clock::now();
    const Result<Brain> loaded = load_brain(bytes);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().message(), "brain: names overlap");
}

TEST(Brain, ClaimsNoMoreMemoryThanInProportionToItsBytes) {
    Brain brain;
    brain.tensors.push_back({"zeros", false, HostTensor(DType::kF32, {Dim(1 << 22)})});
    std::vector<std::byte> bytes = *save_brain(brain);  // 16 MB in some bytes
    ASSERT_LT(bytes.size(), 1000u);
    EXPECT_TRUE(load_brain(bytes).ok());
    auto* record =
        reinterpret_cast<file::BrainTensorRecord*>(bytes.data() + sizeof(file::BrainHeader));
    record->shape.counts[0] = int64_t{1} << 40;
    record->bytes = uint64_t{1} << 42;
    fix_checksum(bytes);
    const Result<Brain> huge = load_brain(bytes);
    ASSERT_FALSE(huge.ok());
    EXPECT_EQ(huge.status().code(), StatusCode::kOutOfRange);
    EXPECT_NE(huge.status().message().find("'zeros' takes 4398046511104 bytes in memory"),
              std::string::npos)
        << huge.status().message();
}

TEST(Brain, EachTruncationIsRejectedWithAMessage) {
    const Brain parent = shipped();
    for (const Brain* from : {static_cast<const Brain*>(nullptr), &parent}) {
        const std::vector<std::byte> bytes = *save_brain(learned(), from);
        for (size_t size = 0; size < bytes.size(); ++size) {
            // A copy of its own, so that a sanitizer sees reads beyond the end.
            const std::vector<std::byte> cut(bytes.begin(),
                                             bytes.begin() + static_cast<ptrdiff_t>(size));
            const Result<Brain> loaded = load_brain(cut, from);
            ASSERT_FALSE(loaded.ok()) << size;
            EXPECT_FALSE(loaded.status().message().empty());
        }
    }
}

TEST(Brain, EachFlippedBitIsRejected) {
    const Brain parent = shipped();
    std::vector<std::byte> bytes = *save_brain(learned(), &parent);
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(load_brain(bytes, &parent).ok()) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(Brain, AnythingUnderARightChecksumIsRejectedOrReadInBounds) {
    const Brain parent = shipped();
    const std::vector<std::byte> original = *save_brain(learned(), &parent);
    std::mt19937_64 random(13);
    int rejected = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes = original;
        for (uint64_t n = random() % 3; n < 3; ++n)
            bytes[24 + random() % (bytes.size() - 24)] = static_cast<std::byte>(random());
        const uint64_t sum = checksum(std::span(bytes).subspan(24));
        std::memcpy(bytes.data() + 16, &sum, sizeof sum);
        rejected += !load_brain(bytes, &parent, 1 << 20).ok();
    }
    EXPECT_GT(rejected, 10000);
}

TEST(Brain, ANewerFormatIsToldApartFromDamage) {
    std::vector<std::byte> bytes = *save_brain(learned());
    bytes[4] = std::byte{file::kBrainFormatVersion + 1};
    const Result<Brain> loaded = load_brain(bytes);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(loaded.status().message(),
              "brain: format version 2, this library reads version 1; update Hearth");
}

TEST(Brain, ClaimsOfManyBytesAreRefusedBeforeTheyAreAllocated) {
    Brain brain;
    brain.tensors.push_back({"zeros", false, HostTensor(DType::kF32, {1 << 20})});
    const std::vector<std::byte> bytes = *save_brain(brain);
    EXPECT_LT(bytes.size(), 400u);
    EXPECT_TRUE(load_brain(bytes).ok());
    EXPECT_EQ(load_brain(bytes, nullptr, 1 << 20).status().code(), StatusCode::kOutOfRange);
}

TEST(Brain, MergeIsTheWeightedMeanOfFloatsAndTheFirstsCounters) {
    const Brain brains[] = {learned(1), learned(2)};
    const Result<Brain> merged = average_brains(brains, std::vector<double>{3, 1});
    ASSERT_TRUE(merged.ok()) << merged.status().message();
    const HostTensor &a = brains[0].find("net/a")->value, &b = brains[1].find("net/a")->value;
    const HostTensor& m = merged->find("net/a")->value;
    for (int64_t i = 0; i < m.element_count(); ++i)
        EXPECT_FLOAT_EQ(static_cast<float>(m.get(i)),
                        static_cast<float>(0.75 * a.get(i) + 0.25 * b.get(i)));
    EXPECT_EQ(merged->find("adam/step")->value.get_int(0), 101);
    EXPECT_FALSE(average_brains(brains, std::vector<double>{1}).ok());
    EXPECT_FALSE(average_brains(brains, std::vector<double>{1, -1}).ok());
    EXPECT_FALSE(average_brains(brains, std::vector<double>{0, 0}).ok());
    Brain other = learned(3);
    other.tensors.pop_back();
    EXPECT_FALSE(
        average_brains(std::vector<Brain>{brains[0], other}, std::vector<double>{1, 1}).ok());
}

TEST(Brain, MergingOneBrainChangesNothing) {
    const Brain brain = learned();
    const Result<Brain> merged = average_brains(std::span(&brain, 1), std::vector<double>{2.5});
    ASSERT_TRUE(merged.ok());
    expect_equal(*merged, brain);
}

TEST(Brain, DiffTellsWhatChanged) {
    Brain a = shipped(), b = learned();
    b.tensors.push_back({"new", false, HostTensor(DType::kF32, {1})});
    a.tensors.push_back({"old", false, HostTensor(DType::kF32, {1})});
    using Kind = TensorDiff::Kind;
    const std::vector<TensorDiff> all = diff_brains(a, b);
    const auto kind_of = [&](std::string_view name) {
        for (const TensorDiff& d : all)
            if (d.name == name) return d.kind;
        return Kind::kTypeChanged;
    };
    EXPECT_EQ(all.size(), 8u);
    EXPECT_EQ(kind_of("net/a"), Kind::kChanged);
    EXPECT_EQ(kind_of("net/b"), Kind::kEqual);
    EXPECT_EQ(kind_of("new"), Kind::kAdded);
    EXPECT_EQ(kind_of("old"), Kind::kMissing);
}

TEST(Brain, ForgetPutsBackWhatMatches) {
    const Brain parent = shipped();
    Brain brain = learned();
    ASSERT_EQ(reset_to_initial(brain, parent, "adam/*").value(), 2u);
    EXPECT_EQ(brain.find("adam/step")->value.get_int(0), 0);
    EXPECT_NE(brain.find("net/a")->value, parent.find("net/a")->value);
    ASSERT_EQ(reset_to_initial(brain, parent).value(), 6u);
    EXPECT_EQ(brain.find("net/a")->value, parent.find("net/a")->value);
    EXPECT_EQ(reset_to_initial(brain, parent, "xyz").status().code(), StatusCode::kNotFound);
}

TEST(Matches, StarsStandForAnyCharacters) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("net/*", "net/a"));
    EXPECT_FALSE(matches("net/*", "nex/a"));
    EXPECT_TRUE(matches("*a*b", "xaxaxb"));
    EXPECT_FALSE(matches("*a*b", "xaxaxc"));
    EXPECT_TRUE(matches("**", "x"));
    EXPECT_FALSE(matches("", "x"));
    EXPECT_TRUE(matches("x", "x"));
}

/// A folder that is gone when the test ends.
class BrainFile : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("hearth_brain_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(folder_);
        path_ = (folder_ / "ghost.brain").string();
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// The brain in the file must be one of the two; which.
    int which(const Brain& old_brain, const Brain& new_brain) {
        const auto bytes = read_whole_file(path_);
        if (!bytes.ok()) return -1;
        const Result<Brain> loaded = load_brain(*bytes);
        if (!loaded.ok()) return -2;
        if (*save_brain(*loaded) == *save_brain(old_brain)) return 0;
        return *save_brain(*loaded) == *save_brain(new_brain) ? 1 : -3;
    }

    fs::path folder_;
    std::string path_;
};

/// A brain of several chunks.
Brain large(uint64_t seed) {
    Brain brain;
    brain.tensors.push_back({"w", false, random_tensor(DType::kF32, {200, 500}, seed)});
    return brain;
}

TEST_F(BrainFile, IsReplacedAsAWhole) {
    const Brain a = large(1), b = large(2);
    ASSERT_TRUE(write_file_atomically(path_, *save_brain(a)).ok());
    EXPECT_EQ(which(a, b), 0);
    ASSERT_TRUE(write_file_atomically(path_, *save_brain(b)).ok());
    EXPECT_EQ(which(a, b), 1);
}

// A process killed at each stage of a save, between writing and renaming above all.
TEST_F(BrainFile, KilledAtAnyStageTheOldOrTheNewFileLoads) {
    const Brain a = large(1), b = large(2);
    const std::vector<std::byte> old_bytes = *save_brain(a), new_bytes = *save_brain(b);
    int stage_count = 0;
    bool saw[2] = {};
    for (int fatal = 0;; ++fatal) {
        ASSERT_TRUE(write_file_atomically(path_, old_bytes).ok());
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            int stage = 0;
            (void)write_file_atomically(path_, new_bytes, [&](FileStage) {
                if (stage++ == fatal) raise(SIGKILL);
            });
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        const int found = which(a, b);
        ASSERT_GE(found, 0) << "killed at stage " << fatal;
        saw[found] = true;
        // The next save must go on in spite of what the killed one left behind.
        ASSERT_TRUE(write_file_atomically(path_, new_bytes).ok());
        ASSERT_EQ(which(a, b), 1);
        if (!WIFSIGNALED(status)) break;
        ++stage_count;
    }
    EXPECT_GE(stage_count, 10);  // opened, some chunks, written, synced, renamed, done
    EXPECT_TRUE(saw[0] && saw[1]);
}

TEST_F(BrainFile, KilledAtAnyTimeTheOldOrTheNewFileLoads) {
    const Brain a = large(1), b = large(2);
    const std::vector<std::byte> first = *save_brain(a), second = *save_brain(b);
    ASSERT_TRUE(write_file_atomically(path_, first).ok());
    std::mt19937_64 random(3);
    for (int round = 0; round < 40; ++round) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0)
            for (int i = 0;; ++i)
                if (!write_file_atomically(path_, i % 2 != 0 ? first : second).ok()) _exit(1);
        usleep(static_cast<useconds_t>(500 + random() % 4000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status));
        ASSERT_GE(which(a, b), 0) << "round " << round;
    }
}

// Each version of the format has a sample in tests/data, which must go on loading.
TEST(BrainSamples, OfEachVersionLoad) {
    const fs::path folder = fs::path(HEARTH_TEST_DATA) / "brains";
    for (uint32_t version = 1; version <= file::kBrainFormatVersion; ++version) {
        const std::string base = (folder / ("v" + std::to_string(version))).string();
        const auto full = read_whole_file(base + "_full.brain");
        const auto delta = read_whole_file(base + "_delta.brain");
        ASSERT_TRUE(full.ok() && delta.ok()) << base;
        const Brain parent = shipped();
        const Result<Brain> a = load_brain(*full), b = load_brain(*delta, &parent);
        ASSERT_TRUE(a.ok()) << a.status().message();
        ASSERT_TRUE(b.ok()) << b.status().message();
        expect_equal(*a, learned());
        expect_equal(*b, learned());
    }
}

/// HEARTH_WRITE_SAMPLES=1 writes the samples of a new version.
TEST(BrainSamples, AreWrittenOnRequest) {
    if (std::getenv("HEARTH_WRITE_SAMPLES") == nullptr)
        GTEST_SKIP() << "HEARTH_WRITE_SAMPLES is not set";
    const std::string base =
        (fs::path(HEARTH_TEST_DATA) / "brains" / ("v" + std::to_string(file::kBrainFormatVersion)))
            .string();
    const Brain parent = shipped();
    ASSERT_TRUE(write_file_atomically(base + "_full.brain", *save_brain(learned())).ok());
    ASSERT_TRUE(write_file_atomically(base + "_delta.brain", *save_brain(learned(), &parent)).ok());
}

}  // namespace
}  // namespace hearth::test

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The pipeline cache that the host keeps: its own comes back, all else is ignored.

#include "device/vulkan/pipeline_cache.hpp"

#include "rig.hpp"

namespace hearth::test {
namespace {

class SavedCache : public RuntimeTest {
  protected:
    /// A session with pipelines built in a context that was given `saved`.
    std::unique_ptr<Rig> rig_with(const std::vector<std::byte>& saved) {
        RigOptions options;
        options.host = [&](hearth_context_create_info& info) {
            info.pipeline_cache_data = saved.data();
            info.pipeline_cache_bytes = saved.size();
            info.callback_user_data = &messages_;
            info.log = [](void* user, hearth_log_level, const char*, const char* message) {
                static_cast<std::vector<std::string>*>(user)->push_back(message);
            };
        };
        return make_rig(options);
    }
    std::vector<std::byte> save(Rig& rig) {
        const auto saved = rig.context.save_pipeline_cache();
        EXPECT_TRUE(saved.ok()) << saved.status().message();
        return saved.ok() ? *saved : std::vector<std::byte>();
    }
    /// Gives `saved` to a context: whether it was used.  It must work all the same.
    bool is_used(const std::vector<std::byte>& saved) {
        messages_.clear();
        const auto rig = rig_with(saved);
        EXPECT_TRUE(rig);
        if (!rig) return false;
        const std::vector<float> x = test_values(2 * kWidth, 1);
        EXPECT_EQ(rig->act(x), TestReference().act(x));
        return rig->context.stats().pipeline_cache_used != 0;
    }

    std::vector<std::string> messages_;
};

TEST_F(SavedCache, ComesBackInTheNextRun) {
    const auto first = rig_with({});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->context.stats().pipeline_cache_used, 0u);
    const std::vector<std::byte> saved = save(*first);
    EXPECT_GT(saved.size(), sizeof(gpu::PipelineCacheHeader));
    EXPECT_TRUE(is_used(saved));
    EXPECT_TRUE(messages_.empty());
}

TEST_F(SavedCache, DamagedOrForeignBytesAreIgnored) {
    const auto first = rig_with({});
    ASSERT_TRUE(first);
    const std::vector<std::byte> saved = save(*first);
    for (const size_t at : {size_t{0}, size_t{4}, size_t{8}, size_t{16}, size_t{20}, size_t{24},
                            size_t{40}, size_t{48}, size_t{56}, saved.size() - 1}) {
        std::vector<std::byte> other = saved;
        other[at] ^= std::byte{1};
        EXPECT_FALSE(is_used(other)) << at;
        ASSERT_EQ(messages_.size(), 1u) << at;
        EXPECT_TRUE(messages_[0].starts_with("the saved pipeline cache is ignored: "));
    }
    for (const size_t size : {size_t{1}, size_t{55}, size_t{56}, saved.size() - 1})
        EXPECT_FALSE(is_used({saved.begin(), saved.begin() + static_cast<ptrdiff_t>(size)}))
            << size;
}

TEST_F(SavedCache, SaysHowMuchRoomItTakes) {
    const auto rig = rig_with({});
    ASSERT_TRUE(rig);
    uint64_t bytes = 0;
    ASSERT_EQ(hearth_context_save_pipeline_cache(rig->context.handle(), nullptr, &bytes),
              HEARTH_OK);
    std::vector<std::byte> out(static_cast<size_t>(bytes));
    uint64_t less = 20;
    EXPECT_EQ(hearth_context_save_pipeline_cache(rig->context.handle(), out.data(), &less),
              HEARTH_ERROR_OUT_OF_RANGE);
    less = sizeof(gpu::PipelineCacheHeader) - 1;
    EXPECT_EQ(hearth_context_save_pipeline_cache(rig->context.handle(), out.data(), &less),
              HEARTH_ERROR_OUT_OF_RANGE);
    less = bytes - 1;
    EXPECT_EQ(hearth_context_save_pipeline_cache(rig->context.handle(), out.data(), &less),
              HEARTH_ERROR_OUT_OF_RANGE);
}

}  // namespace
}  // namespace hearth::test

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Properties of plans over keyed random models, and mutations that the proof must notice.

#include "unit/plan/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth {
namespace {

using synthetic::Contents;
using synthetic::Model;
using synthetic::Order;

constexpr uint64_t kModels = 200;
constexpr uint32_t kCallLimit = 30;

/// Calls `check(model, program)` with many random models and their plans.
template <class Check>
void for_each_model(Check check) {
    for (uint64_t key = 0; key < kModels; ++key) {
        SCOPED_TRACE("key " + std::to_string(key));
        const Model model = synthetic::random_model(key, kCallLimit);
        const Result<Program> program = model.plan();
        ASSERT_TRUE(program.ok()) << program.status().message();
        check(model, *program);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

void erase_step(Program& program, size_t index) {
    program.commands.erase(program.commands.begin() + static_cast<int64_t>(index));
    for (Entry& entry : program.entries) {
        if (entry.first_command > index) {
            --entry.first_command;
        } else if (entry.first_command + entry.command_count > index) {
            --entry.command_count;
        }
    }
}

bool overlap(const Program& program, const Operand& a, const Operand& b) {
    return a.region == b.region && a.binding == b.binding &&
           a.offset < b.offset + b.bytes.at(program.max_batch_size) &&
           b.offset < a.offset + a.bytes.at(program.max_batch_size);
}

TEST(PlanOfARandomModel, IsAcceptedByTheProof) {
    for_each_model([](const Model& model, const Program& program) {
        const Status status = model.verify(program);
        ASSERT_TRUE(status.ok()) << status.message();
    });
}

TEST(PlanOfARandomModel, ComputesWhatItsGraphsDoInAnyOrderBetweenBarriers) {
    for_each_model([](const Model& model, const Program& program) {
        for (uint64_t rows : {uint64_t{1}, program.max_batch_size}) {
            Contents expected = synthetic::first_contents(program, rows, 5);
            Contents found[] = {expected, expected, expected};
            // Twice, so that the second recording sees the updates of the first.
            for (size_t n = 0; n < 2 * program.entries.size(); ++n) {
                const size_t e = n % program.entries.size();
                synthetic::evaluate(model, program, e, rows, expected);
                synthetic::run(program, e, rows, Order::kAsPlanned, found[0]);
                synthetic::run(program, e, rows, Order::kReversed, found[1]);
                synthetic::run(program, e, rows, Order::kShuffled, found[2]);
                for (const Contents& f : found) ASSERT_EQ(f, expected) << dump(program);
            }
        }
    });
}

TEST(PlanOfARandomModel, IsTheSameEachTime) {
    for_each_model([](const Model& model, const Program& program) {
        const Result<Program> again = model.plan();
        ASSERT_TRUE(again.ok());
        ASSERT_EQ(save_program(*again), save_program(program));
        ASSERT_EQ(again->hash, program.hash);
        ASSERT_EQ(program.hash, content_hash(program));
    });
}

TEST(PlanOfARandomModel, SurvivesSavingAndLoading) {
    for_each_model([](const Model& model, const Program& program) {
        const Result<Program> loaded = load_program(save_program(program));
        ASSERT_TRUE(loaded.ok()) << loaded.status().message();
        ASSERT_EQ(loaded->hash, program.hash);
        ASSERT_TRUE(model.verify(*loaded).ok());
    });
}

TEST(ProofOfAPlan, FailsWithoutAnyOneBarrier) {
    size_t barriers = 0;
    for_each_model([&](const Model& model, const Program& program) {
        for (size_t s = 0; s < program.commands.size(); ++s) {
            if (program.commands[s].kind != CommandKind::kBarrier) continue;
            Program mutant = program;
            erase_step(mutant, s);
            ASSERT_FALSE(model.verify(mutant).ok()) << "without step " << s << "\n"
                                                    << dump(program);
            ++barriers;
        }
    });
    EXPECT_GT(barriers, 1000u);
}

TEST(ProofOfAPlan, FailsWithoutAnyOneStep) {
    for_each_model([&](const Model& model, const Program& program) {
        for (size_t s = 0; s < program.commands.size(); ++s) {
            Program mutant = program;
            erase_step(mutant, s);
            ASSERT_FALSE(model.verify(mutant).ok()) << "without step " << s << "\n"
                                                    << dump(program);
        }
    });
}

TEST(ProofOfAPlan, FailsWhenAReadIsShifted) {
    for_each_model([](const Model& model, const Program& program) {
        const uint64_t shift = model.options.caps.min_storage_buffer_offset_alignment;
        for (size_t o = 0; o < program.operands.size(); ++o) {
            const Operand& operand = program.operands[o];
            if (operand.access == Access::kWrite || operand.region == Region::kRun) continue;
            Program mutant = program;
            mutant.operands[o].offset += shift;
            ASSERT_FALSE(model.verify(mutant).ok()) << "operand " << o << "\n" << dump(program);
            if (operand.offset < shift) continue;
            mutant.operands[o].offset -= 2 * shift;
            ASSERT_FALSE(model.verify(mutant).ok()) << "operand " << o << "\n" << dump(program);
        }
    });
}

TEST(ProofOfAPlan, FailsWhereACallThatMayNotWritesOverWhatItReads) {
    size_t in_place = 0;
    for_each_model([&](const Model& model, const Program& program) {
        Model stricter = model;
        for (LoweredEntry& entry : stricter.lowered.entries)
            for (KernelCall& call : entry.calls)
                for (CallOperand& operand : call.operands) operand.is_elementwise = false;
        bool writes_over = false;
        for (const Command& step : program.commands)
            for (const Operand& r : program.operands_of(step))
                for (const Operand& w : program.operands_of(step))
                    writes_over |= r.access == Access::kRead && w.access != Access::kRead &&
                                   overlap(program, r, w);
        ASSERT_EQ(stricter.verify(program).ok(), !writes_over) << dump(program);
        in_place += writes_over;
    });
    EXPECT_GT(in_place, 100u);
}

TEST(ProofOfAPlan, FailsWhenDependentStepsAreSwapped) {
    for_each_model([](const Model& model, const Program& program) {
        for (const Entry& entry : program.entries)
            for (uint32_t a = entry.first_command; a < entry.first_command + entry.command_count;
                 ++a)
                for (uint32_t b = a + 1; b < entry.first_command + entry.command_count; ++b) {
                    bool reads_result = false;
                    for (const Operand& w : program.operands_of(program.commands[a]))
                        for (const Operand& r : program.operands_of(program.commands[b]))
                            reads_result |= w.access != Access::kRead &&
                                            r.access != Access::kWrite && overlap(program, w, r);
                    if (!reads_result) continue;
                    Program mutant = program;
                    std::swap(mutant.commands[a], mutant.commands[b]);
                    ASSERT_FALSE(model.verify(mutant).ok()) << "steps " << a << " and " << b << "\n"
                                                            << dump(program);
                }
    });
}

/// From the first write to the last read of a value in the arena, in steps of its entry.
struct Life {
    ValueId root = kInvalidId;
    uint32_t first = kInvalidId, last = 0;
    Operand operand;
};

std::vector<Life> lives_in_arena(const Model& model, const Program& program, size_t e) {
    const Entry& entry = program.entries[e];
    std::vector<Life> lives;
    for (uint32_t s = 0; s < entry.command_count; ++s) {
        const Command& step = program.commands_of(entry)[s];
        for (uint32_t i = 0; i < step.operand_count; ++i) {
            const Operand& operand = program.operands_of(step)[i];
            if (operand.region != Region::kArena) continue;
            const ValueId root = model.root_of(e, step.operand_values[i]);
            auto life = std::find_if(lives.begin(), lives.end(),
                                     [&](const Life& l) { return l.root == root; });
            if (life == lives.end()) life = lives.insert(lives.end(), {root, s, s, operand});
            life->last = s;
        }
    }
    return lives;
}

TEST(PlanOfARandomModel, KeepsValuesApartThatAreAliveTogether) {
    for_each_model([](const Model& model, const Program& program) {
        for (size_t e = 0; e < program.entries.size(); ++e) {
            const std::vector<Life> lives = lives_in_arena(model, program, e);
            for (const Life& a : lives)
                for (const Life& b : lives) {
                    if (a.first >= b.first || b.first >= a.last) continue;
                    ASSERT_FALSE(overlap(program, a.operand, b.operand))
                        << "%" << a.root << " and %" << b.root << " of " << e << "\n"
                        << dump(program);
                }
        }
    });
}

TEST(ProofOfAPlan, FailsWhenAValueIsMovedOntoOneThatIsAlive) {
    size_t moved = 0;
    for_each_model([&](const Model& model, const Program& program) {
        for (size_t e = 0; e < program.entries.size(); ++e) {
            const std::vector<Life> lives = lives_in_arena(model, program, e);
            for (const Life& a : lives)
                for (const Life& b : lives) {
                    if (a.first >= b.first || b.first >= a.last) continue;
                    Program mutant = program;
                    for (const Command& step : program.commands_of(program.entries[e]))
                        for (uint32_t i = 0; i < step.operand_count; ++i)
                            if (step.operand_values[i] != kNoValue &&
                                model.root_of(e, step.operand_values[i]) == b.root &&
                                program.operands_of(step)[i].region == Region::kArena)
                                mutant.operands[step.first_operand + i].offset = a.operand.offset;
                    ASSERT_FALSE(model.verify(mutant).ok())
                        << "%" << b.root << " onto %" << a.root << "\n"
                        << dump(program);
                    ++moved;
                }
        }
    });
    EXPECT_GT(moved, 1000u);
}

TEST(PlanOfARandomModel, WritesWeightsOnlyAfterTheLastBarrierOfItsEntry) {
    for_each_model([](const Model&, const Program& program) {
        for (const Entry& entry : program.entries) {
            bool has_written = false;
            for (const Command& step : program.commands_of(entry)) {
                ASSERT_FALSE(has_written && step.kind == CommandKind::kBarrier) << dump(program);
                for (const Operand& operand : program.operands_of(step))
                    has_written |=
                        operand.region == Region::kWeights && operand.access != Access::kRead;
            }
        }
    });
}

}  // namespace
}  // namespace hearth

// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads Python's pickle format without executing it.  Opcodes after CPython's Lib/pickletools.py,
// which documents the format.

#include "import/torch/pickle.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace hearth {

namespace {

using Kind = PickleValue::Kind;
using Id = uint32_t;

constexpr size_t kMostValues = size_t{1} << 22, kFewValues = size_t{1} << 18;

class Machine {
  public:
    Machine(ByteReader& reader, Budget& budget)
        : reader_(reader),
          budget_(budget),
          most_values_(std::min<uint64_t>(kMostValues, kFewValues + reader.left() / 2)) {
        for (Kind kind : {Kind::kNone, Kind::kBool, Kind::kBool})
            pickle_.values.push_back({kind, 0, 0, {}, {}});
        pickle_.values[kTrue].integer = 1;
    }

    Result<Pickle> run() {
        while (!done_) {
            const auto opcode = reader_.number<uint8_t>();
            if (reader_.failed())
                return corrupt_data("ends before its STOP; the file is truncated, copy it again");
            Status s = step(opcode);
            if (s.ok() && reader_.failed()) s = corrupt_data("is truncated");
            if (s.ok() && pickle_.values.size() > most_values_)
                s = out_of_range("more than " + std::to_string(most_values_) + " values");
            if (!s.ok()) return s.with_context("at byte " + std::to_string(reader_.position()));
        }
        return std::move(pickle_);
    }

  private:
    static constexpr Id kNoneId = 0, kFalse = 1, kTrue = 2;

    Status step(uint8_t opcode) {
        switch (opcode) {
            case 0x80:
                return protocol();
            case 0x95:
                return (void)reader_.take(8), Status();  // FRAME: a length, for buffering only
            case '.':
                return stop();
            case '(':
                return marks_.push_back(stack_.size()), Status();
            case '0':
                return pop();
            case '1':
                return take_marked().status();
            case '2':
                return duplicate();
            case 'N':
                return push(kNoneId);
            case 0x88:
                return push(kTrue);
            case 0x89:
                return push(kFalse);
            case 'J':
                return integer(reader_.number<int32_t>());
            case 'K':
                return integer(reader_.number<uint8_t>());
            case 'M':
                return integer(reader_.number<uint16_t>());
            case 0x8a:
                return long_integer(reader_.number<uint8_t>());
            case 0x8b:
                return long_integer(reader_.number<uint32_t>());
            case 'G':
                return real();
            case 0x8c:
                return text(Kind::kText, reader_.number<uint8_t>());
            case 'X':
                return text(Kind::kText, reader_.number<uint32_t>());
            case 0x8d:
                return text(Kind::kText, reader_.number<uint64_t>());
            // Python 2 pickled names as byte strings.
            case 'U':
                return text(Kind::kText, reader_.number<uint8_t>());
            case 'T':
                return text(Kind::kText, reader_.number<uint32_t>());
            case 'C':
                return text(Kind::kBytes, reader_.number<uint8_t>());
            case 'B':
                return text(Kind::kBytes, reader_.number<uint32_t>());
            case 0x8e:
                return text(Kind::kBytes, reader_.number<uint64_t>());
            case 0x96:
                return text(Kind::kBytes, reader_.number<uint64_t>());
            case ')':
                return make(Kind::kTuple, {});
            case ']':
                return make(Kind::kList, {});
            case '}':
                return make(Kind::kDict, {});
            case 0x8f:
                return make(Kind::kList, {});  // EMPTY_SET
            case 0x85:
                return tuple(1);
            case 0x86:
                return tuple(2);
            case 0x87:
                return tuple(3);
            case 't':
                return marked(Kind::kTuple);
            case 'l':
                return marked(Kind::kList);
            case 'd':
                return marked(Kind::kDict);
            case 0x91:
                return marked(Kind::kList);  // FROZENSET
            case 'a':
                return add(1, Kind::kList);
            case 's':
                return add(2, Kind::kDict);
            case 'e':
                return add_marked(Kind::kList);
            case 'u':
                return add_marked(Kind::kDict);
            case 0x90:
                return add_marked(Kind::kList);  // ADDITEMS
            case 'c':
                return global();
            case 0x93:
                return stack_global();
            case 'R':
                return call();
            case 0x81:
                return call();  // NEWOBJ
            case 'b':
                return build();
            case 'Q':
                return persistent();
            case 'q':
                return put(reader_.number<uint8_t>());
            case 'r':
                return put(reader_.number<uint32_t>());
            case 0x94:
                return put(static_cast<uint32_t>(memo_.size()));
            case 'h':
                return get(reader_.number<uint8_t>());
            case 'j':
                return get(reader_.number<uint32_t>());
            default: {
                constexpr char kDigits[] = "0123456789abcdef";
                return unsupported(std::string("pickle opcode 0x") + kDigits[opcode >> 4] +
                                   kDigits[opcode & 15]);
            }
        }
    }

    Status protocol() {
        const auto version = reader_.number<uint8_t>();
        if (version >= 2 && version <= 5) return {};
        return unsupported("pickle protocol " + std::to_string(version) + "; expected 2 to 5");
    }

    Status stop() {
        HEARTH_ASSIGN(pickle_.root, pop_value());
        done_ = true;
        return {};
    }

    // --- The stack.  Values below the last mark are not accessible.

    size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

    Status push(Id id) {
        stack_.push_back(id);
        return {};
    }
    Id add_value(PickleValue value) {
        pickle_.values.push_back(std::move(value));
        return static_cast<Id>(pickle_.values.size() - 1);
    }
    Status make(Kind kind, std::vector<Id> items) {
        return push(add_value({kind, 0, 0, {}, std::move(items)}));
    }
    Result<Id> pop_value() {
        if (stack_.size() == floor()) return corrupt_data("pops more values than the stack has");
        const Id id = stack_.back();
        stack_.pop_back();
        return id;
    }
    Status pop() {
        if (stack_.size() > floor()) return pop_value().status();
        return take_marked().status();  // POP also removes a mark
    }
    Status duplicate() {
        HEARTH_ASSIGN(const Id id, pop_value());
        stack_.push_back(id);
        return push(id);
    }
    Result<std::vector<Id>> take(size_t count) {
        if (stack_.size() - floor() < count)
            return corrupt_data("pops more values than the stack has");
        std::vector<Id> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
        stack_.resize(stack_.size() - count);
        return items;
    }
    Result<std::vector<Id>> take_marked() {
        if (marks_.empty()) return corrupt_data("needs a mark");
        HEARTH_ASSIGN(std::vector<Id> items, take(stack_.size() - floor()));
        marks_.pop_back();
        return items;
    }

    // --- Plain values

    Status integer(int64_t value) { return push(add_value({Kind::kInteger, value, 0, {}, {}})); }

    Status long_integer(uint64_t size) {
        const std::string_view bytes = reader_.text(size);
        if (bytes.size() > 8) return push(add_value({Kind::kBig, 0, 0, bytes, {}}));
        const bool is_negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
        int64_t value = is_negative ? -1 : 0;
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&value));
        return integer(value);
    }

    Status real() {
        // The only big-endian number of the format.
        const auto stored = reader_.number<uint64_t>();
        uint64_t bits = 0;
        for (int i = 0; i < 64; i += 8) bits = bits << 8 | (stored >> i & 0xff);
        return push(add_value({Kind::kReal, 0, std::bit_cast<double>(bits), {}, {}}));
    }

    Status text(Kind kind, uint64_t size) {
        return push(add_value({kind, 0, 0, reader_.text(size), {}}));
    }

    // --- Containers

    Status tuple(size_t count) {
        HEARTH_ASSIGN(std::vector<Id> items, take(count));
        return make(Kind::kTuple, std::move(items));
    }
    Status marked(Kind kind) {
        HEARTH_ASSIGN(std::vector<Id> items, take_marked());
        if (kind == Kind::kDict && items.size() % 2 != 0)
            return corrupt_data("a dictionary key has no value");
        return make(kind, std::move(items));
    }
    Status add(size_t count, Kind kind) {
        HEARTH_ASSIGN(const std::vector<Id> items, take(count));
        return add_items(items, kind);
    }
    Status add_marked(Kind kind) {
        HEARTH_ASSIGN(const std::vector<Id> items, take_marked());
        if (kind == Kind::kDict && items.size() % 2 != 0)
            return corrupt_data("a dictionary key has no value");
        return add_items(items, kind);
    }
    Status add_items(const std::vector<Id>& items, Kind kind) {
        if (stack_.size() == floor()) return corrupt_data("appends to an empty stack");
        PickleValue& to = pickle_.values[stack_.back()];
        if (to.kind != kind && to.kind != Kind::kCall)
            return corrupt_data("appends to a value that is not such a container");
        to.items.insert(to.items.end(), items.begin(), items.end());
        return {};
    }

    // --- Globals, and calls, which are recorded and not executed

    Status push_global(std::string_view module, std::string_view name_in_it) {
        constexpr size_t kLongest = 1024;  // a long memoized text may be used many times
        if (module.size() + name_in_it.size() > kLongest)
            return corrupt_data("refers to a class without a name");
        HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes, 64 + module.size() + name_in_it.size()));
        std::string name = std::string(module) + " " + std::string(name_in_it);
        names_.push_back(std::move(name));
        return push(add_value({Kind::kGlobal, 0, 0, names_.back(), {}}));
    }
    Status global() {
        const std::string_view module = reader_.line(), name = reader_.line();
        return push_global(module, name);
    }
    Status stack_global() {
        HEARTH_ASSIGN(const std::vector<Id> parts, take(2));
        const PickleValue &module = pickle_[parts[0]], &name = pickle_[parts[1]];
        if (module.kind != Kind::kText || name.kind != Kind::kText)
            return corrupt_data("names a class by a value that is not a string");
        return push_global(module.text, name.text);
    }
    Status call() {
        HEARTH_ASSIGN(std::vector<Id> parts, take(2));
        if (pickle_[parts[0]].kind != Kind::kGlobal)
            return corrupt_data("calls a value that is not a known function");
        if (pickle_[parts[1]].kind != Kind::kTuple)
            return corrupt_data("calls with arguments that are not a tuple");
        return make(Kind::kCall, std::move(parts));
    }
    /// BUILD sets an object's attributes, which are ignored.
    Status build() {
        HEARTH_TRY(pop_value().status());
        return stack_.size() == floor() ? corrupt_data("builds from an empty stack") : Status();
    }
    Status persistent() {
        HEARTH_ASSIGN(const Id id, pop_value());
        return make(Kind::kPersistent, {id});
    }

    // --- The memo

    Status put(uint32_t at) {
        if (stack_.size() == floor()) return corrupt_data("memoizes from an empty stack");
        memo_[at] = stack_.back();
        return {};
    }
    Status get(uint32_t at) {
        const auto found = memo_.find(at);
        if (found == memo_.end())
            return corrupt_data("recalls " + std::to_string(at) + ", which was never stored");
        return push(found->second);
    }

    ByteReader& reader_;
    Budget& budget_;
    uint64_t most_values_;
    Pickle pickle_;
    std::deque<std::string>& names_ = pickle_.names;
    std::vector<Id> stack_;
    std::vector<size_t> marks_;
    std::unordered_map<uint32_t, Id> memo_;
    bool done_ = false;
};

}  // namespace

Result<Pickle> read_pickle(ByteReader& reader, Budget& budget) {
    Result<Pickle> pickle = Machine(reader, budget).run();
    if (!pickle.ok()) return pickle.status().with_context("pickle");
    return pickle;
}

}  // namespace hearth

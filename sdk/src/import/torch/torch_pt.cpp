// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads .pt and .pth files, as written by torch.save.  Since PyTorch 1.6 a file is a zip archive:
// NAME/data.pkl holds a pickle in which tensors refer to storages, NAME/data/KEY the bytes of each
// storage.  Older files are a sequence of pickles - magic number, version, byte order, object, keys
// of the storages - followed by the storages, each with its length.  After torch/serialization.py
// and torch/_utils.py of PyTorch 2.1.

#include "core/out_of_memory.hpp"
#include "core/portable.hpp"
#include "import/archive/zip.hpp"
#include "import/torch/pickle.hpp"

#include <hearth/core/extents.hpp>
#include <hearth/weights.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace hearth {

namespace {

using Kind = PickleValue::Kind;
using Id = uint32_t;

/// Contents of storages, by key.
using Storages = std::unordered_map<std::string, std::span<const std::byte>>;

struct TorchType {
    std::string_view storage;  ///< class name of typed storages
    std::string_view dtype;
    DType type;
};

constexpr std::array<TorchType, 13> kTorchTypes = {{
    {"FloatStorage", "float32", DType::kF32},
    {"HalfStorage", "float16", DType::kF16},
    {"BFloat16Storage", "bfloat16", DType::kBF16},
    {"DoubleStorage", "float64", DType::kF64},
    {"CharStorage", "int8", DType::kI8},
    {"ByteStorage", "uint8", DType::kU8},
    {"ShortStorage", "int16", DType::kI16},
    {"", "uint16", DType::kU16},
    {"IntStorage", "int32", DType::kI32},
    {"", "uint32", DType::kU32},
    {"LongStorage", "int64", DType::kI64},
    {"", "uint64", DType::kU64},
    {"BoolStorage", "bool", DType::kBool},
}};

/// "name" of "module name", if the module is torch or one of its submodules.
std::optional<std::string_view> torch_name(std::string_view global) {
    const size_t space = global.find(' ');
    const std::string_view module = global.substr(0, space);
    if (module != "torch" && !module.starts_with("torch.")) return {};
    return global.substr(space + 1);
}

constexpr size_t kLongestName = 4096;

/// Collects the tensors of an object.
class TensorReader {
  public:
    /// left_out: receives the tensors that cannot be read; may be null.
    TensorReader(const Pickle& pickle, const Storages& storages, Budget& budget, LeftOut* left_out)
        : pickle_(pickle), storages_(storages), budget_(budget), left_out_(left_out) {}

    Result<NamedTensors> run() {
        HEARTH_TRY(visit(pickle_.root, "", 0));
        if (tensors_.empty() && !first_left_out_.ok()) return first_left_out_;
        return std::move(tensors_);
    }

  private:
    // Limits nesting: shared values may be nested, so that neither depth nor expanded size is
    // bounded by the file's size.
    static constexpr int kDeepest = 64;

    Status visit(Id id, const std::string& name, int depth) {
        if (depth > kDeepest) return out_of_range("nested deeper than " + std::to_string(kDeepest));
        if (Status s = budget_.spend(Budget::Of::kVisits); !s.ok())
            return s.with_context("its shared values expand to too many values");
        const PickleValue& v = pickle_[id];
        switch (v.kind) {
            case Kind::kDict:
                return visit_pairs(v.items, name, depth);
            case Kind::kList:
            case Kind::kTuple:
                for (size_t i = 0; i < v.items.size(); ++i)
                    HEARTH_TRY(visit_part(v.items[i], name, std::to_string(i), depth));
                return {};
            case Kind::kCall:
                return visit_call(v, name, depth);
            case Kind::kGlobal:
                if (torch_name(v.text)) return {};  // for example a dtype
                return unsupported("the class " + quoted(v.text) +
                                   "; save tensors, such as a state_dict");
            default:
                return {};
        }
    }

    Status visit_part(Id id, const std::string& outer, std::string_view inner, int depth) {
        const std::string prefix = outer.empty() ? "" : outer + ".";
        // Checked before copying: a long text may be the key of many values.
        if (prefix.size() + inner.size() > kLongestName) return out_of_range("a name is too long");
        return visit(id, prefix + std::string(inner), depth + 1);
    }

    Status visit_pairs(std::span<const Id> items, const std::string& name, int depth) {
        for (size_t i = 0; i + 1 < items.size(); i += 2) {
            const PickleValue& key = pickle_[items[i]];
            HEARTH_TRY(budget_.spend(Budget::Of::kVisits));
            // Values under other keys are skipped: they have no name.
            if (key.kind == Kind::kText)
                HEARTH_TRY(visit_part(items[i + 1], name, key.text, depth));
            else if (key.kind == Kind::kInteger)
                HEARTH_TRY(visit_part(items[i + 1], name, std::to_string(key.integer), depth));
        }
        return {};
    }

    Status visit_call(const PickleValue& call, const std::string& name, int depth) {
        const std::string_view callable = pickle_[call.items[0]].text;
        const std::span<const Id> arguments = pickle_[call.items[1]].items;
        const std::span<const Id> contents = std::span(call.items).subspan(2);
        if (callable == "collections OrderedDict" || callable == "collections defaultdict") {
            if (callable == "collections OrderedDict" && arguments.size() == 1)
                HEARTH_TRY(visit_pair_list(pickle_[arguments[0]], name, depth));
            if (contents.size() % 2 != 0) return corrupt_data("a dictionary key has no value");
            return visit_pairs(contents, name, depth);
        }
        if (callable == "torch Size" || callable == "torch device") return {};
        return rebuild(callable, arguments, name, depth);
    }

    /// A tensor from the function that makes it and the function's arguments.
    Status rebuild(std::string_view function, std::span<const Id> arguments,
                   const std::string& name, int depth) {
        const bool is_parameter = function == "torch._utils _rebuild_parameter" ||
                                  function == "torch._utils _rebuild_parameter_with_state";
        if (is_parameter && !arguments.empty()) return visit(arguments[0], name, depth + 1);
        if (function == "torch._utils _rebuild_tensor_v2" && arguments.size() >= 4)
            return add(name, arguments, {});
        if (function == "torch._utils _rebuild_tensor_v3" && arguments.size() >= 7)
            return add(name, arguments, arguments[6]);
        // nn.Buffer and subclasses of Parameter and Tensor: (function, class, its arguments, state).
        if (function == "torch._tensor _rebuild_from_type_v2" && arguments.size() >= 3 &&
            pickle_[arguments[0]].kind == Kind::kGlobal &&
            pickle_[arguments[2]].kind == Kind::kTuple) {
            if (depth > kDeepest)
                return out_of_range("nested deeper than " + std::to_string(kDeepest));
            HEARTH_TRY(budget_.spend(Budget::Of::kVisits));
            return rebuild(pickle_[arguments[0]].text, pickle_[arguments[2]].items, name,
                           depth + 1);
        }
        if (function.starts_with("torch._utils _rebuild_"))
            return leave_out(
                name, unsupported(quoted(name) + " is a tensor of a kind that " +
                                  quoted(function.substr(function.find(' ') + 1)) + " makes"));
        return unsupported("the class " + quoted(function) +
                           "; save tensors, such as a state_dict");
    }

    /// Names a tensor that cannot be read; the file's other tensors are read.
    Status leave_out(const std::string& name, const Status& reason) {
        HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes, 64 + 2 * name.size()));
        if (first_left_out_.ok()) first_left_out_ = reason;
        if (left_out_ != nullptr) left_out_->push_back({name, reason.message()});
        return {};
    }

    /// An OrderedDict as Python 2 pickled it: [[key, value], ...].
    Status visit_pair_list(const PickleValue& list, const std::string& name, int depth) {
        for (Id id : list.items) {
            HEARTH_TRY(budget_.spend(Budget::Of::kVisits));
            const PickleValue& pair = pickle_[id];
            if (pair.items.size() != 2) return corrupt_data("a dictionary key has no value");
            HEARTH_TRY(visit_pairs(pair.items, name, depth));
        }
        return {};
    }

    struct Storage {
        std::span<const std::byte> bytes;
        std::optional<DType> dtype;  ///< unset: untyped bytes
    };

    /// Resolves a storage reference: ('storage', class, key, location, element count).
    Result<Storage> storage_of(Id id) const {
        const PickleValue& reference = pickle_[id];
        if (reference.kind != Kind::kPersistent) return corrupt_data("has no storage");
        const PickleValue& tuple = pickle_[reference.items[0]];
        if (tuple.kind != Kind::kTuple || tuple.items.size() < 5 ||
            pickle_[tuple.items[0]].text != "storage")
            return corrupt_data("refers to a value that is not a storage");
        if (tuple.items.size() > 5 && pickle_[tuple.items[5]].kind != Kind::kNone)
            return unsupported("its storage is a view of another one; save contiguous tensors");
        const PickleValue &kind = pickle_[tuple.items[1]], &key = pickle_[tuple.items[2]];
        if (key.text.size() > kLongestName) return out_of_range("its storage's name is too long");
        const auto at = storages_.find(std::string(key.text));
        if (at == storages_.end())
            return corrupt_data("its storage " + quoted(key.text) + " is not in the file");
        Storage storage{at->second, {}};
        const std::optional<std::string_view> name =
            kind.kind == Kind::kGlobal ? torch_name(kind.text) : std::nullopt;
        if (name == "UntypedStorage") return storage;
        for (const TorchType& t : kTorchTypes)
            if (name && !t.storage.empty() && t.storage == *name) storage.dtype = t.type;
        if (!storage.dtype) return unsupported("elements of " + quoted(kind.text));
        return storage;
    }

    Result<std::vector<int64_t>> integers(Id id) const {
        std::vector<int64_t> list;
        const PickleValue* tuple = &pickle_[id];
        if (tuple->kind == Kind::kCall && pickle_[tuple->items[0]].text == "torch Size" &&
            pickle_[tuple->items[1]].items.size() == 1)
            tuple = &pickle_[pickle_[tuple->items[1]].items[0]];
        if (tuple->kind != Kind::kTuple && tuple->kind != Kind::kList)
            return corrupt_data("its shape is not a tuple");
        if (tuple->items.size() > static_cast<size_t>(kMaxRank))
            return unsupported("rank " + std::to_string(tuple->items.size()) + " is more than " +
                               std::to_string(kMaxRank));
        for (Id item : tuple->items) {
            if (pickle_[item].kind != Kind::kInteger)
                return corrupt_data("an extent is not an integer");
            list.push_back(pickle_[item].integer);
        }
        return list;
    }

    Status add(const std::string& name, std::span<const Id> arguments, std::optional<Id> dtype) {
        // The name may be long and is copied into the map.
        HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes, 2 * sizeof(HostTensor) + name.size()));
        Result<HostTensor> tensor = read(arguments, dtype);
        if (tensor.status().code() == StatusCode::kUnsupported)
            return leave_out(name, tensor.status().with_context("tensor " + quoted(name)));
        if (!tensor.ok()) return tensor.status().with_context("tensor " + quoted(name));
        if (!tensors_.emplace(name, std::move(*tensor)).second)
            return corrupt_data("two tensors are called " + quoted(name));
        return {};
    }

    /// The dtype given next to the storage, or else the storage's dtype.
    Result<DType> element_type(const Storage& storage, std::optional<Id> named) const {
        if (!named && storage.dtype) return *storage.dtype;
        if (!named) return corrupt_data("its storage has no element type");
        const PickleValue& name = pickle_[*named];
        for (const TorchType& t : kTorchTypes)
            if (name.kind == Kind::kGlobal && torch_name(name.text) == t.dtype) return t.type;
        return unsupported("elements of " + quoted(name.text));
    }

    /// Reads a tensor from (storage, offset, sizes, strides, ...).
    Result<HostTensor> read(std::span<const Id> arguments, std::optional<Id> dtype_id) {
        HEARTH_ASSIGN(const Storage storage, storage_of(arguments[0]));
        HEARTH_ASSIGN(const DType dtype, element_type(storage, dtype_id));
        const PickleValue& offset = pickle_[arguments[1]];
        if (offset.kind != Kind::kInteger || offset.integer < 0)
            return corrupt_data("its offset is negative or not an integer");
        HEARTH_ASSIGN(const std::vector<int64_t> extents, integers(arguments[2]));
        HEARTH_ASSIGN(const std::vector<int64_t> strides, integers(arguments[3]));
        HEARTH_ASSIGN(const Shape shape, checked_shape(extents));
        if (strides.size() != extents.size())
            return corrupt_data("has " + std::to_string(strides.size()) + " strides for " +
                                to_string(shape));
        return copy(storage.bytes, dtype, shape, offset.integer, strides);
    }

    Result<HostTensor> copy(std::span<const std::byte> from, DType dtype, const Shape& shape,
                            int64_t offset, std::span<const int64_t> strides) {
        const size_t size = size_bytes(dtype);
        const auto count = static_cast<uint64_t>(shape.element_count(1));
        const uint64_t held = from.size() / size;
        HEARTH_TRY(check_reach(held, shape, offset, strides));
        if (Status s = budget_.spend(Budget::Of::kCopiedBytes, count * size); !s.ok())
            return s.with_context(to_string(shape) + " and the tensors before it");
        HostTensor tensor(dtype, shape);
        if (is_contiguous(shape, strides)) {
            const auto run = from.subspan(count == 0 ? 0 : static_cast<size_t>(offset) * size);
            std::copy_n(run.begin(), count * size, tensor.bytes().begin());
        } else {
            copy_strided(from, tensor, offset, strides);
        }
        if (dtype == DType::kBool)
            for (int64_t i = 0; i < tensor.element_count(); ++i)
                tensor.set_int(i, tensor.get_int(i));
        return tensor;
    }

    static bool is_contiguous(const Shape& shape, std::span<const int64_t> strides) {
        int64_t expected = 1;
        for (size_t axis = strides.size(); axis-- > 0;) {
            const int64_t extent = shape[static_cast<int>(axis)].count;
            if (extent != 1 && strides[axis] != expected) return false;
            expected *= extent;
        }
        return true;
    }

    static void copy_strided(std::span<const std::byte> from, HostTensor& tensor, int64_t at,
                             std::span<const int64_t> strides) {
        const size_t size = size_bytes(tensor.dtype());
        std::vector<int64_t> coords(strides.size(), 0);
        std::byte* to = tensor.bytes().data();
        for (int64_t i = 0; i < tensor.element_count(); ++i, to += size) {
            std::copy_n(from.data() + static_cast<size_t>(at) * size, size, to);
            for (size_t axis = strides.size(); axis-- > 0;) {
                at += strides[axis];
                if (++coords[axis] < tensor.shape()[static_cast<int>(axis)].count) break;
                at -= strides[axis] * coords[axis];
                coords[axis] = 0;
            }
        }
    }

    /// Checks that all elements lie within a storage of `held` elements.
    static Status check_reach(uint64_t held, const Shape& shape, int64_t offset,
                              std::span<const int64_t> strides) {
        if (shape.element_count(1) == 0) return {};
        int64_t last = offset;
        for (size_t i = 0; i < strides.size(); ++i) {
            int64_t span = 0;
            if (strides[i] < 0 || strides[i] > kMaxExtent ||
                multiply_overflows(strides[i], shape[static_cast<int>(i)].count - 1, &span) ||
                add_overflows(last, span, &last))
                return corrupt_data("has a stride of " + std::to_string(strides[i]));
        }
        if (static_cast<uint64_t>(last) < held) return {};
        return corrupt_data("reaches element " + std::to_string(last) + " of a storage of " +
                            std::to_string(held));
    }

    const Pickle& pickle_;
    const Storages& storages_;
    NamedTensors tensors_;
    Budget& budget_;
    LeftOut* left_out_;
    Status first_left_out_;
};

/// Refuses archives that torch.jit.save and torch.export.save write: they hold programs.
Status refuse_programs(std::span<const std::string_view> names) {
    const auto has = [&](std::string_view part) {
        return std::ranges::any_of(names, [&](std::string_view name) {
            const size_t at = name.find(part);
            return at == 0 || (at != std::string_view::npos && name[at - 1] == '/');
        });
    };
    const std::string remedy =
        "; save its weights by torch.save(module.state_dict(), FILE), or export it to ONNX";
    if (has("constants.pkl") || has("code/"))
        return unsupported("it is a TorchScript archive of torch.jit.save" + remedy);
    if (has("models/model.json") || has("serialized_exported_program.json"))
        return unsupported("it is an archive of torch.export.save" + remedy);
    return {};
}

Result<NamedTensors> read_archive(std::span<const std::byte> bytes, LeftOut* left_out) {
    const Result<std::vector<std::string_view>> names = zip_names(bytes);
    if (!names.ok()) return names.status().with_context("zip archive");
    // Before the entries are read: code is compressed.
    HEARTH_TRY(refuse_programs(*names));
    Result<ZipEntries> entries = read_zip(bytes);
    if (!entries.ok()) return entries.status().with_context("zip archive");
    constexpr std::string_view kPickle = "data.pkl";
    const auto at = std::find_if(entries->begin(), entries->end(), [&](const auto& e) {
        return e.first.ends_with(kPickle) && (e.first.size() == kPickle.size() ||
                                              e.first[e.first.size() - kPickle.size() - 1] == '/');
    });
    if (at == entries->end())
        return corrupt_data("the archive has no data.pkl; expected a file of torch.save");
    const std::string folder = at->first.substr(0, at->first.size() - kPickle.size());
    if (const auto order = entries->find(folder + "byteorder"); order != entries->end())
        if (ByteReader(order->second).text(order->second.size()) != "little")
            return unsupported("it is big-endian; save it on a little-endian machine");
    Storages storages;
    const std::string data = folder + "data/";
    for (const auto& [name, contents] : *entries)
        if (name.starts_with(data)) storages[name.substr(data.size())] = contents;
    Budget budget(bytes.size());
    ByteReader reader(at->second);
    HEARTH_ASSIGN(const Pickle pickle, read_pickle(reader, budget));
    return TensorReader(pickle, storages, budget, left_out).run();
}

/// Element size in bytes of each storage that a pickle refers to.
std::unordered_map<std::string, uint64_t> element_sizes(const Pickle& pickle) {
    std::unordered_map<std::string, uint64_t> sizes;
    for (const PickleValue& v : pickle.values) {
        if (v.kind != Kind::kPersistent) continue;
        const PickleValue& tuple = pickle[v.items[0]];
        if (tuple.kind != Kind::kTuple || tuple.items.size() < 5) continue;
        const auto name = torch_name(pickle[tuple.items[1]].text);
        if (pickle[tuple.items[2]].text.size() > kLongestName) continue;
        uint64_t& size = sizes[std::string(pickle[tuple.items[2]].text)];
        size = 1;
        for (const TorchType& t : kTorchTypes)
            if (name && !t.storage.empty() && t.storage == *name) size = size_bytes(t.type);
        // Types that are left out have a size, too: the next storage follows.
        if (name == "ComplexFloatStorage") size = 8;
        if (name == "ComplexDoubleStorage") size = 16;
        if (name == "QInt32Storage") size = 4;
    }
    return sizes;
}

// PyTorch's magic number 0x1950a86a20f9469cfc6c, little-endian.
constexpr std::string_view kMagic{"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10};

Result<NamedTensors> read_legacy(std::span<const std::byte> bytes, LeftOut* left_out) {
    ByteReader reader(bytes);
    Budget budget(bytes.size());
    HEARTH_ASSIGN(const Pickle magic, read_pickle(reader, budget));
    if (magic[magic.root].kind != Kind::kBig || magic[magic.root].text != kMagic)
        return corrupt_data(
            "does not begin with PyTorch's magic number; expected a file of torch.save");
    HEARTH_ASSIGN(const Pickle version, read_pickle(reader, budget));
    if (version[version.root].integer != 1001)
        return unsupported("version " + std::to_string(version[version.root].integer));
    HEARTH_ASSIGN(const Pickle system, read_pickle(reader, budget));
    const PickleValue& facts = system[system.root];
    for (size_t i = 0; facts.kind == Kind::kDict && i + 1 < facts.items.size(); i += 2)
        if (system[facts.items[i]].text == "little_endian" &&
            system[facts.items[i + 1]].integer == 0)
            return unsupported("it is big-endian; save it on a little-endian machine");
    HEARTH_ASSIGN(const Pickle pickle, read_pickle(reader, budget));
    HEARTH_ASSIGN(const Pickle keys, read_pickle(reader, budget));
    const std::unordered_map<std::string, uint64_t> sizes = element_sizes(pickle);
    Storages storages;
    for (Id id : keys[keys.root].items) {
        if (keys[id].text.size() > kLongestName)
            return corrupt_data("a storage's name is too long");
        const std::string key(keys[id].text);
        const auto size = sizes.find(key);
        if (size == sizes.end()) return corrupt_data("nothing uses the storage " + quoted(key));
        const auto count = reader.number<uint64_t>();
        if (count > bytes.size())
            return corrupt_data("the storage " + quoted(key) + " is truncated");
        storages[key] = reader.take(count * size->second);
    }
    if (reader.failed()) return corrupt_data("its storages are truncated; copy the file again");
    return TensorReader(pickle, storages, budget, left_out).run();
}

}  // namespace

Result<NamedTensors> read_torch(std::span<const std::byte> bytes, LeftOut* left_out) {
    return or_out_of_memory([&]() -> Result<NamedTensors> {
        Result<NamedTensors> tensors =
            looks_like_zip(bytes) ? read_archive(bytes, left_out) : read_legacy(bytes, left_out);
        if (!tensors.ok()) return tensors.status().with_context("torch file");
        return tensors;
    });
}

}  // namespace hearth

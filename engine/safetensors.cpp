// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/safetensors.h"

#include "engine/error.h"
#include "engine/strict_json.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace palimpsest {

using nlohmann::json;

namespace {

constexpr std::int64_t kLengthBytes = 8;              // little-endian length of the JSON header in front of it
constexpr std::int64_t kMaxHeaderBytes = 100'000'000; // the format's own limit
constexpr std::size_t kMaxRank = 16;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void fail(const std::string &path, const std::string &message, const std::string &subject = {})
{
    throw Error(ErrorKind::InvalidCheckpoint, path + ": " + message, subject.empty() ? path : subject);
}

std::string_view asText(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// What people find in place of weights most often gets a message of its own.
void checkNotSomethingElse(std::span<const std::byte> file, const std::string &path)
{
    if (file.empty())
        fail(path, "the file is empty (0 bytes), wanted a safetensors file; download it again");
    const std::string_view text = asText(file);
    if (text.starts_with("version https://git-lfs.github.com/spec/"))
        fail(path, "this is a Git LFS pointer, fetch the real file (git lfs pull)");
    if (text.starts_with("<!DOCTYPE") || text.starts_with("<html"))
        fail(path, "this is a web page, not a safetensors file; download it again");
    if (text.starts_with("PK\x03\x04") || text.starts_with("GGUF"))
        throw Error(ErrorKind::Unsupported, path + ": this is a PyTorch or GGUF file, wanted a safetensors file", path);
}

std::int64_t headerLength(std::span<const std::byte> file, const std::string &path)
{
    if (std::ssize(file) < kLengthBytes)
        fail(path, "the file has " + std::to_string(file.size()) +
                       " bytes, a safetensors file at least 10; it is incomplete, download it again");
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
    const auto available = static_cast<std::uint64_t>(std::ssize(file) - kLengthBytes);
    if (length > kMaxHeaderBytes)
        fail(path, "found a header length of " + std::to_string(length) + " bytes, wanted at most " +
                       std::to_string(kMaxHeaderBytes) + "; this is not a safetensors file");
    if (length > available)
        fail(path, "the header should have " + std::to_string(length) + " bytes, but the file ends after " +
                       std::to_string(available) + "; it is incomplete, download it again");
    return static_cast<std::int64_t>(length);
}

/// Elements times element size, or nothing if that passes 64 bits.
std::optional<std::int64_t> tensorBytes(std::span<const std::int64_t> shape, Dtype dtype)
{
    std::int64_t total = dtypeSize(dtype);
    for (const std::int64_t extent : shape) {
        if (extent != 0 && total > kMaxInt64 / extent)
            return std::nullopt;
        total *= extent;
    }
    return total;
}

std::vector<std::int64_t> readShape(const JsonFields &fields)
{
    const json &shape = fields.require("shape", "a list of whole numbers");
    if (!shape.is_array() || shape.size() > kMaxRank)
        fields.fail("shape", describeJson(shape), "a list of at most " + std::to_string(kMaxRank) + " whole numbers");
    return fields.integerList("shape", {.min = 0, .max = kMaxInt64});
}

struct Placed
{
    SafetensorsEntry entry;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

Placed readEntry(const std::string &name, const json &value, const std::string &path)
{
    if (name.empty() || name.size() > kMaxNameBytes || hasControlCharacters(name))
        fail(path, "found the tensor name " + describeJson(name) + ", wanted 1 to " + std::to_string(kMaxNameBytes) +
                       " bytes without control characters");
    const JsonFields fields(value, path, name + ": ");
    Placed placed;
    placed.entry.name = name;
    const std::string dtype = fields.string("dtype");
    if (const auto known = dtypeFromName(dtype))
        placed.entry.dtype = *known;
    else
        throw Error(ErrorKind::Unsupported,
                    path + ": tensor " + name + " has the dtype " + describeJson(dtype) + ", which is not supported",
                    name);
    placed.entry.shape = readShape(fields);
    const std::vector<std::int64_t> offsets = fields.integerList("data_offsets", {.min = 0, .max = kMaxInt64});
    if (offsets.size() != 2 || offsets[0] > offsets[1])
        fields.fail("data_offsets", fields.has("data_offsets") ? fields.find("data_offsets")->dump() : "nothing",
                    "two offsets in ascending order");
    placed.begin = offsets[0];
    placed.end = offsets[1];
    const auto wanted = tensorBytes(placed.entry.shape, placed.entry.dtype);
    if (!wanted || *wanted != placed.end - placed.begin)
        fail(path,
             "tensor " + name + ": found " + std::to_string(placed.end - placed.begin) + " bytes, wanted " +
                 (wanted ? std::to_string(*wanted) : "more than 64 bits can count") + " for " + dtype + " " +
                 shapeText(placed.entry.shape),
             name);
    return placed;
}

/// The format allows neither gaps nor overlaps: with them a file could hide data, or lie about its size. `tensors` are
/// in the order of their bytes.
void checkCover(const std::vector<Placed> &tensors, std::int64_t dataBegin, std::int64_t fileBytes,
                const std::string &path)
{
    const std::int64_t dataBytes = fileBytes - dataBegin;
    std::int64_t covered = 0;
    for (const Placed &tensor : tensors) {
        if (tensor.begin != covered)
            fail(path,
                 "tensor " + tensor.entry.name + " begins at byte " + std::to_string(tensor.begin) +
                     " of the data, wanted " + std::to_string(covered) +
                     (tensor.begin < covered ? " (it overlaps another tensor)" : " (there is a gap before it)"),
                 tensor.entry.name);
        covered = tensor.end;
    }
    if (covered == dataBytes)
        return;
    const std::string sizes =
        "the file has " + std::to_string(fileBytes) + " bytes, its header wants " +
        std::to_string(static_cast<std::uint64_t>(dataBegin) + static_cast<std::uint64_t>(covered));
    fail(path, covered > dataBytes ? sizes + "; it is incomplete, download it again" : sizes);
}

} // namespace

std::vector<SafetensorsEntry> parseSafetensors(std::span<const std::byte> file, const std::string &path)
{
    checkNotSomethingElse(file, path);
    const std::int64_t header = headerLength(file, path);
    const auto data = file.subspan(static_cast<std::size_t>(kLengthBytes + header));
    const json document =
        parseStrictJson(asText(file.subspan(kLengthBytes, static_cast<std::size_t>(header))), path + " (header)");
    const JsonFields root(document, path + " (header)");

    std::vector<Placed> tensors;
    for (const auto &[name, value] : root.value().items()) {
        if (name != "__metadata__")
            tensors.push_back(readEntry(name, value, path));
    }
    std::sort(tensors.begin(), tensors.end(),
              [](const Placed &a, const Placed &b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    checkCover(tensors, kLengthBytes + header, std::ssize(file), path);

    std::vector<SafetensorsEntry> entries;
    entries.reserve(tensors.size());
    for (Placed &tensor : tensors) {
        tensor.entry.bytes =
            data.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
        entries.push_back(std::move(tensor.entry));
    }
    return entries;
}

std::string shapeText(std::span<const std::int64_t> shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

} // namespace palimpsest

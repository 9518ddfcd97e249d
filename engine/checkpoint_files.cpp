// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/checkpoint_files.h"

#include "engine/error.h"
#include "engine/safetensors.h"
#include "engine/strict_json.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

/// Of opening a model: some thirty headers of a large one, against a gigabyte of scales and zero points behind them.
constexpr double kHeadersShare = 0.1;
constexpr std::string_view kIndexName = "model.safetensors.index.json";

[[noreturn]] void throwDirectoryError(const fs::path &directory, const std::error_code &code)
{
    const std::string name = directory.string();
    if (code == std::errc::permission_denied || code == std::errc::operation_not_permitted)
        throw Error(ErrorKind::PermissionDenied, name + ": no permission to read the model folder", name);
    if (code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory)
        throw Error(ErrorKind::NotFound, name + ": the model folder is not there", name);
    throw Error(ErrorKind::Io, name + ": cannot read the model folder: " + code.message(), name);
}

bool isThere(const fs::path &path)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (code && status.type() != fs::file_type::not_found)
        throwDirectoryError(path.parent_path(), code);
    return status.type() != fs::file_type::not_found;
}

/// Names in the directory of the form PREFIX*.safetensors, sorted.
std::vector<std::string> namesLike(const fs::path &directory, std::string_view prefix)
{
    constexpr std::string_view kSuffix = ".safetensors";
    std::vector<std::string> names;
    std::error_code code;
    fs::directory_iterator entry(directory, code);
    while (!code && entry != fs::directory_iterator()) {
        std::string name = entry->path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(kSuffix))
            names.push_back(std::move(name));
        entry.increment(code);
    }
    if (code)
        throwDirectoryError(directory, code);
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::map<std::string, std::string>> readIndex(const fs::path &path)
{
    const auto text = readTextFile(path);
    if (!text)
        return std::nullopt;
    const nlohmann::json document = parseStrictJson(*text, path.string());
    const JsonFields fields = JsonFields(document, path.string()).object("weight_map");
    std::map<std::string, std::string> index;
    for (const auto &[tensor, file] : fields.value().items()) {
        if (hasControlCharacters(tensor))
            fields.fail(tensor, "this key", "the name of a tensor");
        index[tensor] = fields.string(tensor);
    }
    if (index.empty())
        throw Error(ErrorKind::InvalidCheckpoint, path.string() + ": field weight_map names no file", path.string());
    return index;
}

/// Differences that do no harm, since tensors are found by the files' own headers.
void compareWithIndex(const std::map<std::string, std::string> &index, std::span<const TensorView> tensors,
                      std::vector<std::string> &warnings)
{
    std::map<std::string, std::string> unseen = index;
    std::set<std::string> indexedFiles;
    for (const auto &[tensor, file] : index)
        indexedFiles.insert(file);
    std::vector<std::string> unlisted;
    for (const TensorView &tensor : tensors) {
        const std::string file = tensor.file.filename().string();
        const auto found = unseen.find(tensor.name);
        if (found != unseen.end() && found->second == file)
            unseen.erase(found);
        else if (indexedFiles.contains(file))
            unlisted.push_back(tensor.name);
    }
    std::vector<std::string> missing;
    for (const auto &[tensor, file] : unseen)
        missing.push_back(tensor);
    if (!unlisted.empty())
        warnings.push_back("Tensors that " + std::string(kIndexName) +
                           " does not name, or not in the file they are in: " + countAndExamples(unlisted) + ".");
    if (!missing.empty())
        warnings.push_back("Tensors that are not in the file that " + std::string(kIndexName) +
                           " names: " + countAndExamples(missing) + ".");
}

} // namespace

void requireDirectory(const fs::path &directory)
{
    std::error_code code;
    const fs::file_status status = fs::status(directory, code);
    if (code || !fs::exists(status))
        throwDirectoryError(directory, code);
    if (!fs::is_directory(status))
        throw Error(ErrorKind::InvalidCheckpoint, directory.string() + ": found a file, wanted a model folder",
                    directory.string());
}

std::optional<std::string> readTextFile(const fs::path &path)
{
    constexpr std::size_t kLargest = 64U << 20U; // an index of 100,000 tensors has about 10 MiB
    if (!isThere(path))
        return std::nullopt;
    const MappedFile file = MappedFile::open(path);
    const std::string name = path.string();
    if (file.bytes().empty())
        throw Error(ErrorKind::InvalidCheckpoint, name + ": the file is empty (0 bytes); download it again", name);
    if (file.bytes().size() > kLargest)
        throw Error(ErrorKind::InvalidCheckpoint,
                    name + ": found " + std::to_string(file.bytes().size()) + " bytes, wanted at most " +
                        std::to_string(kLargest),
                    name);
    std::string text(reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size());
    if (text.starts_with("version https://git-lfs.github.com/spec/"))
        throw Error(ErrorKind::InvalidCheckpoint,
                    name + ": this is a Git LFS pointer, fetch the real file (git lfs pull)", name);
    return text;
}

void requireFiles(const fs::path &directory, std::span<const std::string> names, const fs::path &source)
{
    const std::set<std::string> unique(names.begin(), names.end()); // a map names each file many times
    for (const std::string &name : unique) {
        if (name.empty() || fs::path(name).filename() != name || name == "." || name == ".." ||
            hasControlCharacters(name))
            throw Error(ErrorKind::InvalidCheckpoint,
                        source.string() + ": field weight_map: found " + describeJson(name) +
                            ", wanted the name of a file in the same folder",
                        source.string());
        if (!isThere(directory / name))
            throw Error(ErrorKind::InvalidCheckpoint,
                        (directory / name).string() + ": the file is missing (" + source.filename().string() +
                            " names it); the model is incomplete, download it again",
                        (directory / name).string());
    }
}

WeightFileList listWeightFiles(const fs::path &directory, std::vector<std::string> &warnings)
{
    const fs::path indexPath = directory / kIndexName;
    WeightFileList list;
    list.index = readIndex(indexPath);
    std::vector<std::string> names = namesLike(directory, "model");
    if (list.index) {
        std::set<std::string> indexed;
        for (const auto &[tensor, file] : *list.index)
            indexed.insert(file);
        for (const std::string &name : names) {
            if (!indexed.contains(name))
                warnings.push_back("The file " + name + " is not named by " + std::string(kIndexName) +
                                   " and is left alone.");
        }
        names.assign(indexed.begin(), indexed.end());
        requireFiles(directory, names, indexPath);
    }
    for (const std::string &name : namesLike(directory, "experts_")) {
        if (std::find(names.begin(), names.end(), name) == names.end()) // an index may name them too
            names.push_back(name);
    }
    if (names.empty())
        throw Error(ErrorKind::InvalidCheckpoint,
                    directory.string() + ": there is no model*.safetensors file; this is not a complete model folder",
                    directory.string());
    for (const std::string &name : names)
        list.paths.push_back(directory / name);
    return list;
}

WeightFiles mapWeightFiles(const WeightFileList &list, ReadMeter &meter, std::vector<std::string> &warnings)
{
    WeightFiles result;
    for (const fs::path &path : list.paths) {
        meter.begin(
            kHeadersShare * static_cast<double>(result.files.size() + 1) / static_cast<double>(list.paths.size()), 0);
        MappedFile file = MappedFile::open(path);
        std::vector<SafetensorsEntry> entries = parseSafetensors(file.bytes(), path.string());
        result.files.push_back({path, std::ssize(file.bytes()), std::ssize(entries)});
        for (SafetensorsEntry &entry : entries)
            result.tensors.push_back({.name = std::move(entry.name),
                                      .dtype = entry.dtype,
                                      .shape = std::move(entry.shape),
                                      .bytes = entry.bytes,
                                      .file = path});
        result.mappings.push_back(std::move(file));
    }
    if (list.index)
        compareWithIndex(*list.index, result.tensors, warnings);
    return result;
}

std::string countAndExamples(std::span<const std::string> names)
{
    constexpr std::size_t kShown = 3;
    std::string text = std::to_string(names.size()) + " (";
    for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    return text + (names.size() > kShown ? ", ...)" : ")");
}

} // namespace palimpsest

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/checkpoint.h"
#include "engine/checkpoint_report.h"
#include "engine/error.h"
#include "engine/expert_tensors.h"
#include "engine/safetensors.h"
#include "engine/tensor_inventory.h"
#include "tests/support/tiny_checkpoint.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

// The first byte of an input says what the rest is, so that one corpus serves all files of a model folder. The only
// exception that may come out of anything is palimpsest::Error.

using namespace palimpsest;

namespace {

/// A claim that must hold after a successful parse; assert would vanish in a release build.
void require(bool claim, const char *text)
{
    if (claim)
        return;
    std::fprintf(stderr, "broken promise: %s\n", text);
    std::abort();
}

void checkEntries(const std::vector<SafetensorsEntry> &entries, std::span<const std::byte> file)
{
    std::size_t total = 0;
    for (const SafetensorsEntry &entry : entries) {
        std::int64_t elements = 1;
        for (const std::int64_t extent : entry.shape)
            elements *= extent; // cannot overflow: the product was checked
        require(elements * dtypeSize(entry.dtype) == std::ssize(entry.bytes), "bytes match dtype and shape");
        require(entry.bytes.empty() || (entry.bytes.data() >= file.data() &&
                                        entry.bytes.data() + entry.bytes.size() <= file.data() + file.size()),
                "bytes lie inside the file");
        total += entry.bytes.size();
    }
    require(total < file.size(), "tensors do not overlap");
}

void parseFile(std::string_view file)
{
    const auto bytes = std::as_bytes(std::span(file));
    checkEntries(parseSafetensors(bytes, "fuzzed"), bytes);
}

/// The rest is "SIZE HEADER": mutating the JSON alone keeps the length in front of it right.
void parseHeader(std::string_view text)
{
    if (text.size() < 2)
        return;
    const std::size_t dataBytes =
        static_cast<std::uint8_t>(text[0]) + 256U * (static_cast<std::uint8_t>(text[1]) & 0xFU);
    const std::string_view header = text.substr(2);
    std::string file;
    for (unsigned shift = 0; shift < 64; shift += 8)
        file.push_back(static_cast<char>(header.size() >> shift));
    file += header;
    file.append(dataBytes, '\x3c');
    parseFile(file);
}

void parseConfig(std::string_view text)
{
    const ModelConfig config = parseModelConfig(text, "fuzzed");
    require(config.hiddenSize > 0 && config.canvasLength > 0 && config.canvasLength <= config.maxPositions, "sizes");
    require(config.expertsPerToken <= config.expertCount, "experts");
    for (const LayerConfig &layer : config.layers) {
        require(layer.kvHeads > 0 && config.attentionHeads % layer.kvHeads == 0, "heads divide");
        require(layer.rotatedPairs >= 0 && layer.rotatedPairs <= layer.headDim / 2, "rotated pairs");
    }
    for (const TensorSpec &spec : requiredTensors(config)) {
        for (const std::int64_t extent : spec.shape)
            require(extent > 0, "extents are positive");
    }
}

/// A model folder whose files are those of the tiny checkpoint, but for one.
class Folder
{
public:
    Folder() : m_path(std::filesystem::temp_directory_path() / "palimpsest-fuzz-XXXXXX")
    {
        std::string pattern = m_path.string();
        require(mkdtemp(pattern.data()) != nullptr, "a temporary folder");
        m_path = pattern;
        test::TinyCheckpoint().write(m_path);
    }
    ~Folder() { std::filesystem::remove_all(m_path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    void openWith(const char *name, std::string_view content) const
    {
        const std::filesystem::path file = m_path / name;
        const bool wasThere = std::filesystem::exists(file);
        const std::string before = wasThere ? test::readFile(file) : std::string();
        test::writeFile(file, content);
        open();
        if (wasThere)
            test::writeFile(file, before);
        else
            std::filesystem::remove(file);
    }

private:
    void open() const
    {
        try {
            const auto checkpoint = Checkpoint::open(m_path);
            const CheckpointReport report = makeCheckpointReport(*checkpoint);
            require(report.tensors.size() == checkpoint->allTensors().size(), "the report is complete");
        } catch (const Error &error) {
            require(!std::string_view(error.what()).empty(), "an error says something");
        }
    }

    std::filesystem::path m_path;
};

void openHeader(const Folder &folder, std::string_view header)
{
    // The data of the tiny checkpoint's expert file behind a header of the fuzzer's.
    static const test::TinyCheckpoint model;
    const auto &tensors = model.weights.at("experts_00001.safetensors");
    std::string file;
    for (unsigned shift = 0; shift < 64; shift += 8)
        file.push_back(static_cast<char>(header.size() >> shift));
    file += header;
    for (const auto &[name, tensor] : tensors)
        file.append(tensor.bytes.begin(), tensor.bytes.end());
    folder.openWith("experts_00001.safetensors", file);
}

void run(char kind, std::string_view text)
{
    static const Folder folder;
    static const ModelConfig model = parseModelConfig(test::TinyCheckpoint().config.dump(), "tiny");
    switch (kind) {
    case 'S':
        return parseFile(text);
    case 'H':
        return parseHeader(text);
    case 'C':
        return parseConfig(text);
    case 'G':
        (void)parseGenerationDefaults(text, "fuzzed", model);
        return;
    case 'W':
        (void)checkW4Meta(text, "fuzzed", model);
        return;
    case 'I':
        return folder.openWith("model.safetensors.index.json", text);
    case 'F':
        return folder.openWith("config.json", text);
    case 'E':
        return openHeader(folder, text);
    default:
        return;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    try {
        run(input.front(), input.substr(1));
    } catch (const Error &error) {
        require(!std::string_view(error.what()).empty() && !error.subject().empty(), "an error says what and where");
    }
    return 0;
}

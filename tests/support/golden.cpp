// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/golden.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace palimpsest::test {

namespace {

std::vector<char> readFile(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read the fixture " + path.string());
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename Element>
std::vector<std::int64_t> widened(const std::vector<std::byte> &bytes)
{
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(Element));
    return {elements.begin(), elements.end()};
}

template <typename Element>
std::vector<Element> narrowed(const std::vector<std::int64_t> &wide)
{
    std::vector<Element> elements;
    elements.reserve(wide.size());
    for (const std::int64_t value : wide) {
        elements.push_back(static_cast<Element>(value));
    }
    return elements;
}

} // namespace

std::filesystem::path goldenFolder()
{
    const char *const chosen = std::getenv("PALIMPSEST_GOLDEN");
    if (chosen != nullptr && *chosen != '\0') {
        return chosen;
    }
    return std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "tests" / "golden";
}

nlohmann::json goldenJson(const std::filesystem::path &relative)
{
    const std::vector<char> text = readFile(goldenFolder() / relative);
    return nlohmann::json::parse(text.begin(), text.end());
}

GoldenTensors GoldenTensors::load(const std::filesystem::path &relative)
{
    const std::filesystem::path path = goldenFolder() / relative;
    const std::vector<char> file = readFile(path);
    std::uint64_t headerBytes = 0;
    if (file.size() < sizeof headerBytes) {
        throw std::runtime_error("not a safetensors file: " + path.string());
    }
    std::memcpy(&headerBytes, file.data(), sizeof headerBytes);
    if (headerBytes > file.size() - sizeof headerBytes) {
        throw std::runtime_error("truncated header: " + path.string());
    }
    const char *const headerBegin = file.data() + sizeof headerBytes;
    const char *const dataBegin = headerBegin + headerBytes;
    const auto dataBytes = static_cast<std::uint64_t>(file.data() + file.size() - dataBegin);
    const nlohmann::json header = nlohmann::json::parse(headerBegin, dataBegin);

    GoldenTensors result;
    for (const auto &[name, entry] : header.items()) {
        if (name == "__metadata__") {
            continue;
        }
        const auto begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
        const auto end = entry.at("data_offsets").at(1).get<std::uint64_t>();
        if (begin > end || end > dataBytes) {
            throw std::runtime_error("tensor " + name + " lies outside " + path.string());
        }
        Tensor tensor{entry.at("dtype"), entry.at("shape"), std::vector<std::byte>(end - begin)};
        std::memcpy(tensor.bytes.data(), dataBegin + begin, end - begin);
        result.m_tensors.emplace(name, std::move(tensor));
    }
    return result;
}

bool GoldenTensors::contains(std::string_view name) const
{
    return m_tensors.find(name) != m_tensors.end();
}

const GoldenTensors::Tensor &GoldenTensors::tensor(std::string_view name) const
{
    const auto found = m_tensors.find(name);
    if (found == m_tensors.end()) {
        throw std::runtime_error("the fixture has no tensor " + std::string(name));
    }
    return found->second;
}

std::vector<float> GoldenTensors::floats(std::string_view name) const
{
    const Tensor &found = tensor(name);
    if (found.dtype != "F32") {
        throw std::runtime_error(std::string(name) + " is " + found.dtype + ", not F32");
    }
    std::vector<float> elements(found.bytes.size() / sizeof(float));
    std::memcpy(elements.data(), found.bytes.data(), elements.size() * sizeof(float));
    return elements;
}

std::vector<std::int64_t> GoldenTensors::integers(std::string_view name) const
{
    const Tensor &found = tensor(name);
    if (found.dtype == "I64") {
        return widened<std::int64_t>(found.bytes);
    }
    if (found.dtype == "I32") {
        return widened<std::int32_t>(found.bytes);
    }
    if (found.dtype == "U8" || found.dtype == "BOOL") {
        return widened<std::uint8_t>(found.bytes);
    }
    throw std::runtime_error(std::string(name) + " is " + found.dtype + ", not an integer type");
}

std::vector<std::int32_t> GoldenTensors::ids(std::string_view name) const
{
    return narrowed<std::int32_t>(integers(name));
}

std::vector<std::uint8_t> GoldenTensors::bytes(std::string_view name) const
{
    return narrowed<std::uint8_t>(integers(name));
}

} // namespace palimpsest::test

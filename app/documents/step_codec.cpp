// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/step_codec.h"

#include "engine/error.h"

#include <QByteArray>

#include <bit>
#include <cmath>

namespace palimpsest::documents {

namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::uint32_t kMostUnpackedBytes = 256U << 20; ///< a damaged length must not ask for all memory
constexpr std::size_t kBytesPerPosition = 4 + 4 + 1;     ///< id, argmax, entropy; masks come on top

[[noreturn]] void throwDamaged()
{
    throw Error(ErrorKind::InvalidInput, "document store: a record of denoising steps is damaged", "run_steps");
}

class Writer
{
public:
    void byte(std::uint32_t value) { m_bytes.push_back(static_cast<char>(value & 0xFFU)); }
    void integer(std::uint32_t value)
    {
        for (int shift = 0; shift < 32; shift += 8)
            byte(value >> shift);
    }
    /// All lowest bytes, then all second ones, and so on.
    void planes(const std::vector<std::uint32_t> &values)
    {
        for (int shift = 0; shift < 32; shift += 8) {
            for (const std::uint32_t value : values)
                byte(value >> shift);
        }
    }
    void bits(const std::vector<std::uint8_t> &values)
    {
        for (std::size_t begin = 0; begin < values.size(); begin += 8) {
            std::uint32_t packed = 0;
            for (std::size_t bit = 0; bit < 8 && begin + bit < values.size(); ++bit)
                packed |= (values[begin + bit] != 0 ? 1U : 0U) << bit;
            byte(packed);
        }
    }
    [[nodiscard]] const std::string &bytes() const noexcept { return m_bytes; }

private:
    std::string m_bytes;
};

class Reader
{
public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) {}

    [[nodiscard]] std::uint32_t byte()
    {
        if (m_position >= m_bytes.size())
            throwDamaged();
        return static_cast<unsigned char>(m_bytes[m_position++]);
    }
    [[nodiscard]] std::uint32_t integer()
    {
        std::uint32_t value = 0;
        for (int shift = 0; shift < 32; shift += 8)
            value |= byte() << shift;
        return value;
    }
    [[nodiscard]] std::vector<std::uint32_t> planes(std::size_t count)
    {
        std::vector<std::uint32_t> values(count);
        for (int shift = 0; shift < 32; shift += 8) {
            for (std::uint32_t &value : values)
                value |= byte() << shift;
        }
        return values;
    }
    [[nodiscard]] std::vector<std::uint8_t> bits(std::size_t count)
    {
        std::vector<std::uint8_t> values(count);
        for (std::size_t begin = 0; begin < count; begin += 8) {
            const std::uint32_t packed = byte();
            for (std::size_t bit = 0; bit < 8 && begin + bit < count; ++bit)
                values[begin + bit] = (packed >> bit) & 1U;
        }
        return values;
    }
    [[nodiscard]] std::size_t rest() const noexcept { return m_bytes.size() - m_position; }

private:
    std::string_view m_bytes;
    std::size_t m_position = 0;
};

void requireUniform(std::span<const StepRecord> steps)
{
    std::int32_t last = 0;
    for (const StepRecord &step : steps) {
        const std::size_t positions = steps.front().ids.size();
        const bool fits = step.ids.size() == positions && step.argmax.size() == positions &&
                          step.entropiesNats.size() == positions && step.accepted.size() == positions &&
                          (step.frozen.empty() || step.frozen.size() == positions);
        if (!fits || step.step <= last) {
            throw Error(ErrorKind::InvalidArgument,
                        "denoising history: step " + std::to_string(step.step) +
                            " does not follow the one before, or its lists differ in length",
                        "steps");
        }
        last = step.step;
    }
}

/// Argmax of each step against the step before, and ids against the argmax.
struct Differences
{
    std::vector<std::uint32_t> argmax;
    std::vector<std::uint32_t> ids;
};

Differences differencesOf(std::span<const StepRecord> steps)
{
    Differences made;
    const StepRecord *before = nullptr;
    for (const StepRecord &step : steps) {
        for (std::size_t position = 0; position < step.ids.size(); ++position) {
            const auto argmax = static_cast<std::uint32_t>(step.argmax[position]);
            made.argmax.push_back(argmax ^ (before ? static_cast<std::uint32_t>(before->argmax[position]) : 0U));
            made.ids.push_back(static_cast<std::uint32_t>(step.ids[position]) ^ argmax);
        }
        before = &step;
    }
    return made;
}

void putTogether(std::vector<StepRecord> &steps, const Differences &differences)
{
    std::size_t index = 0;
    const StepRecord *before = nullptr;
    for (StepRecord &step : steps) {
        for (std::size_t position = 0; position < step.ids.size(); ++position, ++index) {
            const std::uint32_t argmax =
                differences.argmax[index] ^ (before ? static_cast<std::uint32_t>(before->argmax[position]) : 0U);
            step.argmax[position] = static_cast<std::int32_t>(argmax);
            step.ids[position] = static_cast<std::int32_t>(differences.ids[index] ^ argmax);
        }
        before = &step;
    }
}

} // namespace

std::uint8_t quantisedEntropy(float nats) noexcept
{
    if (!(nats > 0.0F)) // also what is not a number
        return 0;
    const float scaled = std::sqrt(std::min(nats, kHighestKeptEntropyNats) / kHighestKeptEntropyNats);
    return static_cast<std::uint8_t>(std::lround(255.0F * scaled));
}

float entropyOfQuantised(std::uint8_t quantised) noexcept
{
    const float scaled = static_cast<float>(quantised) / 255.0F;
    return scaled * scaled * kHighestKeptEntropyNats;
}

std::string packSteps(std::span<const StepRecord> steps)
{
    requireUniform(steps);
    Writer writer;
    writer.byte(kFormat);
    writer.integer(static_cast<std::uint32_t>(steps.size()));
    writer.integer(steps.empty() ? 0U : static_cast<std::uint32_t>(steps.front().ids.size()));
    for (const StepRecord &step : steps) {
        writer.integer(static_cast<std::uint32_t>(step.step));
        writer.integer(std::bit_cast<std::uint32_t>(step.meanEntropyNats));
        writer.integer(std::bit_cast<std::uint32_t>(step.stepMs));
        writer.byte(step.frozen.empty() ? 0 : 1);
    }
    const Differences differences = differencesOf(steps);
    writer.planes(differences.argmax);
    writer.planes(differences.ids);
    for (const StepRecord &step : steps) {
        for (const float entropy : step.entropiesNats)
            writer.byte(quantisedEntropy(entropy));
    }
    for (const StepRecord &step : steps)
        writer.bits(step.accepted);
    for (const StepRecord &step : steps)
        writer.bits(step.frozen);
    const std::string &bytes = writer.bytes();
    return qCompress(reinterpret_cast<const uchar *>(bytes.data()), static_cast<qsizetype>(bytes.size())).toStdString();
}

std::vector<StepRecord> unpackSteps(std::string_view record)
{
    std::uint32_t length = 0; // qCompress puts it in front, its highest byte first
    for (std::size_t index = 0; index < 4 && index < record.size(); ++index)
        length = length << 8 | static_cast<unsigned char>(record[index]);
    if (record.size() < 4 || length == 0 || length > kMostUnpackedBytes)
        throwDamaged();
    const QByteArray bytes =
        qUncompress(reinterpret_cast<const uchar *>(record.data()), static_cast<qsizetype>(record.size()));
    Reader reader({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    if (reader.byte() != kFormat)
        throwDamaged();
    const std::size_t count = reader.integer();
    const std::size_t positions = reader.integer();
    if (count > reader.rest() || (positions != 0 && count > reader.rest() / (positions * kBytesPerPosition)))
        throwDamaged();

    std::vector<StepRecord> steps(count);
    for (StepRecord &step : steps) {
        step.step = static_cast<std::int32_t>(reader.integer());
        step.meanEntropyNats = std::bit_cast<float>(reader.integer());
        step.stepMs = std::bit_cast<float>(reader.integer());
        step.frozen.resize(reader.byte() != 0 ? positions : 0);
        step.ids.resize(positions);
        step.argmax.resize(positions);
        step.entropiesNats.resize(positions);
    }
    Differences differences;
    differences.argmax = reader.planes(count * positions);
    differences.ids = reader.planes(count * positions);
    putTogether(steps, differences);
    for (StepRecord &step : steps) {
        for (float &entropy : step.entropiesNats)
            entropy = entropyOfQuantised(static_cast<std::uint8_t>(reader.byte()));
    }
    for (StepRecord &step : steps)
        step.accepted = reader.bits(positions);
    for (StepRecord &step : steps)
        step.frozen = reader.bits(step.frozen.size());
    if (reader.rest() != 0)
        throwDamaged();
    return steps;
}

} // namespace palimpsest::documents

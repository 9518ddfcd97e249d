// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/api_keys.h"

#include "app/server/http/ascii.h"
#include "engine/error.h"

#include <QByteArrayView>
#include <QCryptographicHash>
#include <QRandomGenerator>
#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>

namespace palimpsest::http {

namespace {

constexpr std::string_view kStoredPrefix = "sha256:";
constexpr std::size_t kDigestBytes = 32;

std::string digestOf(std::string_view salt, std::string_view key)
{
    QCryptographicHash hash(QCryptographicHash::Sha256);
    hash.addData(QByteArrayView(salt.data(), std::ssize(salt)));
    hash.addData(QByteArrayView(key.data(), std::ssize(key)));
    return hash.result().toStdString();
}

std::string freshSalt()
{
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), std::ssize(words));
    std::string salt;
    for (const quint32 word : words) {
        for (unsigned shift = 0; shift < 32; shift += 8)
            salt += static_cast<char>((word >> shift) & 0xFFU);
    }
    return salt;
}

bool equalInConstantTime(std::string_view a, std::string_view b)
{
    unsigned difference = a.size() == b.size() ? 0U : 1U;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
    return difference == 0;
}

std::optional<std::string> bytesOfHex(std::string_view hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        const int high = hexValue(hex[i]);
        const int low = hexValue(hex[i + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return hex.size() % 2 == 0 ? std::optional(bytes) : std::nullopt;
}

std::string hexOf(std::string_view bytes)
{
    return QByteArray(bytes.data(), std::ssize(bytes)).toHex().toStdString();
}

} // namespace

void ApiKeys::add(std::string_view key)
{
    const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (key.empty() || !visible) {
        throw Error(ErrorKind::InvalidArgument,
                    "an API key consists of visible ASCII characters, without blanks; the given one does not",
                    "api-key");
    }
    std::string salt = freshSalt();
    std::string digest = digestOf(salt, key);
    m_entries.push_back({std::move(salt), std::move(digest)});
}

std::string ApiKeys::freshKey()
{
    constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789"; // 32, none of which looks like another
    constexpr int kCount = 32;                                                // 160 bits
    std::string key = "pal-";
    for (int i = 0; i < kCount; ++i)
        key += kLetters[QRandomGenerator::system()->bounded(static_cast<quint32>(kLetters.size()))];
    return key;
}

std::string ApiKeys::storedForm(std::string_view key)
{
    const std::string salt = freshSalt();
    return std::string(kStoredPrefix) + hexOf(salt) + ":" + hexOf(digestOf(salt, key));
}

void ApiKeys::addStored(std::string_view line, const std::string &place)
{
    line.remove_prefix(line.starts_with(kStoredPrefix) ? kStoredPrefix.size() : line.size());
    const std::size_t colon = std::min(line.find(':'), line.size());
    const auto salt = bytesOfHex(line.substr(0, colon));
    const auto digest = bytesOfHex(line.substr(std::min(colon + 1, line.size())));
    if (!salt || !digest || digest->size() != kDigestBytes) {
        throw Error(ErrorKind::InvalidArgument,
                    place + ": a stored key is sha256:SALT:DIGEST, both in hexadecimal, the digest of 64 digits",
                    place);
    }
    m_entries.push_back({*salt, *digest});
}

void ApiKeys::addFile(const std::filesystem::path &file)
{
    std::error_code problem;
    if (!std::filesystem::exists(file, problem))
        throw Error(ErrorKind::NotFound, file.string() + ": there is no such file of API keys", file.string());
    std::ifstream stream(file);
    if (!stream)
        throw Error(ErrorKind::PermissionDenied, file.string() + ": may not be read", file.string());
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
            line.pop_back();
        if (line.empty() || line.front() == '#')
            continue;
        const std::string place = file.string() + ", line " + std::to_string(number);
        if (line.starts_with(kStoredPrefix)) {
            addStored(line, place);
            continue;
        }
        try {
            add(line);
        } catch (const Error &error) {
            throw Error(error.kind(), place + ": " + error.what(), place);
        }
    }
    if (stream.bad())
        throw Error(ErrorKind::Io, file.string() + ": reading it failed", file.string());
    if (m_entries.empty())
        throw Error(ErrorKind::InvalidArgument, file.string() + ": there is no API key in it", file.string());
}

std::optional<std::string> ApiKeys::holder(std::string_view key) const
{
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < m_entries.size(); ++i) { // all of them, always
        if (equalInConstantTime(digestOf(m_entries[i].salt, key), m_entries[i].digest))
            found = i;
    }
    return found ? std::optional("key-" + std::to_string(*found + 1)) : std::nullopt;
}

} // namespace palimpsest::http

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_store.h"
#include "app/documents/store_error.h"
#include "engine/error.h"

#include <QTemporaryDir>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace palimpsest::test {

/// A store in a folder of its own, with a clock that moves by a millisecond at each look.
class StoreFixture
{
public:
    [[nodiscard]] std::filesystem::path file() const { return folder() / "documents.sqlite"; }
    [[nodiscard]] std::filesystem::path folder() const { return m_folder.path().toStdString(); }
    [[nodiscard]] documents::StoreOptions options()
    {
        return {.file = file(),
                .busyTimeout = std::chrono::milliseconds(5000),
                .historyCapBytes = 32LL << 20,
                .nowMs = [this] { return ++m_nowMs; },
                .schema = {}};
    }
    std::unique_ptr<documents::DocumentStore> open() { return std::make_unique<documents::DocumentStore>(options()); }
    [[nodiscard]] std::int64_t nowMs() const noexcept { return m_nowMs; }

private:
    QTemporaryDir m_folder;
    std::int64_t m_nowMs = 1'700'000'000'000;
};

/// The error that a call ends with; throws if there is none.
template <typename Call>
ErrorKind kindOf(const Call &call)
{
    try {
        call();
    } catch (const Error &error) {
        return error.kind();
    }
    throw std::logic_error("no error was thrown");
}

template <typename Call>
documents::StoreFault faultOf(const Call &call)
{
    try {
        call();
    } catch (const documents::StoreError &error) {
        return error.fault();
    }
    throw std::logic_error("no error was thrown");
}

} // namespace palimpsest::test

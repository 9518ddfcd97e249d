// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/error.h"

namespace palimpsest::documents {

/// Why a store cannot do what was asked, in the classes that callers treat differently.
enum class StoreFault {
    Locked,       ///< another program writes to it; trying again may help
    DiskFull,     ///< nothing was saved; making room helps
    NotWritable,  ///< file or folder may not be written
    NewerVersion, ///< made by a newer version of this program
    Foreign,      ///< a file of another kind stands at its place
    Damaged,      ///< SQLite cannot read it; `DocumentStore::moveAside` makes room for a new one
    Io,           ///< any other failure of the disk
};

/// The errors of a document store that are not about a value the caller gave. Nothing was changed.
class StoreError : public Error
{
public:
    StoreError(StoreFault fault, const std::string &message, std::string file);

    [[nodiscard]] StoreFault fault() const noexcept { return m_fault; }

private:
    StoreFault m_fault;
};

} // namespace palimpsest::documents

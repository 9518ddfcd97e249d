// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/store_error.h"

#include <utility>

namespace palimpsest::documents {

namespace {

ErrorKind kindOf(StoreFault fault)
{
    switch (fault) {
    case StoreFault::NotWritable:
        return ErrorKind::PermissionDenied;
    case StoreFault::NewerVersion:
        return ErrorKind::Unsupported;
    case StoreFault::Foreign:
    case StoreFault::Damaged:
        return ErrorKind::InvalidInput;
    case StoreFault::Locked:
    case StoreFault::DiskFull:
    case StoreFault::Io:
        break;
    }
    return ErrorKind::Io;
}

} // namespace

StoreError::StoreError(StoreFault fault, const std::string &message, std::string file)
    : Error(kindOf(fault), message, std::move(file)), m_fault(fault)
{
}

} // namespace palimpsest::documents

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/exit_status.h"

#include "app/cli/command.h"
#include "app/error_mapping.h"

#include <exception>
#include <new>
#include <string>

namespace palimpsest::cli {

int exitStatusOf(const std::function<int()> &program)
{
    try {
        return program();
    } catch (const Error &error) {
        return reportFailure(error);
    } catch (const std::bad_alloc &) {
        printNote("memory does not suffice");
        return static_cast<int>(ExitCode::Device);
    } catch (const std::exception &error) {
        printNote(std::string("internal error: ") + error.what());
        return static_cast<int>(ExitCode::Internal);
    }
}

int reportFailure(const Error &error)
{
    printNote(error.what());
    return static_cast<int>(exitCodeOf(error.kind()));
}

} // namespace palimpsest::cli

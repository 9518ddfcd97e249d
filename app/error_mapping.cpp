// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/error_mapping.h"

namespace palimpsest {

ExitCode exitCodeOf(ErrorKind kind) noexcept
{
    switch (kind) {
    case ErrorKind::InvalidArgument:
        return ExitCode::Usage;
    case ErrorKind::InvalidInput:
        return ExitCode::BadInput;
    case ErrorKind::InvalidCheckpoint:
    case ErrorKind::Unsupported:
        return ExitCode::Model;
    case ErrorKind::NotFound:
    case ErrorKind::PermissionDenied:
    case ErrorKind::Io:
        return ExitCode::File;
    case ErrorKind::ContextLength:
        return ExitCode::ContextLength;
    case ErrorKind::QueueFull:
    case ErrorKind::OutOfMemory:
    case ErrorKind::Backend:
        return ExitCode::Device;
    }
    return ExitCode::Internal;
}

std::string exitCodeHelp()
{
    return "Exit codes:\n"
           "  0    done\n"
           "  1    a fault of the program itself: please report it\n"
           "  2    wrong usage: an option, a value, a selection\n"
           "  3    a text that cannot be processed: binary, empty, not UTF-8, too large\n"
           "  4    the model is damaged, incomplete or of a kind that is not supported\n"
           "  5    a file or folder is missing, or may not be read or written\n"
           "  6    prompt and answer do not fit the model's context\n"
           "  7    the computing device failed, or memory does not suffice\n"
           "  8    the model's answer could not be used; the text is as it was\n"
           "  130  cancelled with Ctrl-C (143: ended by SIGTERM); files are as they were\n";
}

} // namespace palimpsest

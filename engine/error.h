// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>

namespace palimpsest {

/// What went wrong, in the classes that callers treat differently (exit codes, HTTP statuses, dialogs).
enum class ErrorKind {
    InvalidArgument,   ///< a value the caller chose: a setting, a selection, a request field
    InvalidInput,      ///< a text or document that cannot be processed (not UTF-8, binary, too large)
    InvalidCheckpoint, ///< a model directory that is damaged, incomplete or contradicts itself
    Unsupported,       ///< something well-formed that this program does not do (architecture, format, dtype)
    NotFound,          ///< a file or directory that is not there
    PermissionDenied,  ///< a file or directory that may not be read or written
    Io,                ///< any other failure of the file system
    ContextLength,     ///< prompt and answer do not fit the model's context
    QueueFull,         ///< the scheduler takes no more requests at the moment
    OutOfMemory,       ///< host or device memory does not suffice
    Backend,           ///< the compute device failed
};

/// Thrown by every engine function on what the caller or the world did wrong (design, section 5).
///
/// `what()` is a sentence a person can act on and names the subject already; `subject()` repeats the offending file,
/// tensor or field alone, for callers that show or map it separately.
class Error : public std::runtime_error
{
public:
    Error(ErrorKind kind, const std::string &message, std::string subject = {});

    [[nodiscard]] ErrorKind kind() const noexcept { return m_kind; }
    [[nodiscard]] const std::string &subject() const noexcept { return m_subject; }

private:
    ErrorKind m_kind;
    std::string m_subject;
};

} // namespace palimpsest

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/frame.h"
#include "app/editing/proposal.h"
#include "app/editing/run_info.h"

#include <QJsonObject>
#include <QString>

// What the live channel says of runs and of what they leave behind (PROTOCOL.md, "Runs" and "Proposals").

namespace palimpsest::live {

[[nodiscard]] QJsonObject runFields(const editing::RunInfo &run);
[[nodiscard]] QJsonObject settled(const QString &run, const editing::SettledPiece &piece);
[[nodiscard]] QJsonObject proposalFields(const QString &document, std::int64_t version,
                                         const editing::Proposal &proposal);

/// The fields of the replies to `run.alternatives` and `history`.
[[nodiscard]] QJsonObject alternativeFields(const editing::PositionAlternatives &alternatives);
[[nodiscard]] QJsonObject curveFields(const editing::RunCurves &curves);

/// One step of a canvas, as an object and as the message `frame`. Written by hand: it is made for every step, and a
/// document tree of its 800 values costs several times as much.
[[nodiscard]] QString frameText(const QString &run, const editing::Frame &frame);
[[nodiscard]] QString frameMessage(const QString &run, const editing::Frame &frame);

} // namespace palimpsest::live

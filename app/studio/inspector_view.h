// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/studio/frame_timer.h"
#include "app/studio/page_text.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

#include <optional>

namespace palimpsest::studio {

/// Looks into one lane of one run: the newest step while it runs, or any recorded step of any canvas. A run that begins
/// is looked at from its first step on. GUI thread.
class InspectorView : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(QString run READ run NOTIFY runChanged) ///< "" = none
    Q_PROPERTY(QString runTitle READ runTitle NOTIFY runChanged)
    Q_PROPERTY(int lanes READ lanes NOTIFY runChanged)
    Q_PROPERTY(int lane READ lane WRITE setLane NOTIFY runChanged)
    Q_PROPERTY(int canvases READ canvases NOTIFY curvesChanged)
    Q_PROPERTY(int canvas READ canvas NOTIFY frameChanged) ///< from 0
    Q_PROPERTY(int steps READ steps NOTIFY curvesChanged)  ///< recorded ones of the canvas shown
    Q_PROPERTY(int maxSteps READ maxSteps NOTIFY curvesChanged)
    Q_PROPERTY(int step READ step NOTIFY frameChanged)            ///< from 1; 0 = none
    Q_PROPERTY(int positions READ positions NOTIFY frameChanged)  ///< of the canvas shown; 0 = none
    Q_PROPERTY(bool following READ following NOTIFY frameChanged) ///< shows the newest step as it comes
    Q_PROPERTY(bool playing READ playing NOTIFY playingChanged)
    Q_PROPERTY(QString countsText READ countsText NOTIFY frameChanged)   ///< "188 settled · 9 locked"
    Q_PROPERTY(QString entropyText READ entropyText NOTIFY frameChanged) ///< "0.31 nats"
    Q_PROPERTY(QString acceptedText READ acceptedText NOTIFY frameChanged)
    Q_PROPERTY(QString stopText READ stopText NOTIFY curvesChanged)                ///< why the canvas ended, in words
    Q_PROPERTY(QVariantList entropyCurve READ entropyCurve NOTIFY curvesChanged)   ///< nats, one a step
    Q_PROPERTY(QVariantList acceptedCurve READ acceptedCurve NOTIFY curvesChanged) ///< positions, one a step
    Q_PROPERTY(QString frameText READ frameText NOTIFY frameChanged)               ///< what the step shown would give
    /// [{label, value}]; a dash where a figure is not known.
    Q_PROPERTY(QVariantList figures READ figures NOTIFY runChanged)
    Q_PROPERTY(QString seedText READ seedText NOTIFY runChanged)

public:
    explicit InspectorView(QObject *parent = nullptr);

    void setSession(editing::DraftSession *session);
    /// Looks at another run than the newest one.
    Q_INVOKABLE void inspect(const QString &run);

    [[nodiscard]] QString run() const { return m_run; }
    [[nodiscard]] QString runTitle() const;
    [[nodiscard]] int lanes() const;
    [[nodiscard]] int lane() const noexcept { return m_lane; }
    void setLane(int lane);
    [[nodiscard]] int canvases() const;
    [[nodiscard]] int canvas() const noexcept { return m_canvas; }
    [[nodiscard]] int steps() const;
    [[nodiscard]] int maxSteps() const;
    [[nodiscard]] int step() const { return m_frame ? m_frame->step : 0; }
    [[nodiscard]] int positions() const { return m_frame ? m_frame->positions() : 0; }
    [[nodiscard]] bool following() const noexcept { return m_following; }
    [[nodiscard]] bool playing() const { return m_playTimer.isActive(); }
    [[nodiscard]] QString countsText() const;
    [[nodiscard]] QString entropyText() const;
    [[nodiscard]] QString acceptedText() const;
    [[nodiscard]] QString stopText() const;
    [[nodiscard]] QVariantList entropyCurve() const;
    [[nodiscard]] QVariantList acceptedCurve() const;
    [[nodiscard]] QString frameText() const;
    [[nodiscard]] QVariantList figures() const;
    [[nodiscard]] QString seedText() const;

    [[nodiscard]] const std::optional<editing::Frame> &frame() const noexcept { return m_frame; }
    /// The step that was gone back to, for the page; nothing while the newest one is followed.
    [[nodiscard]] std::optional<PageText::Preview> preview() const;

    Q_INVOKABLE void goTo(int canvas, int step); ///< step from 1, clamped
    Q_INVOKABLE void stepBy(int count);          ///< over canvas borders
    Q_INVOKABLE void canvasBy(int count);
    Q_INVOKABLE void follow(); ///< back to the newest step
    Q_INVOKABLE void play();   ///< from the step shown (at the end: from the first one) to the end
    Q_INVOKABLE void pausePlaying();
    /// Makes a revision of the draft with the text of the step shown.
    Q_INVOKABLE void branchHere();

Q_SIGNALS:
    void runChanged();
    void curvesChanged();
    void frameChanged();
    void playingChanged();
    void branched(qint64 revision);
    void problem(const QString &message);

private:
    void onRunChanged(const QString &run);
    void onFrame(const QString &run, int lane);
    void refreshCurves();
    void refreshCurvesSoon();
    void loadSettled();
    void loadFrame(int canvas, int step);
    [[nodiscard]] std::optional<editing::RunInfo> info() const;
    [[nodiscard]] const editing::CanvasCurve *curve(int canvas) const;

    QPointer<editing::DraftSession> m_session;
    QString m_run;
    QString m_newestRun; ///< as far as this has heard
    int m_lane = 0;
    int m_canvas = 0;
    int m_wantedStep = 0; ///< of the last loadFrame: older answers are dropped
    bool m_following = true;
    editing::RunCurves m_curves;
    std::optional<editing::Frame> m_frame;
    QString m_settled; ///< what the canvases before m_settledCanvas came to, in front of a step that was gone back to
    int m_settledCanvas = -1; ///< -1 = not known
    QTimer m_playTimer;
    QTimer m_curvesTimer;
    FrameTimer m_frameTimer; ///< for what steps change
};

} // namespace palimpsest::studio

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/studio/model_check.h"
#include "app/studio/post_box.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

class QSettings;

namespace palimpsest::studio {

/// Lets the writer choose another model: a folder is checked in the background, what it is and needs is shown, and it
/// is put in the place of the model that runs when the writer says so.
///
/// Settings: `model` (the chosen folder, which the command line takes as well; absent: the demo model), `models/recent`
/// (folders, latest first), `models/device` (auto, cpu or cuda). GUI thread.
class ModelChooser : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(State state READ state NOTIFY changed)
    Q_PROPERTY(QString stageText READ stageText NOTIFY changed)      ///< what the check is doing
    Q_PROPERTY(double progress READ progress NOTIFY progressChanged) ///< of that, 0..1; -1 where it is not known
    Q_PROPERTY(QString folder READ folder NOTIFY changed)
    Q_PROPERTY(QVariantList facts READ facts NOTIFY changed)        ///< [{label, value}] of the checked folder
    Q_PROPERTY(QString problemText READ problemText NOTIFY changed) ///< why the folder cannot be used
    Q_PROPERTY(QString warningText READ warningText NOTIFY changed) ///< what to know before using it; "" = nothing
    Q_PROPERTY(QStringList recent READ recent NOTIFY recentChanged)
    Q_PROPERTY(QString device READ device WRITE setDevice NOTIFY deviceChanged)

public:
    enum class State { Idle, Checking, Usable, Refused };
    Q_ENUM(State)
    using LoaderMaker = std::function<EngineLoader(const ModelOptions &)>;

    /// Nothing is owned. `options`: what the command line said of threads and device. `settings` may be null.
    ModelChooser(EngineHost &host, ModelOptions options, LoaderMaker makeLoader, QSettings *settings,
                 QObject *parent = nullptr);
    ~ModelChooser() override; ///< gives up a check that is under way, and waits for its end

    [[nodiscard]] State state() const noexcept { return m_state; }
    [[nodiscard]] QString stageText() const;
    [[nodiscard]] double progress() const noexcept { return m_progress; }
    [[nodiscard]] QString folder() const { return m_folder; }
    [[nodiscard]] QVariantList facts() const;
    [[nodiscard]] QString problemText() const { return m_problem; }
    [[nodiscard]] QString warningText() const;
    [[nodiscard]] QStringList recent() const { return m_recent; }
    [[nodiscard]] QString device() const { return QString::fromStdString(m_options.device); }
    /// The device to compute on, from the next model on; checks the folder again.
    void setDevice(const QString &device);

    /// Checks a folder: a path, one that begins with ~, or a file: URL.
    Q_INVOKABLE void check(const QString &folder);
    Q_INVOKABLE void cancel(); ///< the check, which soon reads no more; nothing has changed
    Q_INVOKABLE void use();    ///< loads the checked folder in the place of the model that runs
    Q_INVOKABLE void useDemo();
    Q_INVOKABLE void stopLoading();                 ///< gives up what use() began, and takes the model before it again
    Q_INVOKABLE void forget(const QString &folder); ///< drops it from the list

Q_SIGNALS:
    void changed();
    void progressChanged();
    void recentChanged();
    void deviceChanged();
    void used(); ///< a model is being loaded now

private:
    void run(std::optional<std::string> model); ///< checks it, as soon as the check before has given up
    void begin();
    void endCheck();
    [[nodiscard]] CheckListener listener(int number, const std::stop_token &stop);
    void hear(int number, CheckStage stage, double progress);
    void finish(int number, const ModelCheck &check);
    void refuse(int number, const QString &message, bool cancelled);
    void load(const QString &folder); ///< "" = the demo model
    void remember();

    EngineHost &m_host;
    ModelOptions m_options;
    LoaderMaker m_makeLoader;
    QSettings *m_settings;
    State m_state = State::Idle;
    CheckStage m_stage = CheckStage::Files;
    double m_progress = -1.0;
    QString m_folder;
    QString m_problem;
    std::optional<ModelCheck> m_check;
    QStringList m_recent;
    QString m_inUse;  ///< the folder that was chosen last; "" = the demo model, or what the command line named
    QString m_before; ///< the one before it
    int m_number = 0; ///< of the check whose answer counts
    std::optional<ModelOptions> m_wanted; ///< to be checked when the one before has ended
    PostBox m_box;
    std::jthread m_thread; ///< ends before all that it posts to
};

} // namespace palimpsest::studio

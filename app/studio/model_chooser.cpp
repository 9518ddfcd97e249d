// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/model_chooser.h"

#include "engine/backend_loader.h"
#include "engine/error.h"

#include <QDir>
#include <QLocale>
#include <QSettings>
#include <QUrl>

#include <utility>

namespace palimpsest::studio {

namespace {

constexpr QLatin1String kModel("model");
constexpr QLatin1String kRecent("models/recent");
constexpr QLatin1String kDevice("models/device");
constexpr QLatin1String kOnCpu("models/onCpu");
constexpr qsizetype kMostRecent = 8;

QString pathOf(const QString &folder)
{
    QString path = folder.trimmed();
    if (path.startsWith(QStringLiteral("file:")))
        path = QUrl(path).toLocalFile();
    if (path == u'~' || path.startsWith(QStringLiteral("~/")))
        path = QDir::homePath() + path.mid(1);
    return path.isEmpty() ? path : QDir::cleanPath(QDir(path).absolutePath());
}

QString bytesText(std::int64_t bytes)
{
    return QLocale().formattedDataSize(bytes, 1);
}

QVariantMap fact(const QString &label, const QString &value)
{
    return {{QStringLiteral("label"), label}, {QStringLiteral("value"), value}};
}

} // namespace

ModelChooser::ModelChooser(EngineHost &host, ModelOptions options, LoaderMaker makeLoader, QSettings *settings,
                           QObject *parent)
    : QObject(parent),
      m_host(host),
      m_options(std::move(options)),
      m_makeLoader(std::move(makeLoader)),
      m_settings(settings)
{
    if (m_options.model)
        m_inUse = QString::fromStdString(*m_options.model);
    if (m_settings == nullptr)
        return;
    m_recent = m_settings->value(kRecent).toStringList();
    if (m_inUse.isEmpty())
        m_inUse = m_settings->value(kModel).toString();
}

ModelChooser::~ModelChooser() = default; // jthread asks the check to stop, and waits for it

void ModelChooser::setDevice(const QString &device)
{
    if (device == this->device() || !deviceChoiceFromName(device.toStdString()))
        return;
    m_options.device = device.toStdString();
    if (m_settings != nullptr)
        m_settings->setValue(kDevice, device);
    Q_EMIT deviceChanged();
    if (m_state == State::Usable || m_state == State::Refused)
        check(m_folder);
}

void ModelChooser::check(const QString &folder)
{
    const QString path = pathOf(folder);
    if (path.isEmpty())
        return;
    m_folder = path;
    m_state = State::Checking;
    m_stage = CheckStage::Files;
    m_progress = 0.0;
    m_problem.clear();
    m_check.reset();
    Q_EMIT changed();
    Q_EMIT progressChanged();
    run(path.toStdString());
}

void ModelChooser::run(std::optional<std::string> model)
{
    ++m_number;
    m_wanted = m_options;
    m_wanted->model = std::move(model);
    if (m_thread.joinable())
        m_thread.request_stop(); // soon ends by itself, and begins this one; its answer has an old number
    else
        begin();
}

void ModelChooser::begin()
{
    const ModelOptions options = *std::exchange(m_wanted, std::nullopt);
    m_thread = std::jthread([this, number = m_number, options, post = m_box.sender()](const std::stop_token &stop) {
        try {
            const ModelCheck check = checkModel(options, listener(number, stop));
            post([this, number, check] { finish(number, check); });
        } catch (const Error &error) {
            const bool cancelled = error.kind() == ErrorKind::Backend && error.subject() == "cancelled";
            post([this, number, cancelled, message = QString::fromUtf8(error.what())] {
                refuse(number, message, cancelled);
            });
        } catch (const std::exception &error) { // the thread's edge: nothing may leave it
            post([this, number, message = QString::fromUtf8(error.what())] { refuse(number, message, false); });
        }
    });
}

/// An answer is the last thing that a check's thread does.
void ModelChooser::endCheck()
{
    m_thread = {};
    if (m_wanted)
        begin();
}

CheckListener ModelChooser::listener(int number, const std::stop_token &stop)
{
    constexpr double kTellingStep = 0.01;
    return [this, number, stop, post = m_box.sender(), toldStage = std::optional<CheckStage>(),
            told = 0.0](CheckStage stage, std::optional<double> part) mutable {
        const double progress = part.value_or(-1.0);
        if (stage != toldStage || progress >= told + kTellingStep) {
            toldStage = stage;
            told = progress;
            post([this, number, stage, progress] { hear(number, stage, progress); });
        }
        return !stop.stop_requested();
    };
}

void ModelChooser::hear(int number, CheckStage stage, double progress)
{
    if (number != m_number)
        return;
    m_progress = progress;
    Q_EMIT progressChanged();
    if (stage == m_stage)
        return;
    m_stage = stage;
    Q_EMIT changed();
}

void ModelChooser::finish(int number, const ModelCheck &check)
{
    endCheck();
    if (number != m_number)
        return;
    m_check = check;
    m_state = State::Usable;
    Q_EMIT changed();
}

void ModelChooser::refuse(int number, const QString &message, bool cancelled)
{
    endCheck();
    if (number != m_number)
        return;
    m_problem = cancelled ? QString() : message;
    m_state = cancelled ? State::Idle : State::Refused;
    Q_EMIT changed();
}

void ModelChooser::cancel()
{
    ++m_number;
    m_wanted.reset();
    m_thread.request_stop();
    m_state = State::Idle;
    m_problem.clear();
    m_check.reset();
    Q_EMIT changed();
}

QString ModelChooser::stageText() const
{
    switch (m_stage) {
    case CheckStage::Files:
        return tr("Reading and checking the files…");
    case CheckStage::Device:
        return tr("Looking for a device to compute on…");
    case CheckStage::Speed:
        break;
    }
    return tr("Measuring how fast this CPU is…");
}

QVariantList ModelChooser::facts() const
{
    if (!m_check)
        return {};
    const QLocale locale;
    QVariantList list{fact(tr("Name"), QString::fromStdString(m_check->name)),
                      fact(tr("Made of"), QString::fromStdString(m_check->sizes)),
                      fact(tr("Weights"), bytesText(m_check->weightBytes)),
                      fact(tr("Memory needed"), tr("about %1").arg(bytesText(m_check->neededBytes)))};
    if (!m_check->onCpu)
        list << fact(tr("Free on the card"),
                     m_check->cardFreeBytes ? bytesText(*m_check->cardFreeBytes) : tr("not known"));
    else if (m_check->freeBytes)
        list << fact(tr("Memory free"), bytesText(*m_check->freeBytes));
    list << fact(tr("Computes on"), m_check->onCpu ? tr("the CPU") : tr("the graphics card"));
    if (m_check->secondsAStep)
        list << fact(tr("A denoising step"), tr("about %1 s").arg(locale.toString(*m_check->secondsAStep, 'f', 1)));
    return list;
}

QString ModelChooser::warningText() const
{
    if (!m_check)
        return {};
    QStringList sentences;
    if (m_check->isSlow()) {
        const double minutes = *m_check->secondsAStep * m_check->mostSteps / 60.0;
        sentences << tr("On this machine's CPU a canvas of %1 tokens would take up to %2 minutes.")
                         .arg(m_check->canvasLength)
                         .arg(QLocale().toString(minutes, 'f', minutes < 10.0 ? 1 : 0));
        if (!m_check->whyNotCuda.empty())
            sentences << tr("A graphics card is not used: %1.").arg(QString::fromStdString(m_check->whyNotCuda));
    }
    if (!m_check->fitsMemory())
        sentences << (m_check->onCpu
                          ? tr("It needs more memory than is free, so this machine may come to a halt.")
                          : tr("It needs more memory than is free on the graphics card, so loading it may fail."));
    if (!m_check->canChat)
        sentences << tr("It has no chat format, so it cannot follow instructions or answer questions.");
    return sentences.join(u' ');
}

void ModelChooser::use()
{
    if (m_state != State::Usable)
        return;
    m_recent.removeAll(m_folder);
    m_recent.prepend(m_folder);
    while (m_recent.size() > kMostRecent)
        m_recent.removeLast();
    Q_EMIT recentChanged();
    if (m_settings != nullptr && m_check->isSlow()) // they were told, and want it: no start asks again
        m_settings->setValue(kOnCpu, m_folder);
    m_before = m_inUse;
    load(m_folder);
}

void ModelChooser::useDemo()
{
    m_before = m_inUse;
    load({});
}

void ModelChooser::stopLoading()
{
    m_host.cancelLoading();
    load(m_before);
}

void ModelChooser::forget(const QString &folder)
{
    m_recent.removeAll(folder);
    remember();
    Q_EMIT recentChanged();
}

void ModelChooser::load(const QString &folder)
{
    m_inUse = folder;
    ModelOptions options = m_options;
    options.model = folder.isEmpty() ? bundledModelDirectory().string() : folder.toStdString();
    m_host.replace(m_makeLoader(options));
    remember();
    cancel();
    Q_EMIT used();
}

void ModelChooser::remember()
{
    if (m_settings == nullptr)
        return;
    m_settings->setValue(kRecent, m_recent);
    if (m_inUse.isEmpty())
        m_settings->remove(kModel);
    else
        m_settings->setValue(kModel, m_inUse);
}

} // namespace palimpsest::studio

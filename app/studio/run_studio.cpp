// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/exit_status.h"
#include "app/cli/interrupts.h"
#include "app/cli/studio_start.h"
#include "app/error_mapping.h"
#include "app/settings.h"
#include "app/studio/cpu_agreement.h"
#include "app/studio/single_instance.h"
#include "app/studio/studio_options.h"
#include "app/studio/studio_window.h"
#include "app/version.h"
#include "engine/backend_loader.h"

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QSettings>
#include <QtQml/qqmlextensionplugin.h>

#include <clocale>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stop_token>

Q_IMPORT_QML_PLUGIN(Palimpsest_StudioPlugin)
Q_IMPORT_QML_PLUGIN(PalimpsestPlugin)

namespace palimpsest::studio {

namespace {

std::shared_ptr<LogSink> installLog(bool verbose)
{
    auto terminal = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    terminal->set_level(verbose ? spdlog::level::debug : spdlog::level::warn);
    terminal->set_pattern("palimpsest-studio: %l: %v");
    auto shown = std::make_shared<LogSink>();
    const std::initializer_list<spdlog::sink_ptr> sinks{terminal, shown};
    auto logger = std::make_shared<spdlog::logger>("palimpsest", sinks);
    logger->set_level(verbose ? spdlog::level::debug : spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
    return shown;
}

/// Says how long the start took, which is promised: the window's first picture, and the model.
void logTimes(StudioWindow &window, const QElapsedTimer &sinceStart)
{
    QObject::connect(
        window.window(), &QQuickWindow::frameSwapped, &window.studio(),
        [sinceStart] { spdlog::info("the window stood after {} ms", sinceStart.elapsed()); },
        Qt::ConnectionType(Qt::QueuedConnection | Qt::SingleShotConnection));
    ModelView *model = window.studio().model();
    const auto told = std::make_shared<bool>(false);
    QObject::connect(model, &ModelView::changed, model, [model, sinceStart, told] {
        if (model->phase() == ModelView::Phase::Ready && !std::exchange(*told, true))
            spdlog::info("the model was ready after {} ms", sinceStart.elapsed());
    });
}

/// What the command line leaves open, the settings say.
ModelOptions modelOptions(ModelOptions options, const QSettings &settings)
{
    const std::string device = settings.value(QStringLiteral("models/device")).toString().toStdString();
    if (options.device == ModelOptions{}.device && deviceChoiceFromName(device))
        options.device = device;
    return options;
}

int run(int argc, char **argv, const StudioOptions &options, const std::shared_ptr<LogSink> &log,
        const std::stop_token &stop, const QElapsedTimer &sinceStart)
{
    if (!cli::hasDisplay()) {
        throw Error(ErrorKind::InvalidArgument,
                    "there is no display to open a window on; `palimpsest serve` shows the studio in a browser");
    }
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    int count = 1; // the options are read already, and Qt has some of its own
    QGuiApplication application(argc > 0 ? count : argc, argv);
    std::setlocale(LC_NUMERIC, "C"); // Qt has set the person's locale, in which numbers of files may have commas
    QGuiApplication::setApplicationName(QStringLiteral("palimpsest"));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Palimpsest"));
    QGuiApplication::setApplicationVersion(QString::fromLatin1(kVersion));
    QGuiApplication::setDesktopFileName(QStringLiteral("palimpsest"));
    QStringList files;
    for (const std::string &file : options.files)
        files << QString::fromStdString(file);
    SingleInstance instance(QString::fromStdString(options.store.file.string()));
    if (instance.handOver(files))
        return static_cast<int>(ExitCode::Success);

    QSettings settings(QString::fromStdString(settingsFile().string()), QSettings::IniFormat);
    StudioExtras extras;
    extras.log = log;
    extras.model = modelOptions(options.engine.model, settings);
    EngineChoice choice;
    choice.model = extras.model;
    choice.onFinished = [metrics = extras.metrics](const FinishedRun &finished) {
        metrics->runFinished(finished);
    };
    EngineLoader loader = [load = engineLoader(std::move(choice)), model = extras.model,
                           agreed = settings.value(QStringLiteral("models/onCpu")).toString().toStdString()](
                              const LoadProgress &progress) {
        requireAgreement(model, agreed);
        return load(progress);
    };
    StudioWindow window(std::make_unique<EngineHost>(std::move(loader)), options.store, &settings, std::move(extras));
    if (window.window() == nullptr)
        return static_cast<int>(ExitCode::Internal);
    logTimes(window, sinceStart);
    QObject::connect(&instance, &SingleInstance::asked, &application,
                     [&window](const QStringList &asked) { window.open(asked); });
    window.open(files);
    const std::stop_callback quit(stop, [] { // at the end of a session, drafts are saved as at any other
        QMetaObject::invokeMethod(QCoreApplication::instance(), "quit", Qt::QueuedConnection);
    });
    return QGuiApplication::exec();
}

} // namespace

int runStudio(int argc, char **argv)
{
    QElapsedTimer sinceStart;
    sinceStart.start();
    return cli::exitStatusOf([&] {
        const auto parsed = parseStudioOptions(argc, argv);
        if (const int *code = std::get_if<int>(&parsed))
            return *code;
        const auto &options = std::get<StudioOptions>(parsed);
        cli::Interrupts interrupts;
        interrupts.arm();
        return run(argc, argv, options, installLog(options.verbose), interrupts.token(), sinceStart);
    });
}

} // namespace palimpsest::studio

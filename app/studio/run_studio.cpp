// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/error_mapping.h"
#include "app/settings.h"
#include "app/studio/single_instance.h"
#include "app/studio/studio_window.h"
#include "app/version.h"
#include "engine/backend_loader.h"

#include <QCommandLineParser>
#include <QGuiApplication>
#include <QQuickStyle>
#include <QSettings>
#include <QtQml/qqmlextensionplugin.h>

#include <cstdio>

Q_IMPORT_QML_PLUGIN(Palimpsest_StudioPlugin)
Q_IMPORT_QML_PLUGIN(PalimpsestPlugin)

namespace palimpsest::studio {

namespace {

struct StudioOptions
{
    QStringList files;
    EngineChoice engine;
    documents::StoreOptions store;
};

StudioOptions parse(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("A studio for drafts that a block-diffusion language model writes along with you."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption model(QStringLiteral("model"), QStringLiteral("Model folder (dg-w4a16-v1)."),
                                   QStringLiteral("folder"));
    const QCommandLineOption device(QStringLiteral("device"), QStringLiteral("auto, cpu or cuda."),
                                    QStringLiteral("device"), QStringLiteral("auto"));
    const QCommandLineOption data(QStringLiteral("data-dir"), QStringLiteral("Where the drafts are kept."),
                                  QStringLiteral("folder"));
    parser.addOptions({model, device, data});
    parser.addPositionalArgument(QStringLiteral("files"), QStringLiteral("Texts to open."), QStringLiteral("[files]"));
    parser.process(arguments);

    StudioOptions options;
    options.files = parser.positionalArguments();
    if (parser.isSet(model))
        options.engine.model.model = parser.value(model).toStdString();
    options.engine.model.device = parser.value(device).toStdString();
    if (!deviceChoiceFromName(options.engine.model.device))
        throw Error(ErrorKind::InvalidArgument, "--device: wanted auto, cpu or cuda", "--device");
    options.store.file = parser.isSet(data)
                             ? std::filesystem::path(parser.value(data).toStdString()) / "documents.sqlite"
                             : documents::DocumentStore::defaultFile();
    return options;
}

} // namespace

int runStudio(int argc, char **argv)
{
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    QGuiApplication application(argc, argv);
    QGuiApplication::setApplicationName(QStringLiteral("palimpsest"));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Palimpsest"));
    QGuiApplication::setApplicationVersion(QString::fromLatin1(kVersion));
    QGuiApplication::setDesktopFileName(QStringLiteral("palimpsest"));
    try {
        StudioOptions options = parse(QGuiApplication::arguments());
        SingleInstance instance(QString::fromStdString(options.store.file.string()));
        if (instance.handOver(options.files))
            return static_cast<int>(ExitCode::Success);

        QSettings settings(QString::fromStdString(settingsFile().string()), QSettings::IniFormat);
        StudioWindow window(std::make_unique<EngineHost>(engineLoader(options.engine)), options.store, &settings);
        if (window.window() == nullptr)
            return static_cast<int>(ExitCode::Internal);
        QObject::connect(&instance, &SingleInstance::asked, &application,
                         [&window](const QStringList &files) { window.open(files); });
        window.open(options.files);
        return QGuiApplication::exec();
    } catch (const Error &error) {
        std::fprintf(stderr, "palimpsest-studio: %s\n", error.what());
        return static_cast<int>(exitCodeOf(error.kind()));
    }
}

} // namespace palimpsest::studio

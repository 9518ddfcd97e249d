// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/settings.h"

#include "engine/error.h"

#include <QFile>
#include <QSettings>
#include <QStandardPaths>
#include <QString>

namespace palimpsest {

namespace {

constexpr int kMaxThreads = 1024;

std::optional<std::string> modelSetting(const QSettings &ini, const std::filesystem::path &file)
{
    if (!ini.contains(QStringLiteral("model")))
        return std::nullopt;
    // QSettings takes an unquoted comma as the separator of a list.
    const QVariant value = ini.value(QStringLiteral("model"));
    if (value.typeId() != QMetaType::QString) {
        throw Error(ErrorKind::InvalidArgument,
                    file.string() + ": model: found a list; put a path that contains a comma in double quotes",
                    "model");
    }
    const std::string text = value.toString().toStdString();
    if (text.empty())
        throw Error(ErrorKind::InvalidArgument, file.string() + ": model: found an empty value, wanted a folder",
                    "model");
    std::filesystem::path path(text);
    if (text.rfind("~/", 0) == 0) {
        const QString home = QStandardPaths::writableLocation(QStandardPaths::HomeLocation);
        path = std::filesystem::path(home.toStdString()) / text.substr(2);
    }
    return (file.parent_path() / path).string();
}

std::optional<int> threadsSetting(const QSettings &ini, const std::filesystem::path &file)
{
    if (!ini.contains(QStringLiteral("threads")))
        return std::nullopt;
    const QString text = ini.value(QStringLiteral("threads")).toString();
    bool isNumber = false;
    const int threads = text.toInt(&isNumber);
    if (!isNumber || threads < 0 || threads > kMaxThreads) {
        throw Error(ErrorKind::InvalidArgument,
                    file.string() + ": threads: found \"" + text.toStdString() + "\", wanted a number from 0 to " +
                        std::to_string(kMaxThreads),
                    "threads");
    }
    return threads;
}

} // namespace

std::filesystem::path settingsFile()
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
    return std::filesystem::path(folder.toStdString()) / "palimpsest" / "settings.ini";
}

Settings readSettings(const std::filesystem::path &file)
{
    const QString name = QString::fromStdString(file.string());
    if (!QFile::exists(name))
        return {};
    const QSettings ini(name, QSettings::IniFormat);
    if (ini.status() == QSettings::AccessError)
        throw Error(ErrorKind::PermissionDenied, file.string() + ": the settings file cannot be read", file.string());
    if (ini.status() == QSettings::FormatError) {
        throw Error(ErrorKind::InvalidArgument,
                    file.string() + ": not a settings file; wanted lines of the form \"key=value\"", file.string());
    }
    Settings settings;
    settings.model = modelSetting(ini, file);
    settings.threads = threadsSetting(ini, file);
    return settings;
}

} // namespace palimpsest

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "tests/engine/model_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <QTest>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace palimpsest;
using test::Complaint;
using test::expectComplaint;
using test::ModelFolder;
using test::TinyCheckpoint;
namespace fs = std::filesystem;

namespace {

using BreakFolder = std::function<void(const fs::path &)>;

/// While it lives, the process has the rights of an ordinary user: root may read everything.
class WithoutPrivileges
{
public:
    WithoutPrivileges()
    {
        if (m_user == 0)
            check(seteuid(kNobody));
    }
    ~WithoutPrivileges()
    {
        if (m_user == 0)
            check(seteuid(m_user));
    }
    WithoutPrivileges(const WithoutPrivileges &) = delete;
    WithoutPrivileges &operator=(const WithoutPrivileges &) = delete;

private:
    static void check(int result)
    {
        if (result != 0)
            qFatal("seteuid failed");
    }

    static constexpr uid_t kNobody = 65534;
    uid_t m_user = geteuid();
};

void cutTo(const fs::path &file, std::uintmax_t size)
{
    fs::resize_file(file, size);
}

const std::string kExpertsFile = "experts_00001.safetensors";

} // namespace

Q_DECLARE_METATYPE(BreakFolder)
Q_DECLARE_METATYPE(Complaint)

/// Model folders whose files are missing, cut off, something else, or not to be read.
class TestCheckpointFolders : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder.renew(); }

    void damagedFolders_data();
    void damagedFolders();
    void withoutPermission_data();
    void withoutPermission();

private:
    ModelFolder m_folder;
};

// F077, F080
void TestCheckpointFolders::damagedFolders_data()
{
    QTest::addColumn<BreakFolder>("damage");
    QTest::addColumn<Complaint>("complaint");
    const auto row = [](const char *name, const BreakFolder &damage, const Complaint &complaint) {
        QTest::newRow(name) << damage << complaint;
    };
    const auto write = [](const char *name, const std::string &content) {
        return [name, content](const fs::path &folder) {
            test::writeFile(folder / name, content);
        };
    };
    using enum ErrorKind;
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\n"
                                "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
                                "size 12345\n";

    row("no folder", [](const fs::path &folder) { fs::remove_all(folder); }, {NotFound, {"model", "not there"}});
    row("a file in place of the folder",
        [](const fs::path &folder) {
            fs::remove_all(folder);
            test::writeFile(folder, "x");
        },
        {InvalidCheckpoint, {"found a file, wanted a model folder"}});
    row("empty folder",
        [](const fs::path &folder) {
            fs::remove_all(folder);
            fs::create_directory(folder);
        },
        {NotFound, {"config.json", "missing"}});
    row("no weights",
        [](const fs::path &folder) {
            for (const char *file : {"model.safetensors", "experts_00000.safetensors", "experts_00001.safetensors"})
                fs::remove(folder / file);
        },
        {InvalidCheckpoint, {"no model*.safetensors"}});
    row("last file one byte short",
        [](const fs::path &folder) { cutTo(folder / kExpertsFile, fs::file_size(folder / kExpertsFile) - 1); },
        {InvalidCheckpoint, {kExpertsFile, "the file has ", "its header wants ", "download it again"}});
    row("last file cut in half",
        [](const fs::path &folder) { cutTo(folder / kExpertsFile, fs::file_size(folder / kExpertsFile) / 2); },
        {InvalidCheckpoint, {kExpertsFile, "the file has ", "its header wants ", "download it again"}});
    row("last file cut inside its header", [](const fs::path &folder) { cutTo(folder / kExpertsFile, 100); },
        {InvalidCheckpoint, {kExpertsFile, "download it again"}});
    row("last file cut to 7 bytes", [](const fs::path &folder) { cutTo(folder / kExpertsFile, 7); },
        {InvalidCheckpoint, {kExpertsFile, "7 bytes", "download it again"}});
    row("last file empty", [](const fs::path &folder) { cutTo(folder / kExpertsFile, 0); },
        {InvalidCheckpoint, {kExpertsFile, "0 bytes", "download it again"}});
    row("LFS pointer in place of weights", write("model.safetensors", pointer),
        {InvalidCheckpoint, {"model.safetensors", "this is a Git LFS pointer, fetch the real file"}});
    row("LFS pointer in place of config.json", write("config.json", pointer),
        {InvalidCheckpoint, {"config.json", "this is a Git LFS pointer, fetch the real file"}});
    row("LFS pointer in place of the index", write("model.safetensors.index.json", pointer),
        {InvalidCheckpoint, {"model.safetensors.index.json", "this is a Git LFS pointer"}});
    row("config.json empty", write("config.json", ""), {InvalidCheckpoint, {"config.json", "0 bytes"}});
    row("config.json cut", write("config.json", R"({"architectures": ["Diff)"),
        {InvalidCheckpoint, {"config.json", "syntax error at byte"}});
    row("config.json binary", write("config.json", std::string(64, '\xff')),
        {InvalidCheckpoint, {"config.json", "valid JSON in UTF-8"}});
    row("generation_config.json broken", write("generation_config.json", "{]"),
        {InvalidCheckpoint, {"generation_config.json", "syntax error"}});
    row("w4_meta.json a list", write("w4_meta.json", "[]"), {InvalidCheckpoint, {"w4_meta.json", "a JSON object"}});
    row("index without a map", write("model.safetensors.index.json", "{}"),
        {InvalidCheckpoint, {"model.safetensors.index.json", "weight_map", "found nothing"}});
    row("index with an empty map", write("model.safetensors.index.json", R"({"weight_map": {}})"),
        {InvalidCheckpoint, {"model.safetensors.index.json", "names no file"}});
    row("index with a number", write("model.safetensors.index.json", R"({"weight_map": {"a": 5}})"),
        {InvalidCheckpoint, {"weight_map.a", "found 5"}});
    row("index with a name that moves the cursor",
        write("model.safetensors.index.json", R"({"weight_map": {"\u001b[2J": "model.safetensors"}})"),
        {InvalidCheckpoint, {"weight_map.\\u001b[2J", "the name of a tensor"}});
    row("index names a missing file",
        write("model.safetensors.index.json", R"({"weight_map": {"a": "model-00001-of-00002.safetensors"}})"),
        {InvalidCheckpoint, {"model-00001-of-00002.safetensors", "missing", "download it again"}});
    row("index leaves the folder", write("model.safetensors.index.json", R"({"weight_map": {"a": "/etc/passwd"}})"),
        {InvalidCheckpoint, {"model.safetensors.index.json", "/etc/passwd", "the same folder"}});
    row("index names the folder above", write("model.safetensors.index.json", R"({"weight_map": {"a": ".."}})"),
        {InvalidCheckpoint, {"the same folder"}});
    row("index misses the needed tensors",
        [](const fs::path &folder) {
            fs::rename(folder / "model.safetensors", folder / "other.safetensors");
            test::writeFile(folder / "model-1.safetensors", test::safetensorsText({}));
            test::writeFile(folder / "model.safetensors.index.json", R"({"weight_map": {"a": "model-1.safetensors"}})");
        },
        {InvalidCheckpoint, {"model.decoder.embed_tokens.weight", "none of the weight files"}});
    row("weights are a folder",
        [](const fs::path &folder) {
            fs::remove(folder / "model.safetensors");
            fs::create_directory(folder / "model.safetensors");
        },
        {Io, {"model.safetensors", "wanted a regular file"}});
    row("weights are a named pipe",
        [](const fs::path &folder) {
            fs::remove(folder / "model.safetensors");
            QCOMPARE(mkfifo((folder / "model.safetensors").c_str(), 0600), 0);
        },
        {Io, {"model.safetensors", "wanted a regular file"}});
    row("weights are a link to nothing",
        [](const fs::path &folder) {
            fs::remove(folder / "model.safetensors");
            fs::create_symlink("gone", folder / "model.safetensors");
        },
        {NotFound, {"model.safetensors", "not there"}});
    row("config.json links to itself",
        [](const fs::path &folder) {
            fs::remove(folder / "config.json");
            fs::create_symlink("config.json", folder / "config.json");
        },
        {Io, {"model"}});
}

void TestCheckpointFolders::damagedFolders()
{
    QFETCH(BreakFolder, damage);
    QFETCH(Complaint, complaint);
    TinyCheckpoint().write(m_folder.path());
    damage(m_folder.path());
    expectComplaint(m_folder.path(), complaint);
}

void TestCheckpointFolders::withoutPermission_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("mode");
    QTest::newRow("folder may not be entered") << "." << 0000;
    QTest::newRow("folder may not be listed") << "." << 0111;
    QTest::newRow("config.json may not be read") << "config.json" << 0000;
    QTest::newRow("weights may not be read") << "experts_00001.safetensors" << 0200;
}

void TestCheckpointFolders::withoutPermission()
{
    QFETCH(QString, name);
    QFETCH(int, mode);
    TinyCheckpoint().write(m_folder.path());
    fs::permissions(m_folder.path().parent_path(), fs::perms(0755)); // made for its owner alone
    fs::permissions(m_folder.path() / name.toStdString(), fs::perms(mode));
    {
        const WithoutPrivileges ordinary;
        expectComplaint(m_folder.path(), {ErrorKind::PermissionDenied, {m_folder.path().string(), "permission"}});
    }
    fs::permissions(m_folder.path() / name.toStdString(), fs::perms(0755));
}

QTEST_GUILESS_MAIN(TestCheckpointFolders)
#include "tst_checkpoint_folders.moc"

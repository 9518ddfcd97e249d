// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Uses a store from a process of its own, to be killed or to compete. Each line of its output acknowledges something
// that is on the disk by then.
//
//     store_child save FILE ID        saves "text N", a revision, and a step of history, for ever
//     store_child make FOLDER         makes one store after the other, for ever
//     store_child erase FILE          makes and erases documents, for ever
//     store_child count FILE ID N     raises the number in the text N times, against others that do the same
//     store_child open FILE           as a user without rights; says what hinders it

#include "tests/app/documents/step_samples.h"

#include "app/documents/document_store.h"
#include "app/documents/store_error.h"

#include <QCoreApplication>

#include <cstdlib>
#include <grp.h>
#include <iostream>
#include <string>
#include <unistd.h>

using namespace palimpsest;
using namespace palimpsest::documents;

namespace {

void acknowledge(const std::string &line)
{
    std::cout << line << std::endl; // flushed
}

[[noreturn]] void saveForEver(const std::string &file, const OpaqueId &id)
{
    DocumentStore store({.file = file});
    const OpaqueId run = store.beginRun(id, "{}");
    auto step = test::randomSteps(1, 1, 256);
    for (int number = 1;; ++number) {
        const std::string text = "text " + std::to_string(number) + std::string(3000, 'x');
        store.save(id, {.text = text, .revision = NewRevision{.label = std::to_string(number)}});
        step[0].step = number;
        store.appendSteps(run, 0, step);
        acknowledge(std::to_string(number));
    }
}

[[noreturn]] void makeForEver(const std::string &folder)
{
    for (int number = 1;; ++number) {
        DocumentStore store({.file = folder + "/" + std::to_string(number) + ".sqlite"});
        store.create("t", "one");
        acknowledge(std::to_string(number));
    }
}

[[noreturn]] void eraseForEver(const std::string &file)
{
    DocumentStore store({.file = file});
    for (int number = 1;; ++number) {
        store.erase(store.create("t", "secret" + std::to_string(number)).summary.id);
        acknowledge(std::to_string(number));
    }
}

void count(const std::string &file, const OpaqueId &id, int times)
{
    DocumentStore store({.file = file, .busyTimeout = std::chrono::seconds(60)});
    while (times > 0) {
        const Document document = store.document(id);
        const std::string next = std::to_string(std::stoi(document.text) + 1);
        if (store.saveText(id, next, {}, document.summary.version).saved)
            --times;
    }
    acknowledge("done");
}

void openWithoutRights(const std::string &file)
{
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
        throw std::runtime_error("cannot become an ordinary user");
    try {
        const DocumentStore store({.file = file});
        acknowledge("opened");
    } catch (const StoreError &error) {
        acknowledge(error.fault() == StoreFault::NotWritable ? "not writable" : error.what());
    }
}

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    try {
        if (arguments.at(0) == "save")
            saveForEver(arguments.at(1), arguments.at(2));
        if (arguments.at(0) == "make")
            makeForEver(arguments.at(1));
        if (arguments.at(0) == "erase")
            eraseForEver(arguments.at(1));
        if (arguments.at(0) == "count")
            count(arguments.at(1), arguments.at(2), std::stoi(arguments.at(3)));
        else if (arguments.at(0) == "open")
            openWithoutRights(arguments.at(1));
        else
            return EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << error.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

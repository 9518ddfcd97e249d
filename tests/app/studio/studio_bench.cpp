// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include "app/studio/marks_item.h"
#include "tests/support/test_tokenizers.h"

#include <QAccessible>
#include <QQuickItem>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTest>
#include <QtQml/qqmlextensionplugin.h>

#include <algorithm>
#include <thread>
#include <utility>

Q_IMPORT_QML_PLUGIN(Palimpsest_StudioPlugin)
Q_IMPORT_QML_PLUGIN(PalimpsestPlugin)

namespace palimpsest::test {

using namespace palimpsest::studio;

void Gate::close()
{
    const std::lock_guard lock(m_mutex);
    m_open = false;
    m_passes = 0;
}

void Gate::let(int passes)
{
    const std::lock_guard lock(m_mutex);
    m_passes += passes;
    m_changed.notify_all();
}

void Gate::open()
{
    const std::lock_guard lock(m_mutex);
    m_open = true;
    m_changed.notify_all();
}

void Gate::wait()
{
    std::unique_lock lock(m_mutex);
    ++m_waiting;
    m_changed.wait(lock, [this] { return m_open || m_passes > 0; });
    --m_waiting;
    if (!m_open)
        --m_passes;
}

bool Gate::isWaitedFor()
{
    const std::lock_guard lock(m_mutex);
    return m_waiting > 0 && m_passes == 0; // one that may go on has not woken up yet
}

void StudioScript::answer(const QString &text)
{
    answer([text](std::uint64_t) { return text; });
}

void StudioScript::answer(std::function<QString(std::uint64_t)> bySeed)
{
    const std::lock_guard lock(m_mutex);
    m_answer = std::move(bySeed);
    ++m_version;
}

void StudioScript::settleWithin(int steps)
{
    const std::lock_guard lock(m_mutex);
    m_steps = steps;
}

void StudioScript::stepTime(std::chrono::milliseconds time)
{
    const std::lock_guard lock(m_mutex);
    m_stepTime = time;
}

std::vector<TokenId> StudioScript::idsFor(std::uint64_t seed)
{
    const auto [place, isNew] = m_ids.try_emplace({seed, m_version});
    if (isNew) {
        place->second = demoTokenizer()->encode(m_answer(seed).toStdString(), SpecialTokens::PlainText);
        place->second.push_back(demoTokenizer()->idOf("<turn|>").value());
    }
    return place->second;
}

FakeModel StudioScript::model(std::int64_t canvasLength)
{
    std::vector<TokenId> gapIds;
    for (const char *word : {" and", " of", " to", " in"})
        gapIds.push_back(demoTokenizer()->encode(word, SpecialTokens::PlainText).front());
    return [this, canvasLength, gapIds](const FakeInput &input) {
        const std::lock_guard lock(m_mutex);
        if (input.position == 0 && m_stepTime > std::chrono::milliseconds(0))
            std::this_thread::sleep_for(m_stepTime);
        // No two seeds fill a gap alike.
        const std::uint64_t drawn = (input.noise.seed ^ (input.position * 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U;
        TokenId wanted = gapIds[(drawn >> 32U) % gapIds.size()];
        if (input.logitBias.empty()) { // else the canvas holds other words around a gap, which has no end of its own
            const std::vector<TokenId> ids = idsFor(input.noise.seed);
            const std::size_t at = input.noise.canvas * static_cast<std::size_t>(canvasLength) + input.position;
            wanted = at < ids.size() ? ids[at] : 0;
        }
        const TokenId other = gapIds[(input.position + static_cast<std::size_t>(input.pass)) % gapIds.size()];
        const bool isSettled =
            m_steps < kNever && input.pass >= static_cast<int>(input.position % static_cast<std::size_t>(m_steps));
        PositionResult result;
        result.argmax = isSettled ? wanted : other;
        result.sampled = result.argmax;
        result.entropyNats = isSettled ? 1e-5F : 1.0F;
        result.alternatives[0] = {result.argmax, 0.75F};
        result.alternatives[1] = {gapIds[0] == result.argmax ? gapIds[1] : gapIds[0], 0.125F};
        return result;
    };
}

StudioBench::StudioBench(QSettings *settings, std::int64_t canvasLength)
{
    const auto tokenizer = demoTokenizer();
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [this](std::span<const DenoiseJob>) {
        gate.wait();
    };
    EngineParts parts;
    parts.id = "scripted";
    parts.backend = std::make_unique<FakeBackend>(
        FakeSettings{.vocabSize = tokenizer->vocabSize(), .canvasLength = canvasLength, .maxPositions = 8192},
        script->model(canvasLength), log);
    parts.tokenizer = tokenizer;
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    parts.defaults.eosTokenIds = {1, tokenizer->idOf("<turn|>").value()};
    parts.defaults.padTokenId = 0;
    show(std::make_unique<EngineHost>(std::move(parts)), settings);
}

StudioBench::StudioBench(EngineLoader loader)
{
    show(std::make_unique<EngineHost>(std::move(loader)), nullptr);
}

StudioBench::~StudioBench()
{
    gate.open();
}

void StudioBench::show(std::unique_ptr<EngineHost> host, QSettings *settings)
{
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    window = std::make_unique<StudioWindow>(
        std::move(host),
        documents::StoreOptions{.file = folder.filePath(QStringLiteral("drafts.sqlite")).toStdString()}, settings);
    if (window->window() == nullptr)
        qFatal("the window cannot be loaded");
    const QStringList size = qEnvironmentVariable("PALIMPSEST_PICTURES_SIZE", QStringLiteral("1440x900")).split(u'x');
    view().resize(size.value(0).toInt(), size.value(1).toInt());
    if (qEnvironmentVariableIsSet("PALIMPSEST_PICTURES_DARK"))
        window->theme().setScheme(Theme::Scheme::Dark);
    view().requestActivate(); // where no window manager does it
    if (!QTest::qWaitForWindowActive(&view()))
        qFatal("the window does not become active");
}

void StudioBench::openDraft(const QString &text)
{
    const QString before = draft().document();
    window->studio().library()->create(QStringLiteral("Letter"), text);
    if (!QTest::qWaitFor([&] { return draft().isOpen() && draft().document() != before; }))
        qFatal("the draft does not open");
    if (!QTest::qWaitFor([&] { return page().isWhole(); }))
        qFatal("the draft does not come to the page");
    if (!QTest::qWaitFor([this] { return editor()->hasActiveFocus(); }))
        qFatal("a new draft has not the caret");
}

QQuickItem *StudioBench::editor()
{
    return page().textEdit();
}

void StudioBench::key(int key, Qt::KeyboardModifiers modifiers)
{
    QTest::keyClick(&view(), static_cast<Qt::Key>(key), modifiers);
}

void StudioBench::type(const QString &text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == u'\n') {
            key(Qt::Key_Return);
            continue;
        }
        const qsizetype units = text[i].isHighSurrogate() ? 2 : 1; // as a keyboard sends it: a letter at a time
        QTest::sendKeyEvent(QTest::Click, &view(), Qt::Key_unknown, text.mid(i, units), Qt::NoModifier);
        i += units - 1;
    }
}

void StudioBench::placeCaret(qsizetype shown)
{
    editor()->setProperty("cursorPosition", static_cast<int>(shown));
}

void StudioBench::select(const QString &words)
{
    const qsizetype at = pageText().indexOf(words);
    if (at < 0)
        qFatal("not on the page: %s", qPrintable(words));
    placeCaret(at);
    for (qsizetype i = 0; i < words.size(); ++i)
        key(Qt::Key_Right, Qt::ShiftModifier);
    if (page().plainSelection() != words)
        qFatal("selected: %s", qPrintable(page().plainSelection()));
}

void StudioBench::askRewrite(const QString &words, const QString &instruction)
{
    select(words);
    key(Qt::Key_K, Qt::ControlModifier);
    type(instruction);
    key(Qt::Key_Return);
}

void StudioBench::waitForFrame()
{
    QSignalSpy swapped(&view(), &QQuickWindow::frameSwapped);
    view().update();
    if (!swapped.wait())
        qFatal("no frame");
}

void StudioBench::click(QQuickItem *item)
{
    if (item == nullptr)
        qFatal("there is nothing to click at");
    waitForFrame(); // what has just appeared is where it belongs
    QTest::mouseClick(&view(), Qt::LeftButton, Qt::NoModifier,
                      item->mapToScene({item->width() / 2, item->height() / 2}).toPoint());
}

void StudioBench::click(const QString &name)
{
    QQuickItem *found = nullptr; // what the state shows now is on the window a frame later
    (void)QTest::qWaitFor([&] {
        found = named(name);
        return found != nullptr && found->isEnabled();
    });
    if (found == nullptr)
        qFatal("there is no \"%s\"", qPrintable(name));
    click(found);
}

QPoint StudioBench::pointOf(qsizetype shown)
{
    waitForFrame();
    const auto rects = lineRects(*page().document(), {shown, shown + 1});
    if (rects.empty())
        qFatal("no letter at %lld", static_cast<long long>(shown));
    return editor()->mapToScene(rects.front().center()).toPoint();
}

void StudioBench::clickAt(qsizetype shown)
{
    QTest::mouseClick(&view(), Qt::LeftButton, Qt::NoModifier, pointOf(shown));
}

void StudioBench::hoverAt(qsizetype shown)
{
    QTest::mouseMove(&view(), pointOf(shown) - QPoint(1, 0)); // a move wants two places
    QTest::mouseMove(&view(), pointOf(shown));
}

void StudioBench::picture(const QString &name)
{
    const QString pictures = qEnvironmentVariable("PALIMPSEST_PICTURES");
    if (pictures.isEmpty())
        return;
    waitForFrame();
    view().grabWindow().save(pictures + u'/' + name + QStringLiteral(".png"));
}

QString StudioBench::text()
{
    return stored().text();
}

QString StudioBench::pageText()
{
    return editor()->property("text").toString();
}

qsizetype StudioBench::caret()
{
    return editor()->property("cursorPosition").toInt();
}

int StudioBench::marks(PageMark::Kind kind)
{
    const PageMarks &all = page().marks();
    return static_cast<int>(
        std::count_if(all.begin(), all.end(), [kind](const PageMark &mark) { return mark.kind == kind; }));
}

QQuickItem *StudioBench::item(const std::function<bool(QQuickItem &)> &fits)
{
    QList<QQuickItem *> items{view().contentItem()};
    while (!items.isEmpty()) {
        QQuickItem *candidate = items.takeFirst();
        if (!candidate->isVisible())
            continue;
        if (fits(*candidate))
            return candidate;
        items << candidate->childItems();
    }
    return nullptr;
}

QQuickItem *StudioBench::named(const QString &name)
{
    return item([&](QQuickItem &candidate) {
        const QAccessibleInterface *known = QAccessible::queryAccessibleInterface(&candidate);
        return known != nullptr && known->text(QAccessible::Name) == name && known->role() != QAccessible::StaticText;
    });
}

} // namespace palimpsest::test

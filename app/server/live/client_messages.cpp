// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/client_messages.h"

#include "app/server/live/message_fields.h"
#include "engine/error.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace palimpsest::live {

namespace {

using Verb = DocumentOrder::Verb;
using RunVerb = RunOrder::Verb;
using Reader = ClientMessage (*)(const MessageFields &);

template <Verb verb>
ClientMessage documentOrder(const MessageFields &fields)
{
    return DocumentOrder{.verb = verb, .document = fields.id("document")};
}

template <RunVerb verb>
ClientMessage runOrder(const MessageFields &fields)
{
    return RunOrder{.verb = verb, .run = fields.id("run")};
}

ClientMessage libraryWatch(const MessageFields &fields)
{
    return LibraryWatch{.query = fields.textOr("query", {}), .binned = fields.flagOr("binned", false)};
}

ClientMessage documentCreate(const MessageFields &fields)
{
    return DocumentCreate{.title = fields.textOr("title", {}), .text = fields.textOr("text", {})};
}

ClientMessage documentRename(const MessageFields &fields)
{
    return DocumentRename{.document = fields.id("document"), .title = fields.text("title")};
}

ClientMessage edit(const MessageFields &fields)
{
    return Edit{.document = fields.id("document"),
                .version = fields.count("version"),
                .span = fields.span(),
                .text = fields.text("text"),
                .typing = fields.flagOr("typing", false)};
}

ClientMessage lock(const MessageFields &fields)
{
    return Lock{.document = fields.id("document"),
                .version = fields.count("version"),
                .span = fields.span(),
                .locked = fields.flag("locked")};
}

ClientMessage changeSettings(const MessageFields &fields)
{
    return ChangeSettings{.document = fields.id("document"), .settings = fields.settings("settings")};
}

ClientMessage revisionText(const MessageFields &fields)
{
    return RevisionText{.document = fields.id("document"), .revision = fields.revision("revision")};
}

ClientMessage revisionRestore(const MessageFields &fields)
{
    return RevisionRestore{.document = fields.id("document"), .revision = fields.revision("revision")};
}

ClientMessage runStart(const MessageFields &fields)
{
    if (fields.has("again"))
        return RunAgain{
            .document = fields.id("document"), .again = fields.id("again"), .seed = fields.optionalSeed("seed")};
    return RunStart{.document = fields.id("document"),
                    .version = fields.count("version"),
                    .wish = {.action = fields.action("action"),
                             .span = fields.span(),
                             .instruction = fields.textOr("instruction", {}),
                             .amount = fields.amountOr("amount", NoiseAmount::Medium),
                             .alternatives = fields.alternativesOr("alternatives", 1),
                             .seed = fields.optionalSeed("seed"),
                             .sampler = fields.samplerOrOwn("sampler"),
                             .paused = fields.flagOr("paused", false),
                             .direct = fields.flagOr("direct", false)}};
}

ClientMessage runStop(const MessageFields &fields)
{
    return RunStop{.run = fields.id("run"), .keep = fields.flagOr("keep", false)};
}

ClientMessage runFreeze(const MessageFields &fields)
{
    return RunFreeze{.at = fields.canvas(), .changes = fields.freezeChanges("changes")};
}

ClientMessage runHold(const MessageFields &fields)
{
    return RunHold{.at = fields.canvas(), .position = fields.position("position"), .held = fields.flag("held")};
}

ClientMessage runAlternatives(const MessageFields &fields)
{
    return RunAlternatives{
        .at = fields.canvas(), .position = fields.position("position"), .step = fields.optionalStep("step")};
}

ClientMessage historyFrame(const MessageFields &fields)
{
    return HistoryFrame{.at = fields.canvas(), .step = fields.step("step")};
}

ClientMessage historyBranch(const MessageFields &fields)
{
    return HistoryBranch{.at = fields.canvas(), .step = fields.step("step")};
}

ClientMessage proposalAccept(const MessageFields &fields)
{
    const std::optional<int> words = fields.optionalWords("words");
    if (words && !fields.has("change"))
        fields.fail("change", "nothing", "the number of the change that the words belong to");
    return ProposalAccept{.proposal = fields.id("proposal"), .change = fields.optionalIndex("change"), .words = words};
}

ClientMessage proposalReject(const MessageFields &fields)
{
    return ProposalReject{.proposal = fields.id("proposal"), .change = fields.optionalIndex("change")};
}

ClientMessage proposalChoose(const MessageFields &fields)
{
    return ProposalChoose{.proposal = fields.id("proposal"), .alternative = fields.index("alternative")};
}

ClientMessage proposalTake(const MessageFields &fields)
{
    return ProposalTake{
        .proposal = fields.id("proposal"), .alternative = fields.index("alternative"), .span = fields.span()};
}

ClientMessage proposalEdit(const MessageFields &fields)
{
    return ProposalEdit{.proposal = fields.id("proposal"), .text = fields.text("text")};
}

ClientMessage seen(const MessageFields &fields)
{
    return Seen{.at = fields.canvas(), .step = fields.step("step")};
}

const std::unordered_map<std::string_view, Reader> &readers()
{
    static const std::unordered_map<std::string_view, Reader> table{
        {"library.watch", libraryWatch},
        {"document.create", documentCreate},
        {"document.rename", documentRename},
        {"document.duplicate", documentOrder<Verb::Duplicate>},
        {"document.bin", documentOrder<Verb::Bin>},
        {"document.restore", documentOrder<Verb::Restore>},
        {"document.delete", documentOrder<Verb::Delete>},
        {"open", documentOrder<Verb::Open>},
        {"close", documentOrder<Verb::Close>},
        {"edit", edit},
        {"undo", documentOrder<Verb::Undo>},
        {"redo", documentOrder<Verb::Redo>},
        {"lock", lock},
        {"unlock.all", documentOrder<Verb::UnlockAll>},
        {"settings", changeSettings},
        {"revisions", documentOrder<Verb::ListRevisions>},
        {"revision.text", revisionText},
        {"revision.restore", revisionRestore},
        {"run.start", runStart},
        {"run.pause", runOrder<RunVerb::Pause>},
        {"run.resume", runOrder<RunVerb::Resume>},
        {"run.step", runOrder<RunVerb::Step>},
        {"run.stop", runStop},
        {"run.freeze", runFreeze},
        {"run.hold", runHold},
        {"run.alternatives", runAlternatives},
        {"history", runOrder<RunVerb::History>},
        {"history.frame", historyFrame},
        {"history.branch", historyBranch},
        {"proposal.accept", proposalAccept},
        {"proposal.reject", proposalReject},
        {"proposal.choose", proposalChoose},
        {"proposal.take", proposalTake},
        {"proposal.edit", proposalEdit},
        {"seen", seen},
    };
    return table;
}

ClientMessage readMessage(const nlohmann::json &json, std::optional<std::int64_t> &ref)
{
    const MessageFields message(json, "message");
    ref = message.optionalCount("ref");
    const std::string type = message.type();
    const auto reader = readers().find(type);
    if (reader == readers().end())
        throw Error(ErrorKind::Unsupported, "there is no message of the type " + describeJson(type), "type");
    return reader->second(MessageFields(json, type));
}

} // namespace

ParsedMessage parseClientMessage(std::string_view text)
{
    ParsedMessage parsed;
    try {
        if (text.size() > kLargestMessageBytes)
            throw Error(ErrorKind::InvalidArgument, "a message has at most 256 KiB");
        parsed.content = readMessage(parseStrictJson(text, "message"), parsed.ref);
    } catch (const Error &error) {
        const bool isTypeUnknown = error.kind() == ErrorKind::Unsupported;
        const std::string subject = error.subject() == "message" ? "" : error.subject(); // the text as a whole
        parsed.content = Problem{
            .code = isTypeUnknown ? "unknown_type" : "invalid_request", .message = error.what(), .param = subject};
    }
    return parsed;
}

} // namespace palimpsest::live

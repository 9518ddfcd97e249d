// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/tokenizer_json.h"

#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace palimpsest {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 64; // Gemma's files nest 5 deep
constexpr const char *kSpaceMark = "\u2581";

[[noreturn]] void fail(ErrorKind kind, const std::string &path, const std::string &what)
{
    throw Error(kind, path + ": " + what, path);
}

/// A value for a message, cut to a readable length.
std::string shown(const json &value)
{
    constexpr std::size_t kLongest = 80;
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > kLongest) {
        std::size_t end = kLongest;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
            --end;
        text.resize(end);
        text += "…";
    }
    return text;
}

/// Collects vocabulary and merges as they stream by and everything else as a small document.
class Reader final : public json::json_sax_t
{
public:
    Reader(TokenizerFile &file, std::string path) : m_file(file), m_path(std::move(path)) {}

    [[nodiscard]] const json &document() const noexcept { return m_document; }

    bool null() override { return scalar(nullptr); }
    bool boolean(bool value) override { return scalar(value); }
    bool number_float(number_float_t value, const string_t &) override { return scalar(value); }
    bool binary(binary_t &) override { return false; } // JSON text has none

    bool number_integer(number_integer_t value) override { return scalar(value); } // negative ones only
    bool number_unsigned(number_unsigned_t value) override
    {
        if (m_area != Area::Vocabulary)
            return scalar(value);
        if (value > static_cast<number_unsigned_t>(kMaxTokenId))
            badPieceId(json(value));
        m_file.pieces.append(m_key);
        m_file.pieceIds.push_back(static_cast<TokenId>(value));
        return true;
    }

    bool string(string_t &value) override
    {
        if (m_area == Area::Merges)
            addMergeText(value);
        else
            scalar(std::move(value));
        return true;
    }

    bool key(string_t &value) override
    {
        m_key = std::move(value);
        if (m_depth == 1)
            m_section = m_key;
        else if (m_depth == 2)
            m_sectionField = m_key;
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (m_area == Area::Vocabulary)
            badPieceId(json::object());
        if (m_area == Area::Merges)
            badMerge();
        if (inModelField("vocab"))
            m_area = Area::Vocabulary;
        open(json::object());
        return true;
    }
    bool end_object() override
    {
        m_area = Area::Document;
        close();
        return true;
    }

    bool start_array(std::size_t) override
    {
        if (m_area == Area::Vocabulary)
            badPieceId(json::array());
        if (m_area == Area::Merges) {
            if (m_mergeSidesSeen >= 0)
                badMerge();
            m_mergeSidesSeen = 0;
            return true;
        }
        if (inModelField("merges"))
            m_area = Area::Merges;
        open(json::array());
        return true;
    }
    bool end_array() override
    {
        if (m_area == Area::Merges && m_mergeSidesSeen >= 0) {
            if (m_mergeSidesSeen != 2)
                badMerge();
            m_mergeSidesSeen = -1;
            ++m_mergesSeen;
            return true;
        }
        m_area = Area::Document;
        close();
        return true;
    }

    bool parse_error(std::size_t position, const std::string &, const json::exception &) override
    {
        fail(ErrorKind::InvalidCheckpoint, m_path,
             "is not valid JSON: damaged or cut off at byte " + std::to_string(position));
    }

private:
    enum class Area { Document, Vocabulary, Merges };

    [[nodiscard]] bool inModelField(std::string_view field) const
    {
        return m_depth == 2 && m_section == "model" && m_sectionField == field;
    }

    bool scalar(json value)
    {
        if (m_area == Area::Vocabulary)
            badPieceId(value);
        if (m_area == Area::Merges)
            badMerge();
        put(std::move(value));
        return true;
    }

    json *put(json value)
    {
        if (m_open.empty()) {
            m_document = std::move(value);
            return &m_document;
        }
        json &parent = *m_open.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        return &(parent[m_key] = std::move(value));
    }

    void open(json container)
    {
        if (++m_depth > kMaxDepth)
            fail(ErrorKind::InvalidCheckpoint, m_path,
                 "is nested deeper than " + std::to_string(kMaxDepth) + " levels");
        m_open.push_back(put(std::move(container)));
    }
    void close()
    {
        --m_depth;
        m_open.pop_back();
    }

    void addMergeText(const std::string &text)
    {
        if (m_mergeSidesSeen >= 0) { // inside ["a","b"]
            if (++m_mergeSidesSeen > 2 || text.empty())
                badMerge();
            m_file.mergeSides.append(text);
            return;
        }
        const std::size_t space = text.find(' '); // the older spelling, "a b"
        if (space == std::string::npos || space == 0 || space + 1 == text.size() ||
            text.find(' ', space + 1) != std::string::npos)
            badMerge();
        m_file.mergeSides.append(std::string_view(text).substr(0, space));
        m_file.mergeSides.append(std::string_view(text).substr(space + 1));
        ++m_mergesSeen;
    }

    [[noreturn]] void badPieceId(const json &found) const
    {
        fail(ErrorKind::InvalidCheckpoint, m_path,
             "model.vocab[" + shown(m_key) + "] is " + shown(found) + ", wanted an id from 0 to " +
                 std::to_string(kMaxTokenId));
    }
    [[noreturn]] void badMerge() const
    {
        fail(ErrorKind::InvalidCheckpoint, m_path,
             "model.merges[" + std::to_string(m_mergesSeen) +
                 "] is not a pair of pieces, wanted [\"a\", \"b\"] or \"a b\"");
    }

    TokenizerFile &m_file;
    std::string m_path;
    json m_document;
    std::vector<json *> m_open; // containers of m_document that have not ended
    std::size_t m_depth = 0;
    std::string m_key;
    std::string m_section;      // key at the top level
    std::string m_sectionField; // key one level below
    Area m_area = Area::Document;
    std::size_t m_mergesSeen = 0;
    int m_mergeSidesSeen = -1; // -1 = between merges
};

/// Checks what the small document says about the rules, against the only ones that are implemented.
class Rules
{
public:
    Rules(const json &document, std::string path) : m_document(document), m_path(std::move(path)) {}

    void check() const
    {
        if (!m_document.is_object())
            fail(ErrorKind::InvalidCheckpoint, m_path, "is " + shown(m_document) + ", wanted an object");
        checkModel();
        want("normalizer", field("normalizer"), replace(" ", kSpaceMark));
        checkPreTokenizer();
        want("decoder", field("decoder"),
             {{"type", "Sequence"},
              {"decoders", {replace(kSpaceMark, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}});
    }

    [[nodiscard]] std::vector<AddedToken> addedTokens() const
    {
        const json &list = field("added_tokens");
        if (!list.is_array())
            fail(ErrorKind::InvalidCheckpoint, m_path, "added_tokens is " + shown(list) + ", wanted a list");
        std::vector<AddedToken> tokens;
        tokens.reserve(list.size());
        for (const json &entry : list)
            tokens.push_back(addedToken(entry, "added_tokens[" + std::to_string(tokens.size()) + "]"));
        return tokens;
    }

private:
    static json replace(const char *from, const char *to)
    {
        return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
    }

    [[nodiscard]] const json &field(const char *name) const
    {
        static const json kNull;
        const auto found = m_document.find(name);
        return found == m_document.end() ? kNull : *found;
    }

    void want(const std::string &name, const json &found, const json &wanted) const
    {
        if (found != wanted)
            fail(ErrorKind::Unsupported, m_path, name + " is " + shown(found) + ", supported is only " + wanted.dump());
    }

    void checkModel() const
    {
        const json &model = field("model");
        if (!model.is_object())
            fail(ErrorKind::InvalidCheckpoint, m_path, "model is " + shown(model) + ", wanted an object");
        want("model.type", model.value("type", json()), "BPE");
        for (const char *name : {"vocab", "merges"}) {
            const json found = model.value(name, json());
            if (name == std::string_view("vocab") ? !found.is_object() : !found.is_array())
                fail(ErrorKind::InvalidCheckpoint, m_path,
                     std::string("model.") + name + " is missing or of the wrong type");
        }
        want("model.byte_fallback", model.value("byte_fallback", json()), true);
        if (model.value("ignore_merges", json(false)) != json(false))
            want("model.ignore_merges", model["ignore_merges"], false);
        for (const char *name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
            const json found = model.value(name, json());
            if (found != json("") && found != json(0.0))
                want(std::string("model.") + name, found, nullptr);
        }
    }

    /// Splitting at spaces has no effect: the normalizer has left none.
    void checkPreTokenizer() const
    {
        const json &found = field("pre_tokenizer");
        if (!found.is_null())
            want("pre_tokenizer", found,
                 {{"type", "Split"},
                  {"pattern", {{"String", " "}}},
                  {"behavior", "MergedWithPrevious"},
                  {"invert", false}});
    }

    [[nodiscard]] AddedToken addedToken(const json &entry, const std::string &name) const
    {
        if (!entry.is_object())
            fail(ErrorKind::InvalidCheckpoint, m_path, name + " is " + shown(entry) + ", wanted an object");
        AddedToken token;
        const json id = entry.value("id", json());
        if (!id.is_number_unsigned() || id.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxTokenId))
            fail(ErrorKind::InvalidCheckpoint, m_path,
                 name + ".id is " + shown(id) + ", wanted a number from 0 to " + std::to_string(kMaxTokenId));
        token.id = static_cast<TokenId>(id.get<std::uint64_t>());
        const json content = entry.value("content", json());
        if (!content.is_string() || content.get_ref<const std::string &>().empty())
            fail(ErrorKind::InvalidCheckpoint, m_path,
                 name + ".content is " + shown(content) + ", wanted a text that is not empty");
        token.content = content.get<std::string>();
        token.special = flag(entry, name, "special");
        for (const char *option : {"single_word", "lstrip", "rstrip", "normalized"}) {
            if (flag(entry, name, option))
                fail(ErrorKind::Unsupported, m_path,
                     name + "." + option + " is true for " + shown(content) + ", supported is only false");
        }
        return token;
    }

    [[nodiscard]] bool flag(const json &entry, const std::string &name, const char *option) const
    {
        const json found = entry.value(option, json(false));
        if (!found.is_boolean())
            fail(ErrorKind::InvalidCheckpoint, m_path,
                 name + "." + option + " is " + shown(found) + ", wanted true or false");
        return found.get<bool>();
    }

    const json &m_document;
    std::string m_path;
};

} // namespace

TokenizerFile readTokenizerJson(std::string_view json, const std::string &path)
{
    if (json.starts_with("version https://git-lfs"))
        fail(ErrorKind::InvalidCheckpoint, path,
             "is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`");
    TokenizerFile file;
    Reader reader(file, path);
    nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
    const Rules rules(reader.document(), path);
    rules.check();
    file.addedTokens = rules.addedTokens();
    return file;
}

} // namespace palimpsest

// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/json_schema.h"

#include "app/server/openai/request_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

static_assert(VALIJSON_USE_EXCEPTIONS == 1, "without exceptions, a wrong schema would end the program");

namespace palimpsest::openai {

using nlohmann::json;

namespace {

// What a person or a generator writes has some dozens, a few levels deep. The validator recurses, so depth is stack.
constexpr std::size_t kMostSchemas = 5000;
constexpr int kDeepestSchema = 100;

/// Keywords that restrict a value and that the validator does not enforce, or not safely.
constexpr std::array<std::string_view, 12> kNotEnforced = {
    "pattern",          "patternProperties",     "prefixItems",      "dependentRequired",
    "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "minContains",
    "maxContains",      "$dynamicRef",           "$recursiveRef",    "$id",
};
constexpr std::array<std::string_view, 4> kMapsOfSchemas = {"properties", "$defs", "definitions", "dependencies"};
constexpr std::array<std::string_view, 4> kInnerSchemas = {"additionalItems", "contains", "additionalProperties",
                                                           "propertyNames"};
/// These apply to the same value as the schema around them.
constexpr std::array<std::string_view, 4> kSameValue = {"not", "if", "then", "else"};
constexpr std::array<std::string_view, 3> kListsForSameValue = {"allOf", "anyOf", "oneOf"};

/// Walks through a schema once: refuses what would not be enforced, drops what is an annotation, and makes sure that no
/// schema leads back to itself for the same value, which the validator would follow for ever.
class SchemaWalk
{
public:
    SchemaWalk(json &root, std::string field) : m_root(root), m_field(std::move(field)) {}

    void run()
    {
        visit(m_root);
        for (auto &entry : m_nodes)
            requireNoCircle(entry.second);
    }

private:
    struct Node
    {
        enum class State { New, OnTheWay, Done };
        std::vector<const json *> sameValue; ///< schemas that apply to the same value
        State state = State::New;
    };

    void visit(json &schema)
    {
        if (schema.is_boolean())
            return;
        if (!schema.is_object())
            refuse(m_field, "found " + shown(schema) + " where a schema is wanted");
        if (m_nodes.contains(&schema))
            return;
        if (m_nodes.size() >= kMostSchemas || m_depth >= kDeepestSchema)
            refuse(m_field, "the schema is too large, or too deep");
        m_nodes[&schema] = {};
        ++m_depth;
        for (const std::string_view keyword : kNotEnforced) {
            if (schema.contains(keyword))
                refuse(m_field, "the schema's keyword `" + std::string(keyword) + "` is not enforced by this server");
        }
        schema.erase("format");
        visitInner(schema);
        visitSameValue(schema);
        --m_depth;
    }

    void visitInner(json &schema)
    {
        for (const std::string_view keyword : kMapsOfSchemas) {
            const auto map = schema.find(keyword);
            if (map == schema.end() || !map->is_object())
                continue;
            for (json &member : *map) {
                if (member.is_object() || member.is_boolean()) // a dependency may be a list of names
                    visit(member);
            }
        }
        for (const std::string_view keyword : kInnerSchemas) {
            if (const auto inner = schema.find(keyword); inner != schema.end())
                visit(*inner);
        }
        if (const auto items = schema.find("items"); items != schema.end())
            visitEach(*items);
    }

    void visitSameValue(json &schema)
    {
        std::vector<json *> same;
        for (const std::string_view keyword : kSameValue) {
            if (const auto inner = schema.find(keyword); inner != schema.end())
                same.push_back(&*inner);
        }
        for (const std::string_view keyword : kListsForSameValue) {
            if (const auto list = schema.find(keyword); list != schema.end() && list->is_array()) {
                for (json &inner : *list)
                    same.push_back(&inner);
            }
        }
        if (const auto reference = schema.find("$ref"); reference != schema.end())
            same.push_back(&resolved(*reference));
        m_nodes[&schema].sameValue.assign(same.begin(), same.end());
        for (json *inner : same)
            visit(*inner);
    }

    void visitEach(json &items)
    {
        if (!items.is_array()) {
            visit(items);
            return;
        }
        for (json &item : items)
            visit(item);
    }

    json &resolved(const json &reference)
    {
        const std::string text = reference.is_string() ? reference.get<std::string>() : "";
        if (!text.starts_with('#'))
            refuse(m_field,
                   "$ref is " + shown(reference) + ", but only references into the schema itself are followed");
        try {
            return m_root.at(json::json_pointer(text.substr(1)));
        } catch (const json::exception &) {
            refuse(m_field, "$ref " + shown(reference) + " leads nowhere");
        }
    }

    void requireNoCircle(Node &node)
    {
        if (node.state == Node::State::Done)
            return;
        if (node.state == Node::State::OnTheWay)
            refuse(m_field, "the schema refers to itself without going into a value");
        node.state = Node::State::OnTheWay;
        for (const json *inner : node.sameValue) {
            if (const auto found = m_nodes.find(inner); found != m_nodes.end()) // true and false are no nodes
                requireNoCircle(found->second);
        }
        node.state = Node::State::Done;
    }

    json &m_root;
    std::string m_field;
    std::map<const json *, Node> m_nodes;
    int m_depth = 0;
};

std::vector<std::string> pathOf(const std::vector<std::string> &context)
{
    std::vector<std::string> path; // "<root>", "[name]", "[3]"
    for (std::size_t i = 1; i < context.size(); ++i) {
        const std::string &step = context[i];
        const bool inBrackets = step.size() >= 2 && step.front() == '[' && step.back() == ']';
        path.push_back(inBrackets ? step.substr(1, step.size() - 2) : step);
    }
    return path;
}

} // namespace

struct JsonSchema::Compiled
{
    valijson::Schema schema;
};

JsonSchema::JsonSchema(const json &schema, const std::string &field)
{
    json copy = schema;
    SchemaWalk(copy, field).run();
    auto compiled = std::make_unique<Compiled>();
    try {
        valijson::SchemaParser parser;
        parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(copy), compiled->schema);
    } catch (const std::exception &error) {
        refuse(field, std::string("the schema cannot be used: ") + error.what());
    }
    m_compiled = std::move(compiled);
}

JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema &&) noexcept = default;
JsonSchema &JsonSchema::operator=(JsonSchema &&) noexcept = default;

std::optional<SchemaProblem> JsonSchema::check(const json &value) const
{
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(m_compiled->schema, valijson::adapters::NlohmannJsonAdapter(value), &results))
        return std::nullopt;
    SchemaProblem problem;
    for (const auto &error : results) {
        if (problem.message.empty() || error.context.size() > problem.path.size() + 1)
            problem = {pathOf(error.context), error.description};
    }
    return problem;
}

} // namespace palimpsest::openai

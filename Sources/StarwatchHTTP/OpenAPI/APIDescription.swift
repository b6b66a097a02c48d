import FoundationEssentials
import Starwatch
import StarwatchCore

/// The description of the control API as OpenAPI 3.1, made from the verbs and their types, and from the comments at both.
package struct APIDescription: Sendable {
    /// The document as JSON with sorted keys.
    package static let json = [UInt8]((try? JSONEncoder.stable(isPretty: true).encode(made?.document)) ?? Data())

    /// `nil` if a type cannot be decoded from the values of a ``SchemaProbe``. A test finds that.
    static let made = try? APIDescription()

    private let notes = SourceNotes.embedded
    private var schemas: [String: JSONTree] = [:]
    private var paths: [String: [String: JSONTree]] = [:]

    private init() throws {
        try add("status", of: "ControlAPI", ControlAPI.status)
        for (name, verb) in ControlAPI.named { try add(name, of: "ControlVerbs", verb) }
        for page in ServedPage.reading + ServedPage.control { try add(page) }
        _ = try content(of: ControlErrorBody.self)
    }

    private var document: JSONTree {
        [
            "openapi": "3.1.0",
            "info": ["title": "Starwatch control API", "version": "1", "description": .text(APIFacts.about)],
            "servers": [["url": "/"]],
            "security": [["token": []]],
            "paths": .object(paths.mapValues(JSONTree.object)),
            "components": [
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
                "responses": .object(
                    APIFacts.errors.reduce(into: [:]) { $0[$1.value.name] = answer($1.key, $1.value) }
                ),
                "schemas": .object(schemas),
            ],
        ]
    }

    private func answer(_ status: Int, _ error: (name: String, kind: String, meaning: String)) -> JSONTree {
        let example: JSONTree = ["error": ["kind": .text(error.kind), "message": "…"]]
        var answer: [String: JSONTree] = ["description": .text(error.meaning)]
        answer["headers"] = APIFacts.headers[status]
        answer["content"] = ["application/json": ["schema": Self.reference("Error"), "example": example]]
        return .object(answer)
    }

    private static func reference(_ name: String) -> JSONTree { ["$ref": "#/components/schemas/\(name)"] }

    // MARK: - Operations

    private mutating func add<V: AnyVerb>(_ name: String, of owner: String, _ described: V) throws {
        let verb = described.verb
        var operation = operation(name, notes["\(owner).\(name)"], verb.path)
        let query = verb.form.parameters.map {
            parameter($0, "query", "\(SchemaProbe.name(of: V.Input.self)).\(ControlJSON.camel($0))")
        }
        operation["parameters"] = list(arguments(of: verb.path) + query)
        if let body = verb.form.body {
            operation["requestBody"] = ["required": true, "content": .object(try content(of: body))]
        }
        let meaning = notes[SchemaProbe.name(of: V.Answer.self)]?.text ?? "The answer."
        let content = try content(of: V.Answer.self)
        var answers: [String: JSONTree] = ["200": ["description": .text(meaning), "content": .object(content)]]
        if verb.path == ControlAPI.runPoll.path { answers["303"] = APIFacts.wayBack }
        // The header that names one of many accounts can be malformed, name none, or be missing.
        let errors = verb.path == ControlAPI.status.path ? [400] : verb.reads ? [400, 404, 409] : [400, 404, 409, 413]
        add(operation, verb.method, at: verb.path, answers: answers, errors: errors)
    }

    private mutating func add(_ page: ServedPage) throws {
        let note = SourceNotes.Note(text: page.meaning)
        var operation = operation(page.id, note, page.path)
        let others = page.parameters.map { parameter($0, $0.contains("-") ? "header" : "query", "\(page.id).\($0)") }
        operation["parameters"] = list(arguments(of: page.path) + others)
        if page.path.hasPrefix("/feed/{token}") { operation["security"] = [] }
        let content =
            try page.types?.reduce(into: [:]) { content, type in
                content[type] = ["schema": ["type": type.hasSuffix("json") ? "object" : "string"]]
            } ?? content(of: page.body)
        var answers: [String: JSONTree] = ["200": ["description": .text(note.summary), "content": .object(content)]]
        if page.canBeUnavailable { answers["503"] = answers["200"] }
        if page.isFeed { answers["304"] = ["description": "If-None-Match names the ETag of this page."] }
        add(operation, "GET", at: page.path, answers: answers, errors: page.errors)
    }

    private func operation(_ id: String, _ note: SourceNotes.Note?, _ path: String) -> [String: JSONTree] {
        let topic =
            path.split(separator: "/").drop { ["api", "v1", "-"].contains($0) }.first?.prefix { $0 != "." } ?? "status"
        var operation: [String: JSONTree] = ["operationId": .text(id), "summary": .text(note?.summary ?? id)]
        operation["description"] = note?.details.map(JSONTree.text)
        operation["tags"] = [.text(topic.prefix(1).uppercased() + topic.dropFirst())]
        return operation
    }

    private mutating func add(
        _ operation: [String: JSONTree],
        _ method: String,
        at path: String,
        answers: [String: JSONTree],
        errors: [Int]
    ) {
        var (operation, answers) = (operation, answers)
        for status in [401, 403, 429, 500] + errors {
            guard let error = APIFacts.errors[status] else { continue }
            answers["\(status)"] = ["$ref": "#/components/responses/\(error.name)"]
        }
        operation["responses"] = .object(answers)
        paths[path, default: [:]][method.lowercased()] = .object(operation)
    }

    private func list(_ values: [JSONTree]) -> JSONTree? { values.isEmpty ? nil : .list(values) }

    // MARK: - Parameters

    private func arguments(of path: String) -> [JSONTree] {
        let parts = path.split(separator: "/")
        return parts.indices.filter { parts[$0].hasPrefix("{") }.map {
            parameter(String(parts[$0].dropFirst().dropLast()), "path", "\(parts[$0 - 1])/\(parts[$0])")
        }
    }

    /// - Parameter field: The name of its facts, and the property that holds it.
    private func parameter(_ name: String, _ place: String, _ field: String) -> JSONTree {
        let note = notes[field]
        var schema: [String: JSONTree] =
            switch note?.type {
            case "Int64": APIFacts.wholeNumber
            case "Bool": ["type": "boolean", "default": false]
            case "TimeText": ["type": "string", "format": "date-time"]
            default: ["type": "string"]
            }
        schema.merge(APIFacts.facts[field] ?? [:]) { $1 }
        var parameter: [String: JSONTree] = ["name": .text(name), "in": .text(place)]
        if place == "path" { parameter["required"] = true }
        parameter["description"] = schema.removeValue(forKey: "description") ?? note.map { .text($0.text) }
        if parameter["description"] == "" { parameter["description"] = nil }
        parameter["example"] = schema.removeValue(forKey: "example")
        parameter["schema"] = .object(schema)
        return .object(parameter)
    }

    // MARK: - Schemas

    /// The content of a body or an answer.
    private mutating func content(of type: any Decodable.Type) throws -> [String: JSONTree] {
        let schema = schema(of: try SchemaProbe(type))
        return ["application/json": ["schema": schema, "example": sample(of: schema)]]
    }

    private mutating func schema(of node: SchemaProbe, _ field: String = "") -> JSONTree {
        let isTime = notes[field.filter { $0 != "[" && $0 != "]" }]?.type == "TimeText"
        let schema: [String: JSONTree]
        switch node.kind {
        case .words(let words): schema = ["type": "string", "enum": .list(words.map(JSONTree.text))]
        case .text: schema = isTime ? ["type": "string", "format": "date-time"] : ["type": "string"]
        case .integer: schema = ["type": "integer"]
        case .long: schema = ["type": "integer", "format": "int64"]
        case .number: schema = ["type": "number"]
        case .flag: schema = ["type": "boolean"]
        case .list:
            let items = node.items.map { self.schema(of: $0, field + "[]") }
            schema = ["type": "array", "items": items ?? [:]]
        case .object:
            guard let value = node.properties[SchemaProbe.anyName] else { return object(node) }
            schema = ["type": "object", "additionalProperties": orNull(value, self.schema(of: value, field + "[]"))]
        }
        return .object(schema.merging(APIFacts.facts[field] ?? [:]) { $1 })
    }

    /// A reference to the schema of a type of its own, or the schema of one that only another type has.
    private mutating func object(_ node: SchemaProbe) -> JSONTree {
        var properties: [String: JSONTree] = [:]
        for (name, child) in node.properties {
            let field = "\(node.name).\(ControlJSON.camel(name))"
            var property = schema(of: child, field)
            if node.required.contains(name) { property = orNull(child, property) }
            if case .object(var members) = property, let text = notes[field]?.text, !text.isEmpty {
                members["description"] = .text((members["description"]?.scalar.map { $0 + " " } ?? "") + text)
                property = .object(members)
            }
            properties[name] = property
        }
        let isSelection = properties["ids"] != nil && properties["all"] != nil
        var schema = isSelection ? Self.selection(properties) : Self.object(properties, node.required.sorted())
        let text = notes[node.name]?.text ?? ""
        if !text.isEmpty { schema["description"] = .text(text) }
        let name = APIFacts.names[node.name] ?? (node.name.contains(".") ? "" : node.name)
        guard !name.isEmpty else { return .object(schema) }
        schemas[name] = .object(schema)
        return Self.reference(name)
    }

    private func orNull(_ node: SchemaProbe, _ schema: JSONTree) -> JSONTree {
        node.isNullable ? ["anyOf": [schema, ["type": "null"]]] : schema
    }

    private static func object(_ properties: [String: JSONTree], _ required: [String]) -> [String: JSONTree] {
        [
            "type": "object", "properties": .object(properties), "required": .list(required.map(JSONTree.text)),
            "additionalProperties": false,
        ]
    }

    /// Rows by their ids, or all of them, as ``RowSelection`` checks it.
    private static func selection(_ properties: [String: JSONTree]) -> [String: JSONTree] {
        let null: JSONTree = ["type": "null"]
        var byID = properties.mapValues { _ in null }
        (byID["ids"], byID["all"]) = (properties["ids"], ["enum": [false, .null]])
        var all = properties.mapValues { ["anyOf": [$0, null]] as JSONTree }
        (all["ids"], all["all"]) = (null, ["const": true])
        return ["oneOf": [.object(object(byID, ["ids"])), .object(object(all, ["all"]))]]
    }

    // MARK: - Examples

    /// A value of a schema, with the fields that are always there.
    private func sample(of schema: JSONTree, _ name: String = "") -> JSONTree {
        guard case .object(let schema) = schema else { return .null }
        if let target = target(of: schema) { return sample(of: target, name) }
        if let word = schema["const"] ?? schema["example"] { return word }
        for key in ["enum", "oneOf", "anyOf"] {
            if case .list(let choices)? = schema[key], let first = choices.first {
                return key == "enum" ? first : sample(of: first, name)
            }
        }
        switch schema["type"] {
        case "array": return [sample(of: schema["items"] ?? [:], name)]
        case "integer", "number": return 1
        case "boolean": return true
        case "object":
            if let value = schema["additionalProperties"], value != false {
                return .object([APIFacts.samples[name]?.scalar ?? "hook": sample(of: value)])
            }
            guard case .object(let properties)? = schema["properties"], case .list(let required)? = schema["required"]
            else { return [:] }
            return .object(
                required.compactMap(\.scalar).reduce(into: [:]) { $0[$1] = sample(of: properties[$1] ?? [:], $1) }
            )
        default:
            if schema["format"] == "date-time" { return "2026-01-01T12:00:00.000Z" }
            // The first word that the description names.
            let words = schema["description"]?.scalar?.split(separator: "`", omittingEmptySubsequences: false)
                .dropFirst()
            return APIFacts.samples[name] ?? .text(words?.first.map(String.init) ?? "…")
        }
    }

    private func target(of schema: [String: JSONTree]) -> JSONTree? {
        schema["$ref"]?.scalar.flatMap { $0.split(separator: "/").last }.flatMap { schemas[String($0)] }
    }

    /// The fields of the status in JSON, with their meanings. `NAME` stands for the name of a poll, digest or sink.
    var statusFields: [(path: String, meaning: String)] { fields(of: schemas["Status"] ?? [:], "", "") }

    private func fields(of schema: JSONTree, _ path: String, _ meaning: String) -> [(path: String, meaning: String)] {
        guard case .object(let members) = schema else { return [] }
        if let target = target(of: members) { return fields(of: target, path, meaning) }
        let meaning = members["description"]?.scalar ?? meaning
        if case .object(let properties)? = members["properties"] {
            return properties.sorted { $0.key < $1.key }.flatMap {
                fields(of: $0.value, path.isEmpty ? $0.key : "\(path).\($0.key)", "")
            }
        }
        if let items = members["items"], items["type"] != "string" { return fields(of: items, path + "[]", meaning) }
        if let value = members["additionalProperties"] { return fields(of: value, path + ".NAME", meaning) }
        return [(path, meaning)]
    }
}

import Foundation
import StarwatchCore

@testable import Starwatch
@testable import StarwatchHTTP

/// The parts of the OpenAPI document that the tests use.
struct OpenAPIDocument {
    typealias Object = [String: Any]

    let root: Object

    init(_ bytes: [UInt8]) throws {
        root = try JSONSerialization.jsonObject(with: Data(bytes)) as? Object ?? [:]
    }

    var schemas: Object { (root["components"] as? Object)?["schemas"] as? Object ?? [:] }

    /// `GET /path` and the operation.
    var operations: [String: Object] {
        var found: [String: Object] = [:]
        for (path, item) in root["paths"] as? Object ?? [:] {
            for (method, operation) in item as? Object ?? [:] {
                found["\(method.uppercased()) \(path)"] = operation as? Object
            }
        }
        return found
    }

    func resolved(_ value: Any?) -> Object {
        let object = value as? Object ?? [:]
        guard let reference = object["$ref"] as? String else { return object }
        return resolved(
            reference.dropFirst(2).split(separator: "/").reduce(root as Any?) { ($0 as? Object)?[String($1)] }
        )
    }

    /// The JSON content of a body or an answer, with its schema.
    func content(_ holder: Any?) -> Object? {
        (resolved(holder)["content"] as? Object)?["application/json"] as? Object
    }

    // MARK: - Values

    /// Violations of the schema, with their paths; empty if `value` matches.
    func problems(of value: Any, in schema: Any?, at path: String = "$") -> [String] {
        let schema = resolved(schema)
        for key in ["oneOf", "anyOf"] {
            guard let choices = schema[key] as? [Any] else { continue }
            let fitting = choices.filter { problems(of: value, in: $0, at: path).isEmpty }.count
            return fitting == 1 ? [] : ["\(path) fits \(fitting) of the choices"]
        }
        if let word = schema["const"] { return "\(word)" == "\(value)" ? [] : ["\(path) is not \(word)"] }
        if let words = schema["enum"] as? [Any], !words.contains(where: { "\($0)" == "\(value)" }) {
            return ["\(path) is none of \(words)"]
        }
        switch schema["type"] as? String {
        case "object"?: return objectProblems(value, schema, path)
        case "array"?:
            guard let values = value as? [Any] else { return ["\(path) is no array"] }
            return values.enumerated().flatMap {
                problems(of: $0.element, in: schema["items"], at: "\(path)[\($0.offset)]")
            }
        case "string"?: return value is String ? [] : ["\(path) is not a string"]
        case "boolean"?: return value is Bool ? [] : ["\(path) is no boolean"]
        case "integer"?, "number"?: return value is NSNumber ? [] : ["\(path) is no number"]
        case "null"?: return value is NSNull ? [] : ["\(path) is not null"]
        default: return []
        }
    }

    private func objectProblems(_ value: Any, _ schema: Object, _ path: String) -> [String] {
        guard let value = value as? Object else { return ["\(path) is no object"] }
        let properties = schema["properties"] as? Object ?? [:]
        var found = (schema["required"] as? [String] ?? []).filter { value[$0] == nil }.map {
            "\(path).\($0) is missing"
        }
        for (name, field) in value {
            if let property = properties[name] {
                found += problems(of: field, in: property, at: "\(path).\(name)")
            } else if let other = schema["additionalProperties"] as? Object {
                found += problems(of: field, in: other, at: "\(path).\(name)")
            } else if schema["additionalProperties"] as? Bool == false {
                found.append("\(path).\(name) is not described")
            }
        }
        return found
    }
}

import Foundation

/// The parameters of the changes report.
struct ChangesQuery: Sendable {
    var planIDs: Set<String> = []
    /// Number of sent identifiers, including duplicates.
    var planIDCount = 0
    var afterID: String?
    var beforeID: String?
    var limit: Int?
    /// The first parameter with a wrong type.
    var problem: Problem?

    /// A parameter with a wrong type.
    struct Problem: Sendable {
        let field: String
        let expected: String
        let received: String
    }

    /// Parses a body; `nil` if it is not a JSON object.
    init?(body: [UInt8]) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else { return nil }
        afterID = text("afterId", object)
        beforeID = text("beforeId", object)
        if let given = object["limit"], !(given is NSNull) {
            if let number = given as? Int {
                limit = number
            } else {
                note("limit", "number", given)
            }
        }
        takePlanIDs(object["planIds"])
    }

    /// Creates a query from the parameters of the GET form.
    init(planIDs: [String], afterID: String?, beforeID: String?) {
        self.planIDs = Set(planIDs)
        planIDCount = planIDs.count
        self.afterID = afterID
        self.beforeID = beforeID
    }

    private mutating func takePlanIDs(_ value: Any?) {
        if let ids = value as? [String] {
            planIDs = Set(ids)
            planIDCount = ids.count
        } else {
            note("planIds", "string[]", value)
        }
    }

    private mutating func text(_ key: String, _ object: [String: Any]) -> String? {
        guard let value = object[key], !(value is NSNull) else { return nil }
        if let text = value as? String { return text }
        note(key, "string", value)
        return nil
    }

    private mutating func note(_ field: String, _ expected: String, _ value: Any?) {
        // The real server checks the plan identifiers first, so their problem takes precedence.
        guard problem == nil || field == "planIds" else { return }
        let received =
            switch value {
            case nil: "undefined"
            case is NSNull: "null"
            case is String: "string"
            case is [Any]: "array"
            case is [String: Any]: "object"
            default: "number"
            }
        problem = Problem(field: field, expected: expected, received: received)
    }
}

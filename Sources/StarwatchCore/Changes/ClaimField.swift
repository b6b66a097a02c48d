/// The fields of a former claim that are no details of a plan (R-EP-04).
///
/// A server sends them only with the former claim, so nothing but that claim tells their change. Their value after the change
/// is unknown unless the plan has a member of the same name.
public enum ClaimField: String, Sendable, CaseIterable {
    case status, progress
}

extension FieldChange {
    /// The differences of a change: those from the last seen details of the plan, with what only the former claim tells.
    ///
    /// - Parameters:
    ///   - seen: The differences from the last seen details; `nil` if there are none to compare with.
    ///   - claimed: The differences from the former claim that the server sent along.
    package static func merged(
        seen: [String: FieldChange]?,
        claimed: [String: FieldChange]?
    ) -> [String: FieldChange]? {
        guard let seen, let claimed else { return seen ?? claimed }
        var merged = seen
        for field in ClaimField.allCases.map(\.rawValue) where merged[field] == nil { merged[field] = claimed[field] }
        return merged
    }
}

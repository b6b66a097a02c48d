extension PlanDetails {
    /// The fields that differ from an earlier claim of the plan; `nil` if the claim shows no difference.
    ///
    /// Only the claim's own fields are compared, because a claim can leave out what the server keeps. A server writes
    /// times in its own way, so they are compared as times, and those of an unknown form are left out.
    func changes(sinceClaim claim: PlanDetails) -> [String: FieldChange]? {
        var found: [String: FieldChange] = [:]
        for field in Field.allCases {
            guard let before = claim[field], before != self[field] else { continue }
            if field == .startTime || field == .endTime {
                guard let time = Timestamp(iso8601: before) else { continue }
                if self[field].flatMap({ Timestamp(iso8601: $0) }) == time { continue }
            }
            found[field.rawValue] = FieldChange(before: before, after: self[field])
        }
        return found.isEmpty ? nil : found
    }
}

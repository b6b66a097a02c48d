/// Encodes changes for the pages of the canonical dialect.
enum CanonicalRow {
    /// Encodes the parts of a row that the dialect's pages use.
    static func encode(_ row: inout ChangeRow) {
        row.encoded = item(row).bytes
        let time = JSONValue.string(ClockText.iso(row.changedAt))
        let claim: JSONValue = [
            "jwtId": .string(row.id), "claimType": "project_update",
            "claimData": row.claimContent.map(JSONValue.encoded) ?? [
                "status": "in_progress", "name": .string(row.plan.name), "description": .string(row.plan.description),
                "version": .integer(row.version),
            ],
            "metadata": ["createdAt": time, "updatedAt": time],
        ]
        row.claim = claim.bytes
    }

    /// The item of a page.
    static func item(_ row: ChangeRow) -> JSONValue {
        let plan = row.plan
        var summary: JSONValue = [
            "jwtId": .string(row.id), "handleId": .string(plan.id), "name": .string(plan.name),
            "description": .string(plan.description), "issuerDid": .string(plan.issuerDID),
            "agentDid": .string(plan.agentDID), "startTime": .string(plan.startTime),
            "endTime": .string(plan.endTime),
            "locLat": plan.latitude.map(JSONValue.number) ?? .null,
            "locLon": plan.longitude.map(JSONValue.number) ?? .null,
        ]
        if let url = plan.url { summary["url"] = .string(url) }
        summary["version"] = .string("1.0.\(row.version - 1)")
        var item: JSONValue = ["planSummary": summary]
        if let previous = row.previousClaim { item["previousClaim"] = .encoded(previous) }
        return item
    }
}

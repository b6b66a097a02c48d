import FoundationEssentials

/// The fields of a plan that both dialects share.
struct PlanWire {
    var id: String?
    var handle: String?
    var details = PlanDetails()
    var name: String?
    var issues: [ValidationIssue] = []
    var remarks: [ValidationIssue] = []

    /// - Parameters:
    ///   - isNameRequired: Whether strict validation requires a name.
    ///   - checkRest: Validates the other fields; only called for strict validation.
    init(
        _ decoder: any Decoder,
        isNameRequired: Bool,
        checkRest: (inout FieldReader<PlanKey>, _ name: String?) -> Void
    ) {
        issues = FieldReader<PlanKey>.issues(of: decoder) { fields in
            id = fields.read(.jwtId, required: true)
            handle = fields.read(.handleId, required: true)
            if handle == "" { fields.record(.handleId, .invalid) }
            name = fields.read(.name, required: isNameRequired && fields.strict)
            details = PlanDetails(readFrom: fields.container)
            if isNameRequired, name == "", !fields.strict {
                let path = FieldReading.path(fields.container.codingPath + [PlanKey.name])
                remarks.append(ValidationIssue(path: path, problem: .invalid))
            }
            if fields.strict { checkRest(&fields, name) }
        }
    }
}

/// A plan in the endorser dialect. Every field except the identifiers can be null.
struct EndorserPlanWire: Decodable {
    let plan: PlanWire

    init(from decoder: any Decoder) throws {
        plan = PlanWire(decoder, isNameRequired: false) { fields, _ in
            for key in [PlanKey.description, .issuerDid, .agentDid, .url] { _ = fields.read(key, String.self) }
            for key in [PlanKey.startTime, .endTime] { fields.checkTime(key, required: false) }
            for key in [PlanKey.locLat, .locLon] { _ = fields.read(key, Double.self) }
        }
    }
}

/// A plan in the canonical dialect. Strict validation is the contract's schema, field by field (R-VAL-02).
struct CanonicalPlanWire: Decodable {
    let plan: PlanWire

    init(from decoder: any Decoder) throws {
        plan = PlanWire(decoder, isNameRequired: true) { fields, name in
            if name == "" { fields.record(.name, .invalid) }
            for key in [PlanKey.description, .version] { _ = fields.read(key, String.self, required: true) }
            for key in [PlanKey.issuerDid, .agentDid] {
                if let did = fields.read(key, String.self, required: true), !did.hasPrefix("did:key:") {
                    fields.record(key, .invalid)
                }
            }
            for key in [PlanKey.startTime, .endTime] { fields.checkDateTime(key) }
            for key in [PlanKey.locLat, .locLon] { _ = fields.read(key, Double.self) }
            if let url = fields.read(.url, String.self), !StrictFormat.isURL(url) { fields.record(.url, .invalid) }
        }
    }
}

/// The keys of a plan in both dialects.
enum PlanKey: String, CodingKey {
    case jwtId, handleId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url, image
    case version
}

extension FieldReader {
    /// Checks that a field is an RFC 3339 time.
    fileprivate mutating func checkTime(_ key: Key, required: Bool) {
        if let time = read(key, String.self, required: required), Timestamp(iso8601: time) == nil {
            record(key, .invalid)
        }
    }

    /// Checks that a field is a time as the contract's schema wants it (R-VAL-06).
    fileprivate mutating func checkDateTime(_ key: Key) {
        if let time = read(key, String.self, required: true), !StrictFormat.isDateTime(time) { record(key, .invalid) }
    }
}

/// The `previousClaim` of an item in the canonical dialect (R-VAL-03), as the contract's schema describes it.
struct PreviousClaimWire: Decodable {
    struct Metadata: Decodable {
        enum CodingKeys: String, CodingKey { case createdAt, updatedAt }

        var issues: [ValidationIssue] = []

        init(from decoder: any Decoder) throws {
            issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
                for key in [CodingKeys.createdAt, .updatedAt] { fields.checkDateTime(key) }
            }
        }
    }

    enum CodingKeys: String, CodingKey { case jwtId, claimType, claimData, metadata }

    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
            if let id = fields.read(.jwtId, String.self, required: true), !StrictFormat.isCanonicalID(id) {
                fields.record(.jwtId, .invalid)
            }
            _ = fields.read(.claimType, String.self, required: true)
            _ = fields.read(.claimData, AnyObjectWire.self, required: true)
            if let metadata: Metadata = fields.read(.metadata, required: true) { fields.adopt(metadata.issues) }
        }
    }
}

/// A JSON object with any content.
private struct AnyObjectWire: Decodable {
    private enum NoKey: CodingKey {}

    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKey.self) }
}

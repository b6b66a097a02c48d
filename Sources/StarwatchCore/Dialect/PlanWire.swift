import FoundationEssentials

/// A plan in the endorser dialect. Every field except the identifiers can be null.
struct PlanWire: Decodable {
    var id: String?
    var handle: String?
    var details = PlanDetails()
    var name: String?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        guard var fields = FieldReader(decoder, keys: PlanKey.self) else {
            issues = FieldReading.notAnObject(decoder)
            return
        }
        id = fields.read(.jwtId, required: true)
        handle = fields.read(.handleId, required: true)
        if handle == "" { fields.record(.handleId, .invalid) }
        name = fields.read(.name)
        details = fields.details(name: name)
        if fields.strict {
            for key in [PlanKey.description, .issuerDid, .agentDid, .url] { _ = fields.read(key, String.self) }
            for key in [PlanKey.startTime, .endTime] {
                if let time = fields.read(key, String.self), Timestamp(iso8601: time) == nil {
                    fields.record(key, .invalid)
                }
            }
            for key in [PlanKey.locLat, .locLon] { _ = fields.read(key, Double.self) }
        }
        issues = fields.issues
    }
}

/// A plan in the canonical dialect (R-VAL-02). Only strict validation checks all fields.
struct CanonicalPlanWire: Decodable {
    var id: String?
    var handle: String?
    var details = PlanDetails()
    var name: String?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        guard var fields = FieldReader(decoder, keys: PlanKey.self) else {
            issues = FieldReading.notAnObject(decoder)
            return
        }
        id = fields.read(.jwtId, required: true)
        handle = fields.read(.handleId, required: true)
        if handle == "" { fields.record(.handleId, .invalid) }
        name = fields.read(.name, required: fields.strict)
        details = fields.details(name: name)
        if fields.strict { Self.checkRest(&fields, name: name) }
        issues = fields.issues
    }

    private static func checkRest(_ fields: inout FieldReader<PlanKey>, name: String?) {
        if name == "" { fields.record(.name, .invalid) }
        for key in [PlanKey.description, .version] { _ = fields.read(key, String.self, required: true) }
        for key in [PlanKey.issuerDid, .agentDid] {
            if let did = fields.read(key, String.self, required: true), !did.hasPrefix("did:") {
                fields.record(key, .invalid)
            }
        }
        for key in [PlanKey.startTime, .endTime] {
            if let time = fields.read(key, String.self, required: true), Timestamp(iso8601: time) == nil {
                fields.record(key, .invalid)
            }
        }
        for key in [PlanKey.locLat, .locLon] { _ = fields.read(key, Double.self) }
        if let url = fields.read(.url, String.self), URL(string: url)?.scheme == nil { fields.record(.url, .invalid) }
    }
}

/// The keys of a plan in both dialects.
enum PlanKey: String, CodingKey {
    case jwtId, handleId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url, image
    case version
}

extension FieldReader<PlanKey> {
    /// The details of the plan, as far as they are readable. An invalid detail is no reason to reject the change.
    fileprivate func details(name: String?) -> PlanDetails {
        func value<Value: Decodable>(_ key: PlanKey) -> Value? {
            (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
        }
        var details = PlanDetails()
        details[.name] = name
        details[.description] = value(.description)
        details[.startTime] = value(.startTime)
        details[.endTime] = value(.endTime)
        details[.url] = value(.url)
        details[.image] = value(.image)
        if let north: Double = value(.locLat), let east: Double = value(.locLon) {
            details[.location] = "\(north),\(east)"
        }
        return details
    }
}

/// The `previousClaim` of an item in the canonical dialect (R-VAL-03). Only its shape is checked.
struct PreviousClaimWire: Decodable {
    struct Metadata: Decodable {
        enum CodingKeys: String, CodingKey { case createdAt, updatedAt }

        var issues: [ValidationIssue] = []

        init(from decoder: any Decoder) throws {
            guard var fields = FieldReader(decoder, keys: CodingKeys.self) else {
                issues = FieldReading.notAnObject(decoder)
                return
            }
            for key in [CodingKeys.createdAt, .updatedAt] {
                if let time = fields.read(key, String.self, required: true), Timestamp(iso8601: time) == nil {
                    fields.record(key, .invalid)
                }
            }
            issues = fields.issues
        }
    }

    enum CodingKeys: String, CodingKey { case jwtId, claimType, claimData, metadata }

    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        guard var fields = FieldReader(decoder, keys: CodingKeys.self) else {
            issues = FieldReading.notAnObject(decoder)
            return
        }
        if let id = fields.read(.jwtId, String.self, required: true), JWTID(id) == nil {
            fields.record(.jwtId, .invalid)
        }
        _ = fields.read(.claimType, String.self, required: true)
        if !fields.container.contains(.claimData) { fields.record(.claimData, .missing) }
        if let metadata: Metadata = fields.read(.metadata, required: true) { fields.adopt(metadata.issues) }
        issues = fields.issues
    }
}

import FoundationEssentials

/// A plan as the endorser dialect sends it: anything but its identifiers may be null.
struct PlanWire: Decodable {
    enum CodingKeys: String, CodingKey {
        case jwtId, handleId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url
    }

    var id: String?
    var handle: String?
    var name: String?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        guard var fields = FieldReader(decoder, keys: CodingKeys.self) else {
            issues = FieldReading.notAnObject(decoder)
            return
        }
        id = fields.read(.jwtId, required: true)
        handle = fields.read(.handleId, required: true)
        if handle == "" { fields.note(.handleId, .invalid) }
        name = fields.read(.name)
        if fields.strict {
            for key in [CodingKeys.description, .issuerDid, .agentDid, .url] { _ = fields.read(key, String.self) }
            for key in [CodingKeys.startTime, .endTime] {
                if let time = fields.read(key, String.self), Timestamp(iso8601: time) == nil {
                    fields.note(key, .invalid)
                }
            }
            for key in [CodingKeys.locLat, .locLon] { _ = fields.read(key, Double.self) }
        }
        issues = fields.issues
    }
}

/// A plan as the canonical dialect promises it (R-VAL-02). All of the promise is checked only when strict.
struct CanonicalPlanWire: Decodable {
    enum CodingKeys: String, CodingKey {
        case jwtId, handleId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url, version
    }

    var id: String?
    var handle: String?
    var name: String?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        guard var fields = FieldReader(decoder, keys: CodingKeys.self) else {
            issues = FieldReading.notAnObject(decoder)
            return
        }
        id = fields.read(.jwtId, required: true)
        handle = fields.read(.handleId, required: true)
        if handle == "" { fields.note(.handleId, .invalid) }
        name = fields.read(.name, required: fields.strict)
        if fields.strict { Self.checkRest(&fields, name: name) }
        issues = fields.issues
    }

    private static func checkRest(_ fields: inout FieldReader<CodingKeys>, name: String?) {
        if name == "" { fields.note(.name, .invalid) }
        for key in [CodingKeys.description, .version] { _ = fields.read(key, String.self, required: true) }
        for key in [CodingKeys.issuerDid, .agentDid] {
            if let did = fields.read(key, String.self, required: true), !did.hasPrefix("did:") {
                fields.note(key, .invalid)
            }
        }
        for key in [CodingKeys.startTime, .endTime] {
            if let time = fields.read(key, String.self, required: true), Timestamp(iso8601: time) == nil {
                fields.note(key, .invalid)
            }
        }
        for key in [CodingKeys.locLat, .locLon] { _ = fields.read(key, Double.self) }
        if let url = fields.read(.url, String.self), URL(string: url)?.scheme == nil { fields.note(.url, .invalid) }
    }
}

/// The claim before the change, in the canonical form (R-VAL-03). Only its shape is checked.
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
                    fields.note(key, .invalid)
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
            fields.note(.jwtId, .invalid)
        }
        _ = fields.read(.claimType, String.self, required: true)
        if !fields.container.contains(.claimData) { fields.note(.claimData, .missing) }
        if let metadata: Metadata = fields.read(.metadata, required: true) { fields.adopt(metadata.issues) }
        issues = fields.issues
    }
}

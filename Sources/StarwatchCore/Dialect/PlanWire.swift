/// The fields of a plan in either dialect.
struct PlanWire {
    var id: String?
    var handle: String?
    var name: String?
    /// `nil` for offers.
    var details: PlanDetails?
    var issues: [ValidationIssue] = []
    /// Faults that are no reason to reject the item, listed if it is rejected for another reason.
    var remarks: [ValidationIssue] = []

    init() {}

    /// A plan in the endorser dialect. Every field except the identifiers can be null.
    init(endorser value: JSONValue, strict: Bool) {
        self.init(value, strict: strict, isNameRequired: false) { fields in
            for key in [PageKey.description, .issuerDid, .agentDid, .url] { fields.checkText(key) }
            for key in [PageKey.startTime, .endTime] { fields.checkText(key) { Timestamp(iso8601: $0) != nil } }
            for key in [PageKey.locLat, .locLon] { _ = fields.read(key) { $0.number } }
        }
    }

    /// A plan in the canonical dialect. Strict validation is the contract's schema, field by field.
    init(canonical value: JSONValue, strict: Bool) {
        self.init(value, strict: strict, isNameRequired: true) { fields in
            if fields.object[.name]?.withUTF8({ $0.isEmpty }) == true { fields.record(.name, .invalid) }
            for key in [PageKey.description, .version] { fields.checkText(key, required: true) }
            for key in [PageKey.issuerDid, .agentDid] {
                fields.checkText(key, required: true, StrictFormat.isKeyDID)
            }
            for key in [PageKey.startTime, .endTime] {
                fields.checkText(key, required: true, StrictFormat.isDateTime)
            }
            for key in [PageKey.locLat, .locLon] { _ = fields.read(key) { $0.number } }
            fields.checkText(.url, StrictFormat.isURL)
        }
    }

    /// - Parameters:
    ///   - isNameRequired: Whether strict validation requires a name.
    ///   - checkRest: Validates the other fields; only called for strict validation.
    private init(_ value: JSONValue, strict: Bool, isNameRequired: Bool, checkRest: (inout FieldReader) -> Void) {
        issues = FieldReader.issues(of: value, strict: strict) { fields in
            id = fields.read(.jwtId, required: true) { $0.text }
            handle = fields.read(.handleId, required: true) { $0.line }
            if handle == "" { fields.record(.handleId, .invalid) }
            name = fields.read(.name, required: isNameRequired && strict) { $0.line }
            details = PlanDetails(readFrom: value, name: name)
            if isNameRequired, name == "", !strict {
                remarks.append(ValidationIssue(path: value.path + "." + PageKey.name.name, problem: .invalid))
            }
            if strict { checkRest(&fields) }
        }
    }
}

extension PlanWire {
    /// The issues of the `previousClaim` of an item in the canonical dialect, as the contract's schema describes it.
    static func issues(ofPreviousClaim value: JSONValue) -> [ValidationIssue] {
        FieldReader.issues(of: value, strict: true) { fields in
            fields.checkText(.jwtId, required: true) { JWTID.kind(of: $0) == .timestamped }
            fields.checkText(.claimType, required: true)
            _ = fields.read(.claimData, required: true) { $0.isObject ? true : nil }
            guard let metadata = fields.value(.metadata, required: true) else { return }
            let nested = FieldReader.issues(of: metadata, strict: true) { fields in
                for key in [PageKey.createdAt, .updatedAt] {
                    fields.checkText(key, required: true, StrictFormat.isDateTime)
                }
            }
            fields.adopt(nested)
        }
    }
}

extension PlanDetails {
    /// Reads a claim of a plan before the change: `previousClaim`, `wrappedClaimBefore`, or `claimBefore` of older
    /// servers.
    ///
    /// It is a hint. A server can send an older claim than the one before, one of another shape, or none, so nothing in
    /// it is an error.
    init(formerClaim claim: JSONValue) {
        if let content = claim[.claimData] {
            self.init(claimContent: content)
        } else if let content = claim[.claim] {
            // Release 4.2.10 of the server sends the claim as text.
            let text = content.readText(keys: PageKey.table) { PlanDetails(claimContent: $0) }
            self = text ?? PlanDetails(claimContent: content)
        } else {
            self.init()
        }
    }

    private init(claimContent content: JSONValue) {
        self.init(readFrom: content, name: content[.name]?.line)
        // A schema.org `PlanAction` has its coordinates in `location.geo`.
        let place = content[.location]?[.geo]
        if let north = place?[.latitude]?.number, let east = place?[.longitude]?.number {
            setLocation(north: north, east: east)
        }
    }

    /// Reads the details of a plan or claim, as far as they are readable. An invalid detail is no reason to reject the
    /// change.
    init(readFrom object: JSONValue, name: String?) {
        self.init()
        self[.name] = name
        self[.description] = object[.description]?.cleanText(keepsLines: true)
        self[.startTime] = object[.startTime]?.line
        self[.endTime] = object[.endTime]?.line
        self[.url] = object[.url]?.line
        self[.image] = object[.image]?.line
        if let north = object[.locLat]?.number, let east = object[.locLon]?.number {
            setLocation(north: north, east: east)
        }
    }

    private mutating func setLocation(north: Double, east: Double) {
        self[.location] = north.description + "," + east.description
    }
}

/// The formats of the contract's schema, which strict validation checks in the bytes of the page.
enum StrictFormat {
    /// Whether the text is an ISO 8601 time with `T`, an optional fraction of any length, and `Z`: `.datetime()` of the
    /// schema. Offsets, small letters and leap seconds are not allowed.
    static func isDateTime(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= 20, text[10] == UInt8(ascii: "T"), text[text.count - 1] == UInt8(ascii: "Z") else {
            return false
        }
        return text[17] < UInt8(ascii: "6") && Timestamp(iso8601: text) != nil
    }

    /// Whether the text begins with `did:key:`, the last colon without a combining mark.
    static func isKeyDID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.starts(with: "did:key:".utf8) else { return false }
        return text.count == 8 || text[8] < 0x80 || String(decoding: text, as: UTF8.self).hasPrefix("did:key:")
    }

    /// Whether the text is an absolute URL: `.url()` of the schema, which accepts what a browser parses.
    ///
    /// Any scheme will do. One of the web's needs a host as well.
    static func isURL(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // A browser drops these at both ends.
        var trimmed = text.drop { $0 <= 32 }
        while let last = trimmed.last, last <= 32 { trimmed.removeLast() }
        guard let colon = trimmed.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = trimmed[..<colon]
        guard scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isAlphanumeric || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return false }
        let isOfTheWeb = webSchemes.contains { name in
            name.utf8CodeUnitCount == scheme.count
                && zip(scheme, name.withUTF8Buffer(\.self)).allSatisfy { $0 | 0x20 == $1 }
        }
        guard isOfTheWeb else { return true }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let rest = trimmed[(colon + 1)...].drop(while: isSlash)
        let authority = rest.prefix { !isSlash($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let hostAndPort = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return isHost(hostAndPort)
    }

    private static let webSchemes: [StaticString] = ["http", "https", "ws", "wss", "ftp"]

    private static func isHost(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var host = text
        // The colons of an IPv6 address are inside of its brackets.
        if let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]")) {
            let port = text[(colon + 1)...]
            guard port.allSatisfy(\.isDigit),
                port.reduce(0, { min($0 * 10 + Int($1 - 48), 65536) }) <= 65535
            else { return false }
            host = text[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            return host.count > 3
                && host.dropFirst().dropLast().allSatisfy { byte in
                    (48...58).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte) || byte == 46
                }
        }
        return !host.isEmpty && host.allSatisfy(isPartOfHost)
    }

    private static func isPartOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...32, 127, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "^"), UInt8(ascii: "|"), UInt8(ascii: "%"), UInt8(ascii: ":"):
            false
        default: true
        }
    }

}

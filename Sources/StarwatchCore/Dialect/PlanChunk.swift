/// Plans that fit into one request, with their JSON, or a search for plans.
public struct PlanChunk: Sendable, Hashable {
    public let count: Int
    /// The JSON array of the plan identifiers.
    let json: [UInt8]
    /// The search; `nil` for named plans.
    package private(set) var search: PlanSearch?

    package init(_ search: PlanSearch) { (count, json, self.search) = (0, [], search) }

    private init(count: Int, json: [UInt8]) { (self.count, self.json) = (count, json) }

    /// The room for the keys, two cursors and the limit, in bytes.
    static let envelope = 256

    /// The room for the percent-encoded plans of a GET, in bytes. Proxies with their default settings refuse request
    /// lines above 8 KiB; the server itself allows 16 KiB.
    static let longestQuery = 7000

    /// Whether an identifier can stand in the query of a GET.
    package static func fitsQuery(_ planID: String) -> Bool {
        PollKind.PlanForm.query.length(of: StableJSON.bytes(of: [planID])) <= longestQuery
    }

    /// Splits `planIDs` into requests within the dialect's limits on count and body size, or within that of a query.
    ///
    /// Keeps the order. An identifier that is too long for any request gets a chunk of its own; the server rejects it.
    public static func split(_ planIDs: [String], dialect: Dialect, form: PollKind.PlanForm = .body) -> [PlanChunk] {
        let bound = form == .body ? dialect.maxBodyBytes - envelope : longestQuery
        var chunks: [PlanChunk] = []
        var json: [UInt8] = [UInt8(ascii: "[")]
        var count = 0
        var length = form.length(of: json)
        func close() {
            guard count > 0 else { return }
            json.append(UInt8(ascii: "]"))
            chunks.append(PlanChunk(count: count, json: json))
            json = [UInt8(ascii: "[")]
            count = 0
            length = form.length(of: json)
        }
        for id in planIDs {
            let encoded = StableJSON.bytes(of: id)
            let added = form.length(of: encoded) + form.length(of: [UInt8(ascii: ",")])
            // The comma of the first one is the closing bracket.
            if count == dialect.maxPlanIDs || (count > 0 && length + added > bound) { close() }
            if count > 0 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: encoded)
            length += added
            count += 1
        }
        close()
        return chunks
    }
}

extension PollKind.PlanForm {
    /// The length of a part of the JSON in the request.
    fileprivate func length(of json: [UInt8]) -> Int { self == .body ? json.count : PercentEncoding.length(of: json) }
}

/// The rule for identifiers of plans that a server can have. The server compares them literally and ignores unknown
/// ones, so a wrong identifier is never reported.
package enum PlanIDRule {
    private static let entity = "https://endorser.ch/entity/"

    /// Returns whether a plan of a server with this dialect can have the identifier.
    ///
    /// On an endorser server it is an IRI, and one under `https://endorser.ch/entity/` ends with a ULID. In the canonical
    /// dialect it is any text without blanks.
    package static func canExist(_ id: String, in dialect: Dialect) -> Bool {
        guard !id.isEmpty, id.unicodeScalars.count <= 2048, !id.contains(where: \.isWhitespace) else { return false }
        // The two are copied from the same place of the app.
        guard DID(id) == nil else { return false }
        guard dialect == .endorser else { return true }
        if id.hasPrefix(entity) {
            let name = id.utf8.dropFirst(entity.utf8.count)
            return name.count == 26 && name.allSatisfy("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8.contains)
        }
        // A link to the project, which the app copies.
        guard expanded(id, in: dialect) == id else { return false }
        guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), id.utf8.index(after: colon) < id.utf8.endIndex
        else { return false }
        let scheme = id.utf8[..<colon]
        return scheme.first?.isLetter == true && scheme.allSatisfy { $0.isAlphanumeric || "+.-".utf8.contains($0) }
    }

    /// Returns the identifier that a person means by a link to a project, as the app copies it, or by the end of one. Other
    /// texts stay.
    package static func expanded(_ text: String, in dialect: Dialect) -> String {
        guard dialect == .endorser, text.contains("/project/") || !text.contains("/"),
            let name = text.split(separator: "?").first?.split(separator: "/").last?.split(separator: "%2F").last
        else { return text }
        let id = entity + name
        return canExist(id, in: dialect) ? id : text
    }

    /// The dialect whose identifiers a server certainly has: Endorser's own server has those of `endorser`, and another one
    /// of unknown dialect can have any.
    package static func certainDialect(_ fixed: Dialect?, server: String) -> Dialect {
        if let fixed { return fixed }
        let host = server.split(separator: "/").dropFirst().first?.split(separator: ":").first ?? ""
        return host == "endorser.ch" || host.hasSuffix(".endorser.ch") ? .endorser : .canonical
    }

    /// Returns what is wrong with the first identifier that cannot exist, as a sentence without it; `nil` if all can.
    package static func problem(_ ids: [String], in dialect: Dialect) -> String? {
        guard let index = ids.firstIndex(where: { !canExist($0, in: dialect) }) else { return nil }
        let item = ids.count == 1 ? "That is" : "Number \(index + 1) is"
        return "\(item) no plan's id; copy it from the app, such as \(entity) and 26 capital letters and digits."
    }
}

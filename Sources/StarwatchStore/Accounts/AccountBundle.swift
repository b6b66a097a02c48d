import FoundationEssentials
package import StarwatchCore

/// All that an agent stores of an account, in clear form, on its way to another agent.
///
/// Its text is one line of JSON. It holds personal data, and the keys that sign the account's tokens.
package struct AccountBundle: Sendable, Codable {
    /// The rows of one table.
    struct Table: Sendable, Codable {
        let name: String
        let columns: [String]
        let rows: [[SQLValue]]

        /// The value of a row; null without such a column.
        func value(_ column: String, of row: [SQLValue]) -> SQLValue {
            columns.firstIndex(of: column).flatMap { row.indices.contains($0) ? row[$0] : nil } ?? .null
        }
    }

    /// The largest text that is handed out, so that it fits into one request.
    package static let longestText = 32 * 1_048_576
    private static let format = 1

    private enum CodingKeys: String, CodingKey {
        case format = "starwatch_account"
        case schema, moveID = "move_id", number, did, server
        case isPaused = "is_paused"
        case lost, tables
    }

    private let format: Int
    /// The version of the schema whose tables it has.
    private let schema: Int
    /// The name of this move, which no other has.
    let moveID: String
    /// Counts the moves of the account, so that an older text is not taken for a later one.
    let number: Int
    private let did: String
    /// The account's server, in the form of ``StreamKey/server``.
    package let server: String
    let isPaused: Bool
    /// The number of values that did not open and are not in it, by `table.column`; `nil` if there are none.
    package let lost: [String: Int]?
    private(set) var tables: [Table]

    /// The account. Texts with another form are not read.
    package var account: DID { DID(did) ?? Unreadable.account }

    init(
        of account: DID,
        move: (id: String, number: Int),
        server: String,
        isPaused: Bool,
        lost: [String: Int],
        tables: [Table]
    ) {
        (format, schema) = (Self.format, Schema.supported.upperBound)
        (moveID, number) = move
        did = account.rawValue
        (self.server, self.isPaused, self.tables) = (server, isPaused, tables)
        self.lost = lost.isEmpty ? nil : lost
    }

    /// Reads a text.
    package init(text: String) throws(MoveProblem) {
        struct Head: Decodable {
            let format, schema: Int

            enum CodingKeys: String, CodingKey {
                case format = "starwatch_account"
                case schema
            }
        }
        let data = Data(text.utf8)
        guard let head = try? JSONDecoder().decode(Head.self, from: data) else { throw .unreadable }
        guard head.format == Self.format, head.schema == Schema.supported.upperBound else { throw .otherVersion }
        guard let bundle = try? JSONDecoder().decode(Self.self, from: data), DID(bundle.did) != nil,
            bundle.number > 0, !SQLValue.integer(Int64(bundle.number)).isOutOfRange, bundle.countsKnownColumns
        else { throw .unreadable }
        self = bundle
    }

    /// Reads a text that was kept, perhaps by a former version.
    init?(kept text: String) {
        guard let bundle = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = bundle
    }

    /// The bundle without the secrets of keys that are revoked; `nil` if it has none of them.
    func revoking(_ kids: Set<String>, now: Timestamp) -> AccountBundle? {
        guard let place = tables.firstIndex(where: { $0.name == "signing_keys" }) else { return nil }
        let keys = tables[place]
        let values = Dictionary(uniqueKeysWithValues: DataKeyRows.revokedValues(now: now).map { ($0.column, $0.value) })
        let rows = keys.rows.map { row in
            let isRevoked = kids.contains(keys.value("kid", of: row).text) && !keys.value("secret", of: row).isNull
            return isRevoked ? zip(keys.columns, row).map { values[$0] ?? $1 } : row
        }
        guard rows != keys.rows else { return nil }
        var bundle = self
        bundle.tables[place] = Table(name: keys.name, columns: keys.columns, rows: rows)
        return bundle
    }

    /// Whether `lost` can be added up and printed, whoever wrote the text.
    private var countsKnownColumns: Bool {
        (lost ?? [:]).allSatisfy { SealedColumn(rawValue: $0.key) != nil && (1...1_000_000_000).contains($0.value) }
    }

    /// The text of it.
    package var text: String { StableJSON.text(of: self) }

    func table(_ name: String) -> Table? { tables.first { $0.name == name } }

    /// The sinks that open notifications wait for.
    var waitingSinks: Set<String> {
        guard let deliveries = table("deliveries"), let notifications = table("notifications") else { return [] }
        let open = notifications.rows.filter { notifications.value("state", of: $0) == .text("open") }
        let ids = Set(open.map { notifications.value("id", of: $0) })
        let waiting = deliveries.rows.filter {
            deliveries.value("state", of: $0) == .text("pending")
                && ids.contains(deliveries.value("notification_id", of: $0))
        }
        return Set(waiting.map { deliveries.value("sink", of: $0).text })
    }

    /// The addresses that the account brings, by their sinks. Of a value of another form nothing is known, and it is not stored.
    package var addresses: [(sink: String, address: SinkAddress?)] {
        guard let table = table(MovedTable.addresses) else { return [] }
        return table.rows.map { row in
            let stored: Data? = if case .blob(let bytes) = table.value("address", of: row) { bytes } else { nil }
            let address = stored.flatMap { try? JSONDecoder().decode(SinkAddress.self, from: $0) }
            return (table.value("sink", of: row).text, address)
        }
    }

    /// The columns with identifiers of changes, by their tables.
    private static let identifiers = [
        "streams": ["fetch_cursor", "walk_top", "walk_before", "walk_after"], "watermarks": ["watermark"],
        "watermark_moves": ["watermark"], "plan_snapshots": ["jwt_id"], "notification_outbox": ["jwt_id"],
    ]

    /// The identifiers of changes in its rows; `nil` if one is of no kind.
    ///
    /// - Parameter isOfPlaces: Whether only the places at the account's server count.
    func identifiers(isOfPlaces: Bool = false) -> [JWTID]? {
        var found: [JWTID] = []
        for table in tables where !isOfPlaces || ["streams", "watermarks"].contains(table.name) {
            let rows = isOfPlaces ? table.rows.filter { table.value("server", of: $0).text == server } : table.rows
            for column in Self.identifiers[table.name] ?? [] {
                for value in rows.map({ table.value(column, of: $0) }) where !value.isNull {
                    guard case .text(let text) = value, let id = JWTID(text) else { return nil }
                    found.append(id)
                }
            }
        }
        return found
    }

    /// Whether it has keys that only an encrypted database stores.
    var hasSecrets: Bool {
        table("signing_keys").map { keys in keys.rows.contains { !keys.value("secret", of: $0).isNull } } ?? false
    }

    /// The polls that have asked the server for the account.
    package var polls: Set<PollName> {
        guard let streams = table("streams") else { return [] }
        let asked = streams.rows.filter { !streams.value("last_attempt", of: $0).isNull }
        return Set(asked.compactMap { PollName(streams.value("poll", of: $0).text) })
    }
}

/// A value in a bundle: a number, a text, null, or an object with the base64 of a blob.
extension SQLValue: Codable {
    private struct Blob: Codable {
        let blob: Data
    }

    /// The largest number of a counter or a time, so that none overflows at its next step.
    private static let longestNumber: Int64 = 1 << 62

    /// Whether it is a number that nothing counts up to.
    var isOutOfRange: Bool {
        if case .integer(let value) = self { value.magnitude > Self.longestNumber } else { false }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .blob(try container.decode(Blob.self).blob)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .blob(let value): try container.encode(Blob(blob: value))
        }
    }
}

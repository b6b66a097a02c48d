import Crypto
import FoundationEssentials
import StarwatchCore

/// The items that a poll has seen of its list, in one access.
struct SeenItems {
    /// An item, compared with what was seen of it.
    struct Sight {
        fileprivate let item: Data
        fileprivate let version: Data
        fileprivate let rank: Int64?
        /// Whether the item was never seen, or only in an earlier version.
        let isNews: Bool
        /// Whether it was seen in another version.
        let isEdition: Bool
    }

    /// The length of a digest, in bytes.
    private static let length = 16
    /// The number of items that stay if there are too many, so that not every page has to forget some.
    private static let rest = JSONPoll.largestList / 10 * 9

    let db: Session
    let stream: Int64
    let key: SymmetricKey

    func sight(of item: ListItem) throws -> Sight {
        let (id, version) = (digest(of: item.id), digest(of: item.version, of: item.id))
        let row = try db.row("SELECT version, rank FROM seen_items WHERE stream_id = ? AND item = ?", [stream, id])
        let isSame = try row.map { try $0["version"] == version } ?? false
        return Sight(
            item: id,
            version: version,
            rank: item.version.rank,
            isNews: try row.map { item.version.isNews(after: try $0["rank"], isSame: isSame) } ?? true,
            isEdition: row != nil && !isSame
        )
    }

    func remember(_ sight: Sight, _ now: Timestamp) throws {
        try db.run(
            """
            INSERT INTO seen_items (stream_id, item, version, rank, seen_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (stream_id, item) DO UPDATE SET version = excluded.version, rank = excluded.rank,
                seen_at = excluded.seen_at
            """,
            [stream, sight.item, sight.version, sight.rank, now.milliseconds]
        )
    }

    /// Makes an item news again.
    ///
    /// - Parameter isEdition: Whether a former version stays seen. No version has the empty digest.
    func forget(_ id: String, isEdition: Bool) throws {
        let item = digest(of: id)
        if isEdition {
            try db.run(
                "UPDATE seen_items SET version = ?, rank = NULL WHERE stream_id = ? AND item = ?",
                [Data(), stream, item]
            )
        } else {
            try db.run("DELETE FROM seen_items WHERE stream_id = ? AND item = ?", [stream, item])
        }
    }

    /// Forgets the items that were seen first, if more than the largest list are remembered.
    ///
    /// - Parameter listed: The ids of items that are still on the list. Forgetting one would announce it again.
    func trim(keeping listed: [String]) throws {
        let count = try db.integer("SELECT count(*) FROM seen_items WHERE stream_id = ?", [stream])
        guard count > JSONPoll.largestList else { return }
        let kept = Set(listed.map(digest))
        let items: [Data] = try db.values(
            "SELECT item FROM seen_items WHERE stream_id = ? ORDER BY seen_at, item",
            [stream]
        )
        for item in items.lazy.filter({ !kept.contains($0) }).prefix(count - Self.rest) {
            try db.run("DELETE FROM seen_items WHERE stream_id = ? AND item = ?", [stream, item])
        }
    }

    private func digest(of id: String) -> Data { code("item\u{1F}\(id)") }

    /// The digest of a version, which differs between items with the same version.
    private func digest(of version: ItemVersion, of id: String) -> Data {
        code("version\u{1F}\(id)\u{1F}\(version.text)")
    }

    private func code(_ text: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(Self.length))
    }
}

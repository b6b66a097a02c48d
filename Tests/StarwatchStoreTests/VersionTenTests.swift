import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The migration of a database of version 9, whose state was that of one account.
@Suite(.enabled(if: World.isClear)) struct VersionTenTests {
    let world = World()

    /// Opens a database of version 9 after `change`, and returns rows of the migrated one.
    private func rows(_ query: String, after change: String) async throws -> [Row] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let dump = try String(contentsOf: folder.appending(path: "Dumps/version-9.sql"), encoding: .utf8)
        let former = try DatabaseQueue(path: world.path)
        try await former.writeWithoutTransaction { try $0.execute(sql: dump + change) }
        try former.close()
        #expect(chmod(world.path, 0o600) == 0)
        let store = try await world.open()
        await store.close()
        return try DatabaseQueue(path: world.path).read { try Row.fetchAll($0, sql: query) }
    }

    private static let progress = """
        INSERT INTO notif_config (k, v) VALUES ('armed_through:daily', '1795253480950');
        INSERT INTO notif_config (k, v) VALUES ('armed_through:a:b', '7');

        """

    @Test func theProgressOfDigestsBecomesThatOfTheActiveAccount() async throws {
        let found = try await rows("SELECT * FROM digest_progress ORDER BY digest", after: Self.progress)
        #expect(found.map { $0["digest"] } == ["a:b", "daily"])
        #expect(found.map { $0["armed_through"] } == [7, 1_795_253_480_950])
        #expect(Set(found.map { $0["account"] as String }) == ["did:ethr:0x00000000000000000000000000000000000000aa"])
    }

    @Test func nothingOfItStaysWithTheFormerNames() async throws {
        let left = "SELECT k FROM notif_config WHERE k LIKE 'armed%' UNION SELECT digest FROM digest_progress"
        #expect(try await rows(left, after: Self.progress + "UPDATE active_identity SET activeDid = NULL;").isEmpty)
    }

    @Test func theFeedBecomesThatOfTheActiveAccountAndItsNumbersContinue() async throws {
        let former = """
            INSERT INTO feed (id, token, payload, created_at) VALUES (41, 'a', x'01', 7), (42, 'b', x'02', 8), (43, 'c', x'', 9);
            DELETE FROM feed WHERE id = 43;

            """
        let query = """
            SELECT f.account, group_concat(f.sequence || f.token || hex(f.payload) || f.created_at) AS rows, max(s.latest) AS latest
            FROM feed f JOIN feeds s ON s.account = f.account GROUP BY f.account
            """
        let found = try #require(try await rows(query, after: former).first)
        #expect(found["account"] == "did:ethr:0x00000000000000000000000000000000000000aa")
        #expect(found["rows"] == "41a017,42b028" && found["latest"] == 43)
    }

    @Test func theActiveIdentityIsTheOnlyAccount() async throws {
        let found = try await rows(
            "SELECT i.account, i.generation = a.generation AS is_same FROM identities i, active_identity a",
            after: ""
        )
        #expect(found.map { $0["account"] } == ["did:ethr:0x00000000000000000000000000000000000000aa"])
        #expect(found.map { $0["is_same"] } == [true])
    }

    @Test func everyFormerDeliveryGoesAlone() async throws {
        let counts = "SELECT count(*) AS count, count(carried_by) AS carried FROM deliveries"
        let found = try #require(try await rows(counts, after: "").first)
        #expect(found["count"] as Int > 0 && found["carried"] as Int == 0)
    }

    @Test func theTableOfKeysTakesIdsBeyondThreeBytes() async throws {
        _ = try await rows("SELECT 1", after: "")
        let database = try DatabaseQueue(path: world.path)
        let insert =
            "INSERT INTO data_keys (id, purpose, wrapped, state, created_at) VALUES (16777216, 'data', x'00', 'active', 0)"
        try await database.write { try $0.execute(sql: insert + " RETURNING id") }
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM data_keys") } == 16_777_216)
    }
}

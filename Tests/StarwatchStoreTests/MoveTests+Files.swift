import Foundation
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Files of accounts that somebody changed on their way.
extension MoveTests {
    /// Identifiers are checked as those of a page are. Places of another kind would start all accounts of the server again.
    @Test(arguments: [
        ("streams", "fetch_cursor", "no identifier of a change.", MoveProblem.unusable),
        ("streams", "fetch_cursor", "1767000001_000000_00000000", .unusable),
        ("watermarks", "watermark", "1767000001_000000_00000000", .unusable),
        ("streams", "fetch_cursor", "7ZZZZZZZZZ0000000000000000", .ahead),
        ("watermarks", "watermark", "7ZZZZZZZZZ0000000000000000", .ahead),
        ("notification_outbox", "jwt_id", "!!!!!!!!!!!!!!!!!!!!!!!!!!", .unusable),
    ])
    func aPlaceAtTheServerIsCheckedAsAPageIs(
        table: String,
        column: String,
        value: String,
        problem: MoveProblem
    ) async throws {
        let from = try await openSource()
        let text = try Self.text(try text(try await handOut(from)), with: value, in: column, of: table)
        let to = try await openDestination()
        _ = try await to.servers.rememberDialect(.endorser, of: World.server, now: destination.now)
        #expect(try await take(to, text) == .refused([problem]))
        #expect(try await to.accounts.account(World.alice) == nil)
    }

    private static func text(
        _ text: String,
        with value: String,
        in column: String,
        of table: String
    ) throws -> String {
        var bundle = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        var tables = try #require(bundle["tables"] as? [[String: Any]])
        let place = try #require(tables.firstIndex { $0["name"] as? String == table })
        var rows = try #require(tables[place]["rows"] as? [[Any]])
        let index = try #require((tables[place]["columns"] as? [String])?.firstIndex(of: column))
        for row in rows.indices { rows[row][index] = value }
        tables[place]["rows"] = rows
        bundle["tables"] = tables
        return String(decoding: try JSONSerialization.data(withJSONObject: bundle), as: UTF8.self)
    }

    @Test(arguments: [
        (#""state":"pending""#, #""state":"waiting""#), ("notification_outbox", "sealing"),
        (#""columns":["account""#, #""columns":["account) SELECT 1 --""#), (#""pending""#, "7"),
    ])
    func aFileThatWasChangedIsRefusedAndTheStoreStaysWell(_ change: (what: String, with: String)) async throws {
        let from = try await openSource()
        let to = try await openDestination()
        let text = try text(try await handOut(from))
        let what = change.what.hasPrefix(#""state":"#) ? #""pending""# : change.what
        let with = change.what.hasPrefix(#""state":"#) ? #""waiting""# : change.with
        let changed = text.replacing(what, with: with)
        #expect(changed != text)
        #expect(try await take(to, changed) == .refused([.unusable]))
        #expect(to.health.failure == nil)
        #expect(try await to.accounts.account(World.alice) == nil)
        #expect(try await take(to, text) == .arrived)
    }

    /// The file can have been made by anybody, and its name of the account can be another member's here.
    @Test func anOpenNotificationGetsTheNameThatTheAccountHasHere() async throws {
        let (from, to) = (try await openSource(), try await openDestination())
        var message = NotificationMessage(canary: "ntf_a", runID: "run", createdAt: source.now)
        func payload() -> String { Data(OutgoingNotification(message).payload).base64EncodedString() }
        message.account = "somebody"
        let text = try text(try await handOut(from)).replacing(
            Data("canarypayload".utf8).base64EncodedString(),
            with: payload()
        )
        #expect(try await take(to, text) == .arrived)
        let arrived = try self.text(try await handOut(to, isTrial: true))
        message.account = "p"
        #expect(arrived.contains(payload()))
    }

    @Test func aCounterThatWouldOverflowIsRefused() async throws {
        let (from, to) = (try await openSource(), try await openDestination())
        let text = try text(try await handOut(from))
        let changed = text.replacing("1,\"run\",1,1", with: "1,\"run\",1,9223372036854775807")
        #expect(changed != text)
        #expect(try await take(to, changed) == .refused([.unusable]))
    }

    @Test func otherTextsAreNoAccounts() async throws {
        let from = try await openSource()
        let text = try text(try await handOut(from, isTrial: true))
        #expect(throws: MoveProblem.unreadable) { try AccountBundle(text: "") }
        #expect(throws: MoveProblem.unreadable) { try AccountBundle(text: String(text.dropLast(9))) }
        #expect(throws: MoveProblem.unreadable) {
            try AccountBundle(text: text.replacing(World.alice.rawValue, with: "a"))
        }
        for lost in [#"{"\u001b[2J":1}"#, #"{"settings.starredPlanHandleIds":9223372036854775807}"#] {
            let counted = text.replacing(#""is_paused""#, with: #""lost":\#(lost),"is_paused""#)
            #expect(counted != text)
            #expect(throws: MoveProblem.unreadable) { try AccountBundle(text: counted) }
        }
        let schema = Schema.supported.upperBound
        let later = text.replacing("\"schema\":\(schema)", with: "\"schema\":\(schema + 1)")
        #expect(throws: MoveProblem.otherVersion) { try AccountBundle(text: later) }
    }
}

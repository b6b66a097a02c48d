import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

/// Accounts in the text of commands.
@Suite struct AccountsTextTests {
    private func line(_ accounts: String, _ title: String = "Accounts") throws -> String? {
        let now = try #require(Timestamp(iso8601: "2026-01-01T12:00:00Z"))
        var status = AgentStatus(version: "1.2.3", startedAt: now, now: now)
        status.accounts = try JSONDecoder().decode(AgentStatus.Accounts.self, from: Data(accounts.utf8))
        return StatusCommand.page(status).split(separator: "\n").first { $0.hasPrefix(title) }.map(String.init)
    }

    @Test func anAccountThatReturnsIsSaidToBeginAnew() throws {
        func text(_ entries: String) throws -> String {
            let answer = Data(#"{"accounts":[\#(entries)]}"#.utf8)
            var lines = AccountLines()
            for number in 1...2 { lines.add(#"{"did":"did:ethr:0x\#(number)"}"#) }
            var report = AccountLines.Report(refused: [])
            report.take(try JSONDecoder().decode(AccountAdditionsReport.self, from: answer), of: lines.batches[0])
            return report.text
        }
        let (added, returned) = (#"{"result":"added"}"#, #"{"result":"added","returned":true}"#)
        #expect(try text(added) == "Accounts: 1 added.")
        #expect(
            try text("\(added),\(returned)")
                == "Accounts: 2 added. 1 was stored before and begins anew: changes since it left are not announced."
        )
        #expect(
            try text("\(returned),\(returned)")
                == "Accounts: 2 added. 2 were stored before and begin anew: changes since they left are not announced."
        )
    }

    @Test func theStatusHasTheAccountsInNumbers() throws {
        #expect(
            try line(#"{"active":0,"paused":2,"due":0,"stale":0,"without_address":0,"round_seconds":0}"#)
                == "Accounts  0 active, 2 paused"
        )
        #expect(
            try line(#"{"active":9,"paused":0,"due":0,"stale":0,"without_address":0,"round_seconds":16}"#)
                == "Accounts  9 active, 0 paused, none due; one round takes at least 16 s"
        )
        #expect(
            try line(
                #"{"active":9,"paused":0,"due":4,"stale":2,"without_address":1,"oldest_due":"2026-01-01T11:58:00Z","round_seconds":16}"#
            )
                == "Accounts  9 active, 0 paused, 2 without success for too long, 1 without an address, 4 due, the oldest 2 min ago; one round takes at least 16 s"
        )
    }

    @Test func theStatusSaysWhatSharedRequestsSave() throws {
        let accounts =
            #"{"active":9,"paused":0,"due":0,"stale":0,"without_address":0,"round_seconds":1.5,"round_requests":15,"shared_requests":3,"shared_polls":40}"#
        #expect(
            try line(accounts) == "Accounts  9 active, 0 paused, none due; one round takes 15 requests, at least 1.5 s"
        )
        #expect(
            try line(accounts, "Shared")
                == "Shared    3 requests answered 40 polls since the start: 37 requests saved"
        )
        let alone =
            #"{"active":9,"paused":0,"due":0,"stale":0,"without_address":0,"round_seconds":1,"round_requests":1}"#
        #expect(try line(alone, "Shared") == nil)
    }

    @Test func aDIDOfAnEarlierLineIsNamedWithThatLine() {
        var lines = AccountLines()
        for text in [#"{"did": "did:a:1"}"#, "", #"{"did": "did:a:2"}"#, #"{"did": "did:a:1"}"#] { lines.add(text) }
        #expect(lines.batches.flatMap { $0 }.map(\.number) == [1, 3])
        #expect(lines.refused.map(\.line) == [4])
        #expect(lines.refused.map(\.problem) == ["has the DID of line 1; leave one of the two out."])
    }

    /// Otherwise its request would be refused with all its other accounts.
    @Test func aLineThatIsTooLongIsNamedAndTheOthersAreAdded() {
        var lines = AccountLines()
        for index in 0..<10 {
            let star = String(repeating: "x", count: index == 4 ? 1_100_000 : 200_000)
            lines.add(#"{"did": "did:a:\#(index)", "stars": ["\#(star)"]}"#)
        }
        #expect(lines.refused.map(\.line) == [5])
        #expect(lines.batches.flatMap { $0 }.map(\.number) == [1, 2, 3, 4, 6, 7, 8, 9, 10])
        #expect(lines.batches.map(\.count) == [2, 2, 2, 2, 1])
    }
}

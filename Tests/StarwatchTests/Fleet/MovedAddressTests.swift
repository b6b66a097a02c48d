import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// An account's address in a file of `accounts export`, which anybody can have changed.
@Suite(.timeLimit(.minutes(5))) struct MovedAddressTests {
    private static let account = AddressBench.first

    /// A file of the account, with other addresses.
    private static func bundle(of bench: AddressBench, _ addresses: [String: SinkAddress]) async throws -> String {
        let exported = try await bench.agent.perform(ControlAPI.exportAccount, AccountExport(did: account.rawValue))
        var bundle = try #require(try JSONSerialization.jsonObject(with: Data(exported.bundle.utf8)) as? [String: Any])
        var tables = try #require(bundle["tables"] as? [[String: Any]])
        let place = try #require(tables.firstIndex { $0["name"] as? String == "account_sinks" })
        let columns = try #require(tables[place]["columns"] as? [String])
        tables[place]["rows"] = try addresses.sorted { $0.key < $1.key }.map { sink, address in
            let blob = ["blob": try JSONEncoder().encode(address).base64EncodedString()]
            return columns.map { column -> Any in
                switch column {
                case "sink": sink
                case "address": blob
                default: NSNull()
                }
            }
        }
        bundle["tables"] = tables
        return String(decoding: try JSONSerialization.data(withJSONObject: bundle), as: UTF8.self)
    }

    @Test(arguments: [
        SinkAddress(url: "http://192.0.2.1/x"), SinkAddress(url: "http://u:p@127.0.0.1/x"),
        SinkAddress(url: "http://0.0.0.0:9/x"), SinkAddress(url: "file:///etc/passwd"),
        SinkAddress(url: "https://example.org/x", secret: ""),
        SinkAddress(url: "https://example.org/x", room: "r"), SinkAddress(secret: "s"),
    ])
    func anAddressThatAnAccountCannotAddIsNotTakenIn(address: SinkAddress) async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            let bundle = try await Self.bundle(of: bench, ["my_hook": address])
            for isTrial in [true, false] {
                let request = AccountImport(bundle: bundle, trial: isTrial)
                let report = try await bench.agent.perform(ControlAPI.importAccount, request)
                #expect(report.result == "refused" && report.problems.count == 1)
                #expect(report.problems.allSatisfy { $0.contains("my_hook") && !$0.contains(address[.url] ?? "?") })
            }
            #expect(try await bench.agent.store.accounts.account(Self.account) == nil)
        }
    }

    @Test func anAddressIsStoredOnlyForASinkThatTakesOne() async throws {
        try await AddressBench.with { options in
            options.delivery.sinks.append(
                SinkOptions(
                    name: "own",
                    kind: .webhook(url: "https://example.org", secretFile: nil, timeout: .seconds(1))
                )
            )
        } _: { bench in
            try await bench.addBoth()
            let elsewhere = SinkAddress(url: "file:///etc/passwd")
            let bundle = try await Self.bundle(
                of: bench,
                ["my_hook": bench.address(0), "own": elsewhere, "no": elsewhere]
            )
            let request = AccountImport(bundle: bundle, undo: true)
            let report = try await bench.agent.perform(ControlAPI.importAccount, request)
            #expect(report.result == "imported")
            #expect(report.warnings.contains { $0.contains("addresses for no, own, so they were left out") })
            let stored = try await bench.agent.store.accounts.sinks(of: Self.account)
            #expect(stored.map(\.sink) == ["my_hook"])
        }
    }

    /// Such as one that a former version took in, or that is older than the configuration.
    @Test(arguments: [SinkAddress(url: "http://u:p@127.0.0.1:9/x"), SinkAddress(url: "https://example.org", room: "r")])
    func aStoredAddressThatBreaksTheRulesIsNotUsedAndNothingIsLost(address: SinkAddress) async throws {
        try await AddressBench.with { bench in
            var draft = AccountDraft(did: Self.account, stars: [bench.world.mock.planIDs[0]])
            draft.sinks["my_hook"] = .some(address)
            let now = bench.world.clock.now
            let server = bench.agent.runtime.account.server
            _ = try await bench.agent.store.accounts.add([draft], server: server, now: now) { _ in now }
            await bench.agent.visitAll(after: .seconds(60), on: bench.world.clock)
            let ids = await bench.publish()
            let labels = ["sink": "my_hook", "result": "unavailable"]
            #expect(await bench.agent.page()["starwatch_delivery_attempts_total", labels] ?? 0 > 0)
            try #expect(await bench.add(Self.account, plan: 0, at: bench.address(0)).result == "changed")
            await bench.agent.visitAll(after: .seconds(1000), on: bench.world.clock)
            #expect(bench.received(0) == [ids[0]])
        }
    }
}

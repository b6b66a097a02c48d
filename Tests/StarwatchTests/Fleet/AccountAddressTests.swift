import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// Each of many accounts brings an address and a secret for a sink.
@Suite(.timeLimit(.minutes(5))) struct AccountAddressTests {
    private static let (first, second) = (AddressBench.first, AddressBench.second)

    // MARK: - Delivery

    /// The receivers accept only what is signed with their own secret.
    @Test func eachAddressGetsOnlyTheChangesOfItsAccountSignedWithItsSecret() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            let ids = await bench.publish()
            #expect(bench.received(0) == [ids[0]])
            #expect(bench.received(1) == [ids[1]])
            #expect(bench.receivers.map(\.refusedNotifications) == [0, 0])
            let body = try #require(bench.receivers[0].receivedNotifications.first?.bodies.first)
            let fields = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
            #expect(fields["account"] as? String == bench.agent.process.pseudonym.hash(Self.first))
            #expect(!String(decoding: body, as: UTF8.self).contains(Self.first.rawValue))
            #expect(try await bench.agent.rows([.acknowledged]).count == 2)
        }
    }

    @Test func aHostThatIsDownStopsNoOther() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            bench.receivers[0].setStickyFault(.status(503), at: .hook)
            var ids: [[String]] = []
            for _ in 0..<8 { ids.append(await bench.publish(visits: 2)) }
            #expect(bench.received(1).sorted() == ids.map { $0[1] }.sorted())
            #expect(bench.received(0).isEmpty)
            let slot = bench.agent.process.sinks[0]
            #expect(slot.withHosts(\.down) == 1)
            #expect(slot.circuit.condition == .working)
            let page = await bench.agent.page()
            #expect(page["starwatch_fleet_unreachable_hosts", ["sink": "my_hook"]] == 1)
            // While its circuit is open, the host gets only a trial now and then.
            #expect(bench.receivers[0].requestCount(of: .hook) <= 20)
            bench.receivers[0].setStickyFault(nil, at: .hook)
            for _ in 0..<3 { await bench.agent.visitAll(after: .seconds(120), on: bench.world.clock) }
            #expect(bench.received(0).sorted() == ids.map { $0[0] }.sorted())
            #expect(slot.withHosts(\.down) == 0)
        }
    }

    @Test func allHostsDownMakeTheSinkUnreachable() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            for receiver in bench.receivers { receiver.setStickyFault(.status(503), at: .hook) }
            for _ in 0..<8 { _ = await bench.publish() }
            let status = try await bench.agent.perform(ControlAPI.status)
            #expect(status.reasons.contains("sink_unreachable:my_hook"))
            #expect(status.outbox.sinkReasons["my_hook"] != nil)
        }
    }

    @Test func rejectionsOfOneAddressAreNoProblemOfTheSink() async throws {
        try await AddressBench.with { options in
            options.outbox.maxRetries = 1
        } _: { bench in
            try await bench.addBoth()
            bench.receivers[0].setStickyFault(.status(404), at: .hook)
            for _ in 0..<4 { _ = await bench.publish() }
            #expect(bench.received(1).count == 4)
            #expect(bench.agent.process.sinks[0].circuit.condition == .working)
            #expect(try await bench.agent.rows([.dead]).count == 4)
        }
    }

    /// Both receivers have one host, as the customers of a service do.
    @Test func aWaitThatOneAddressAsksForSilencesNoOther() async throws {
        try await AddressBench.with { bench in
            let host = bench.receivers[0].url
            try await bench.add(Self.first, plan: 0, at: SinkAddress(url: host + "/hook?waits"))
            try await bench.add(
                Self.second,
                plan: 1,
                at: SinkAddress(url: host + "/hook?goes", secret: AddressBench.secrets[0])
            )
            await bench.agent.visitAll(after: .seconds(60), on: bench.world.clock)
            // Unsigned, the first one's are refused; the script answers it once.
            _ = bench.world.mock.publish([MockChange(planID: bench.world.mock.planIDs[0])])
            bench.receivers[0].script(.rateLimited(retryAfter: .seconds(600_000)), at: .hook)
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.receivers[0].requestCount(of: .hook) == 1)
            let ids = bench.world.mock.publish([MockChange(planID: bench.world.mock.planIDs[1])])
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.received(0) == ids)
            // A later notification waits too.
            _ = bench.world.mock.publish([MockChange(planID: bench.world.mock.planIDs[0])])
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.receivers[0].requestCount(of: .hook) == 2)
            // The address that asked is tried again after an hour, or when an operator says so.
            var caller = Operator.program
            caller.account = Self.first
            let report = try await bench.agent.topics.perform(ControlAPI.clearSinkWait, "my_hook", for: caller)
            #expect(report.notifications == 2 && report.waitedUntil != nil)
            let before = bench.receivers[0].requestCount(of: .hook)
            await bench.agent.visitAll(after: .seconds(1), on: bench.world.clock)
            #expect(bench.receivers[0].requestCount(of: .hook) > before)
            let again = try await bench.agent.topics.perform(ControlAPI.clearSinkWait, "my_hook", for: caller)
            #expect(again.notifications <= 2)
            await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.clearSinkWait, "my_hook")
            }
        }
    }

    /// Otherwise each of its notifications would ask a service that has refused the one before.
    @Test func aRefusedAddressIsTriedOnceInItsWait() async throws {
        try await AddressBench.with(sink: { $0.kind = .chat(.mattermost) }) { bench in
            func attempts() async -> Double? {
                let labels = ["sink": "my_hook", "result": "unavailable"]
                return await bench.agent.page()["starwatch_delivery_attempts_total", labels]
            }
            // The receiver has no such path, so it answers 404.
            let address = SinkAddress(url: bench.receivers[0].url + "/hooks/of-nobody")
            try #expect(await bench.add(Self.first, plan: 0, at: address).result == "added")
            await bench.agent.visitAll(after: .seconds(60), on: bench.world.clock)
            for _ in 0..<3 { _ = await bench.publish() }
            #expect(await attempts() == 1)
            await bench.agent.visitAll(after: .seconds(1000), on: bench.world.clock)
            #expect(await attempts() == 2)
            #expect(try await bench.agent.rows([.claimed]).count == 3)
        }
    }

    @Test func anAddressThatIsGoneIsOffUntilItIsAddedAgain() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            bench.receivers[0].script(.status(410), at: .hook)
            let ids = await bench.publish()
            for _ in 0..<3 { await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock) }
            #expect(bench.receivers[0].requestCount(of: .hook) == 1)
            #expect(bench.received(1) == [ids[1]])
            try #expect(await bench.report(Self.first).sinks == ["my_hook": "gone"])
            try #expect(await bench.report(Self.second).sinks == ["my_hook": "set"])
            #expect(try await bench.agent.perform(ControlAPI.status).accounts?.withoutAddress == 1)
            // The change waits.
            try #expect(await bench.add(Self.first, plan: 0, at: bench.address(0)).result == "changed")
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.received(0) == [ids[0]])
            try #expect(await bench.report(Self.first).sinks == ["my_hook": "set"])
        }
    }

    // MARK: - Adding

    @Test func anAccountWithoutAnAddressIsCountedAndMissesNothing() async throws {
        try await AddressBench.with { bench in
            try await bench.add(Self.first, plan: 0, at: nil)
            try await bench.add(Self.second, plan: 1, at: bench.address(1))
            await bench.agent.visitAll(after: .seconds(60), on: bench.world.clock)
            let ids = await bench.publish()
            #expect(bench.received(0).isEmpty && bench.received(1) == [ids[1]])
            try #expect(await bench.report(Self.first).sinks == ["my_hook": "missing"])
            let status = try await bench.agent.perform(ControlAPI.status)
            #expect(status.status == .degraded)
            #expect(status.reasons == ["accounts_late"])
            #expect(status.problems?.map(\.title) == ["1 account has no address at any sink"])
            let page = await bench.agent.page()
            #expect(page["starwatch_fleet_accounts_without_address"] == 1)
            #expect(page.series(of: "starwatch_fleet_accounts_without_address").count == 1)

            try #expect(await bench.add(Self.first, plan: 0, at: bench.address(0)).result == "changed")
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.received(0) == [ids[0]])
            #expect(try await bench.agent.perform(ControlAPI.status).reasons.isEmpty)
        }
    }

    @Test func anAccountThatAnotherSinkReachesNeedsNoAddress() async throws {
        try await AddressBench.with { options in
            options.delivery.sinks.append(SinkOptions(name: "log", kind: .log))
        } _: { bench in
            try await bench.add(Self.first, plan: 0, at: nil)
            await bench.agent.visitAll(after: .seconds(60), on: bench.world.clock)
            _ = await bench.publish()
            #expect(try await bench.agent.perform(ControlAPI.status).accounts?.withoutAddress == 0)
            #expect(try await bench.agent.rows([.acknowledged]).count == 1)
        }
    }

    @Test func addingTheSameAddressChangesNothingAndAnotherReplacesIt() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            try #expect(await bench.add(Self.first, plan: 0, at: bench.address(0)).result == "unchanged")
            try #expect(await bench.add(Self.first, plan: 0, at: nil).result == "unchanged")
            try #expect(await bench.add(Self.first, plan: 0, at: bench.address(1)).result == "changed")
            let ids = await bench.publish()
            #expect(bench.received(0).isEmpty)
            #expect(bench.received(1).sorted() == ids.sorted())
        }
    }

    @Test func anAddressThatIsTakenAwayGetsNothingMore() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            bench.receivers[0].setStickyFault(.status(503), at: .hook)
            let ids = await bench.publish()
            try #expect(await bench.add(Self.first, plan: 0, at: .some(nil)).result == "changed")
            bench.receivers[0].setStickyFault(nil, at: .hook)
            for _ in 0..<3 { await bench.agent.visitAll(after: .seconds(120), on: bench.world.clock) }
            #expect(bench.received(0).isEmpty)
            // The change that waited for the former address waits for the next one.
            try #expect(await bench.add(Self.first, plan: 0, at: bench.address(1)).result == "changed")
            await bench.agent.visitAll(after: .seconds(61), on: bench.world.clock)
            #expect(bench.received(1).sorted() == ids.sorted())
        }
    }

    @Test func anEntryWithAMistakeInItsAddressStoresNothing() async throws {
        try await AddressBench.with { bench in
            var good = AccountAdditions.Entry(did: Self.second.rawValue)
            good.sinks = ["my_hook": bench.address(0)]
            var bad = AccountAdditions.Entry(did: Self.first.rawValue, stars: [bench.world.mock.planIDs[0]])
            bad.sinks = ["my_hook": SinkAddress(url: "http://example.org/\(AddressBench.mark(0))")]
            let answer = try await bench.agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: [bad, good]))
            #expect(answer.accounts.map(\.result) == ["refused", "added"])
            #expect(answer.accounts[0].problem?.contains("must be a URL that starts with https://") == true)
            #expect(answer.accounts[0].problem?.contains(AddressBench.mark(0)) == false)
            let accounts = try await bench.agent.perform(ControlAPI.listAccounts, AccountQuery()).accounts
            #expect(accounts.map(\.did) == [Self.second.rawValue])
        }
    }

    // MARK: - Secrecy

    @Test func addressesAndSecretsAreSealedAndInNoLogMetricOrReport() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            bench.receivers[1].setStickyFault(.status(503), at: .hook)
            for _ in 0..<3 { _ = await bench.publish() }
            let secrets = AddressBench.secrets + [AddressBench.mark(0), AddressBench.mark(1)]
            var texts = bench.world.log.lines
            let answer = await bench.agent.topics.metrics(MetricsQuery())
            texts.append(String(decoding: answer.body, as: UTF8.self))
            for did in [Self.first, Self.second] { texts.append(StableJSON.text(of: try await bench.report(did))) }
            texts.append(StableJSON.text(of: try await bench.agent.perform(ControlAPI.status)))
            for file in ["starwatch.db", "starwatch.db-wal"] {
                let content = try Data(contentsOf: URL(fileURLWithPath: bench.world.folder.path(file)))
                texts.append(String(decoding: content, as: Unicode.ASCII.self))
            }
            #expect(texts.joined().count > 100_000)
            for secret in secrets + [Self.first.rawValue, Self.second.rawValue] {
                let holders = texts.filter { $0.contains(secret) }
                let isReport = !secrets.contains(secret)
                #expect(holders.count == (isReport ? 1 : 0), "\(secret): \(holders.first?.prefix(300) ?? "")")
            }
        }
    }

    @Test func anAddressIsSealedAgainWithANewKeyAndStillDelivers() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            let keys = bench.agent.store.keys
            #expect(try await keys.replaceDataKeys() > 0)
            while try await !keys.reseal().isFinished {}
            #expect(try await keys.verify().failed == 0)
            #expect(try await keys.report().dataKeys.allSatisfy(\.isActive))
            let ids = await bench.publish()
            #expect(bench.received(0) == [ids[0]] && bench.received(1) == [ids[1]])
        }
    }

    @Test func anErasedAccountLeavesNoAddress() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            let removal = IdentityRemoval(did: Self.first.rawValue)
            _ = try await bench.agent.perform(ControlAPI.removeAccount, removal)
            #expect(try await bench.agent.store.accounts.sinks(of: Self.first).count == 1)
            _ = try await bench.agent.perform(ControlAPI.eraseAccount, removal)
            #expect(try await bench.agent.store.accounts.sinks(of: Self.first).isEmpty)
            #expect(try await bench.agent.store.accounts.sinks(of: Self.second).count == 1)
            try #expect(await bench.add(Self.first, plan: 0, at: nil).result == "added")
            try #expect(await bench.report(Self.first).sinks == ["my_hook": "missing"])
        }
    }

    // MARK: - Tests, and the DID

    @Test func aTestGoesToTheAddressOfTheAccountThatIsNamed() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            var caller = Operator.program
            caller.account = Self.second
            #expect(try await bench.agent.topics.perform(ControlAPI.testSink, "my_hook", for: caller).result == .ok)
            #expect(bench.receivers.map { $0.requestCount(of: .hook) } == [0, 3])
            #expect(bench.receivers[1].refusedNotifications == 0)
            let failure = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.testSink, "my_hook")
            }
            #expect(failure?.message.contains("--account") == true)
            try await bench.add(Self.second, plan: 1, at: .some(nil))
            let missing = await #expect(throws: ControlError.self) {
                try await bench.agent.topics.perform(ControlAPI.testSink, "my_hook", for: caller)
            }
            #expect(missing?.message.contains("no address") == true)
        }
    }

    @Test func everyAccountGetsTheBodyOfTheUsersOwnAtItsAddress() async throws {
        let text = #"["{{account_did}}", "{{account}}", "to {{account_did}}"]"#
        let template = try BodyTemplate(json: Array(text.utf8))
        try await AddressBench.with(sink: {
            ($0["include_account"], $0["body_file"]) = (true, .body(template, file: nil))
        }) { bench in
            try await bench.addBoth()
            _ = await bench.publish()
            for (receiver, did) in zip(bench.receivers, [Self.first, Self.second]) {
                #expect(receiver.refusedNotifications == 0)
                let body = try #require(receiver.receivedNotifications.first?.bodies.first)
                let texts = try JSONDecoder().decode([String].self, from: body)
                #expect(texts == [did.rawValue, bench.agent.process.pseudonym.hash(did), "to \(did.rawValue)"])
            }
        }
    }

    @Test func theDIDIsInAWebhookThatIncludesItAndTheSignatureCoversIt() async throws {
        try await AddressBench.with(sink: { $0["include_account"] = true }) { bench in
            try await bench.addBoth()
            _ = await bench.publish()
            for (receiver, did) in zip(bench.receivers, [Self.first, Self.second]) {
                #expect(receiver.refusedNotifications == 0)
                let body = try #require(receiver.receivedNotifications.first?.bodies.first)
                let fields = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
                #expect(fields["account_did"] as? String == did.rawValue)
                #expect(fields["account"] as? String == bench.agent.process.pseudonym.hash(did))
            }
        }
    }
}

import StarwatchCore
import StarwatchTestKit
import Testing

@testable import Starwatch

/// The circuits of the hosts of one sink.
@Suite struct SinkHostsTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private static let down = SinkResult.unavailable(SinkFailure("It is down.", .timeout))

    private func isOpen(_ hosts: inout SinkHosts, _ host: String, at time: Timestamp) {
        for _ in 0..<5 { _ = hosts[host].record(Self.down, at: time) }
    }

    @Test func aHostHasItsOwnCircuit() {
        var hosts = SinkHosts(areOfAccounts: true)
        isOpen(&hosts, "a", at: now)
        #expect(hosts["a"].state == .open)
        #expect(hosts["b"].admit(at: now).waitUntil == nil)
        #expect(hosts.down == 1)
    }

    /// Otherwise an account could silence all others of the host.
    @Test(arguments: [(600_000, 3600), (60, 60), (0, 5)])
    func aWaitBelongsToTheAddressThatWasAnswered(asked: Int, kept: Int) {
        var later = SinkResult.unavailable(SinkFailure("Later.", .timeout), retryAfter: .seconds(asked))
        later.isOfReceiver = true
        var hosts = SinkHosts(areOfAccounts: true)
        for _ in 0..<10 { #expect(hosts["a"].record(later, at: now).nextTry == now + .seconds(kept)) }
        #expect(hosts["a"].admit(at: now).waitUntil == nil && hosts["a"].pause(at: now) == nil)
        #expect(hosts["a"].state == .closed && hosts.whole.condition == .working)
        // The only address is the sink.
        var one = SinkCircuit(isOfOneAddress: true)
        #expect(one.record(later, at: now).nextTry >= now + .seconds(asked))
        #expect(asked == 0 || one.pause(at: now) == ChangeWait(.sinkRetryAfter, until: now + .seconds(asked)))
    }

    /// Its own wait does not make a host that is down look well.
    @Test func aHostThatAnswersErrorsIsDownThoughEachAddressHasItsOwnWait() {
        let reason = FailureReason(status: 503)
        var down = SinkResult.unavailable(SinkFailure("Down.", reason), retryAfter: .seconds(600_000))
        down.isOwnWait = true
        var hosts = SinkHosts(areOfAccounts: true)
        for _ in 0..<5 { #expect(hosts["a"].record(down, at: now).nextTry == now + .seconds(3600)) }
        #expect(hosts["a"].state == .open && hosts["a"].standing == .fails)
        #expect(hosts["a"].pause(at: now).flatMap(\.until).map { $0 <= now + .seconds(60) } == true)
    }

    @Test func aHostStandsByItsLastAnswer() {
        var hosts = SinkHosts(areOfAccounts: true)
        #expect(hosts["a"].standing == .unknown)
        _ = hosts["a"].record(.rejected(SinkFailure("No.", .timeout)), at: now)
        #expect(hosts["a"].standing == .answers)
        _ = hosts["a"].record(Self.down, at: now)
        #expect(hosts["a"].standing == .fails && SinkHosts(after: hosts)["a"].standing == .fails)
    }

    /// One full mailbox of many.
    @Test func anUnavailableReceiverOfManyStopsNoOther() {
        var full = Self.down
        full.isOfReceiver = true
        var hosts = SinkHosts(areOfAccounts: true)
        for _ in 0..<10 { #expect(hosts["a"].record(full, at: now).nextTry == now + .seconds(900)) }
        #expect(hosts["a"].state == .closed && hosts["a"].admit(at: now).waitUntil == nil)
        #expect(hosts.whole.condition == .working && hosts.whole.lastReason == nil)
        // The only receiver is the sink.
        var one = SinkCircuit(isOfOneAddress: true)
        for _ in 0..<5 { _ = one.record(full, at: now) }
        #expect(one.state == .open)
    }

    @Test func theSinkIsDownOnlyIfAllHostsAre() {
        var hosts = SinkHosts(areOfAccounts: true)
        isOpen(&hosts, "a", at: now + .seconds(1))
        isOpen(&hosts, "b", at: now)
        #expect(hosts.whole.condition == .down && hosts.whole.downSince == now)
        _ = hosts["c"].record(.ok, at: now)
        #expect(hosts.whole.condition == .working && hosts.whole.lastReason == nil)
        #expect(hosts.lastSuccess == now)
    }

    @Test func theirNumberIsBounded() {
        var hosts = SinkHosts(areOfAccounts: true)
        isOpen(&hosts, "down", at: now)
        for index in 0..<(3 * SinkHosts.limit) { _ = hosts["\(index)"].record(.ok, at: now) }
        #expect(hosts.circuits.count == SinkHosts.limit)
        #expect(hosts["down"].state == .open)
        for index in 0..<(2 * SinkHosts.limit) { isOpen(&hosts, "x\(index)", at: now) }
        #expect(hosts.circuits.count == SinkHosts.limit)
    }

    /// A limit of the host that the configuration names, such as that of its token.
    @Test func aReloadKeepsTheWaitOfAHostUntilItIsCleared() {
        var hosts = SinkHosts(areOfAccounts: true)
        _ = hosts["a"].record(.unavailable(SinkFailure("Later.", .timeout), retryAfter: .seconds(60)), at: now)
        var later = SinkHosts(after: hosts)
        #expect(later["a"].admit(at: now).waitUntil == now + .seconds(60))
        #expect(later["b"].admit(at: now).waitUntil == nil)
        #expect(later.clearWaits(of: "b", nil, at: nil) == nil)
        #expect(later.clearWaits(of: "a", nil, at: nil) == now + .seconds(60))
        #expect(later.clearWaits(of: "a", nil, at: nil) == nil)
        #expect(later["a"].admit(at: now + .seconds(30)).waitUntil == nil)
    }

    /// A later notification would otherwise ask an address that has asked for a wait.
    @Test func aWaitOfAnAddressIsKeptUntilItsEndOrAnotherAddress() {
        var hosts = SinkHosts(areOfAccounts: true)
        func account(_ index: Int) -> DID { DID("did:ethr:0x\(String(index, width: 40))")! }
        let (own, a, b) = (TestAccount.key, SinkAddress(url: "a"), SinkAddress(url: "b"))
        let end = now + .seconds(60)
        hosts.keepWait(of: own, at: a, until: end, now: now)
        var later = SinkHosts(after: hosts)
        #expect(later.wait(of: own, at: a, now: now) == end && later.wait(of: own, at: a, now: end) == nil)
        #expect(later.wait(of: own, at: b, now: now) == nil)
        #expect(later.wait(of: account(1), at: a, now: now) == nil)
        #expect(later.wait(of: own, at: a, now: now - .seconds(90_000)) == now - .seconds(86_400))
        #expect(later.clearWaits(of: "host", account(1), at: a) == nil)
        #expect(later.clearWaits(of: "host", own, at: b) == nil && later.clearWaits(of: "host", own, at: nil) == nil)
        #expect(later.clearWaits(of: "host", own, at: a) == end)
        #expect(later.wait(of: own, at: a, now: now) == nil)
        for index in 0..<(2 * SinkHosts.limit) { hosts.keepWait(of: account(index), at: a, until: end, now: now) }
        #expect(hosts.wait(of: account(2 * SinkHosts.limit - 1), at: a, now: now) == nil)
        hosts.keepWait(of: account(0), at: b, until: end + .seconds(60), now: end)
        #expect(hosts.wait(of: account(0), at: b, now: end) == end + .seconds(60))
    }
}

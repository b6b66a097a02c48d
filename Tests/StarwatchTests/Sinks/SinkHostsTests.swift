import StarwatchCore
import Testing

@testable import Starwatch

/// The circuits of the hosts of one sink.
@Suite struct SinkHostsTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private static let down = SinkResult.unavailable(SinkFailure("It is down.", .timeout))

    private func isOpen(_ hosts: inout SinkHosts, _ host: String, at time: Timestamp) {
        for _ in 0..<5 { _ = hosts[host].record(Self.down, at: time) }
    }

    @Test func aHostHasItsOwnCircuitAndWait() {
        var hosts = SinkHosts(areOfAccounts: true)
        isOpen(&hosts, "a", at: now)
        _ = hosts["b"].record(.unavailable(SinkFailure("Later.", .timeout), retryAfter: .seconds(60)), at: now)
        #expect(hosts["a"].state == .open)
        #expect(hosts["b"].admit(at: now).waitUntil == now + .seconds(60))
        #expect(hosts["c"].admit(at: now).waitUntil == nil)
        #expect(hosts.down == 1)
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

    @Test func theLimitOfOneReceiverIsAPauseAndKeepsTheWaitOfTheHost() {
        var hosts = SinkHosts(areOfAccounts: true)
        _ = hosts["a"].record(.unavailable(SinkFailure("All.", .timeout), retryAfter: .seconds(60)), at: now)
        var limited = SinkResult.unavailable(SinkFailure("One.", .timeout), retryAfter: .zero)
        limited.isOfReceiver = true
        #expect(hosts["a"].record(limited, at: now).nextTry == now + .seconds(5))
        #expect(hosts["a"].admit(at: now).waitUntil == now + .seconds(60))
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
        #expect(hosts.count == SinkHosts.limit)
        #expect(hosts["down"].state == .open)
        for index in 0..<(2 * SinkHosts.limit) { isOpen(&hosts, "x\(index)", at: now) }
        #expect(hosts.count == SinkHosts.limit)
    }

    /// Otherwise the next notification would go to it before its time.
    @Test func aHostThatAskedForAWaitIsForgottenLast() {
        var hosts = SinkHosts(areOfAccounts: true)
        let later = SinkResult.unavailable(SinkFailure("Later.", .timeout), retryAfter: .seconds(600))
        _ = hosts["asked"].record(later, at: now)
        for index in 0..<(2 * SinkHosts.limit) { isOpen(&hosts, "\(index)", at: now + .seconds(1)) }
        #expect(hosts["asked"].admit(at: now).waitUntil == now + .seconds(600))
    }

    @Test func aReloadKeepsTheWaitOfEachHost() {
        var hosts = SinkHosts(areOfAccounts: true)
        _ = hosts["b"].record(.unavailable(SinkFailure("Later.", .timeout), retryAfter: .seconds(60)), at: now)
        var later = SinkHosts(after: hosts)
        #expect(later["b"].admit(at: now).waitUntil == now + .seconds(60))
        #expect(later["a"].admit(at: now).waitUntil == nil)
    }
}

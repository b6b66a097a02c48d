package import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// A sink with its circuit breakers. The dispatcher uses it to decide about the next try.
///
/// A sink with an address in the configuration has one circuit. One whose address each account brings has one for each host,
/// and a sink of many accounts' files or feeds one for each, so that one that is down stops no other.
package final class SinkSlot: Sendable {
    package let sink: any NotificationSink
    /// The sink's name as a label value.
    package let label: ConfiguredName
    /// The sink's name as a circuit's target.
    package let target: ConfiguredName
    /// Whether rows wait for the sink, and when a notification is given up.
    package let policy: SinkPolicy
    /// When the sink gets notifications of changes, and notices; `nil` for at once.
    let times: SinkTimes?
    /// Whether each account brings the address.
    let isOfAccounts: Bool
    /// Whether there is a circuit for each host, file or feed of accounts.
    let isDivided: Bool
    /// Whether the sink uses an account's address. A stored one can be older than the configuration, or than a rule.
    private let takesAddress: (@Sendable (SinkAddress) -> Bool)?
    /// The slots of attempts at addresses of accounts; `nil` if the configuration has the address.
    let deliveries: DeliverySlots?
    private let hosts: Mutex<SinkHosts>

    init(
        sink: any NotificationSink,
        label: ConfiguredName,
        target: ConfiguredName,
        policy: SinkPolicy = SinkPolicy(),
        times: SinkTimes? = nil,
        takesAddress: (@Sendable (SinkAddress) -> Bool)? = nil,
        deliveries: DeliverySlots? = nil
    ) {
        self.sink = sink
        self.label = label
        self.target = target
        self.policy = policy
        self.times = times
        self.takesAddress = takesAddress
        self.deliveries = deliveries
        isOfAccounts = takesAddress != nil
        isDivided = isOfAccounts || sink.pseudonym != nil
        hosts = Mutex(SinkHosts(areOfAccounts: isDivided))
    }

    package var name: String { sink.name }

    func takes(_ address: SinkAddress) -> Bool { takesAddress?(address) ?? false }

    /// Keeps the waits and the outages of `former`, the same sink before a reload.
    func keepWait(of former: SinkSlot) {
        guard isDivided == former.isDivided else { return }
        let kept = former.hosts.withLock { $0 }
        hosts.withLock { $0 = SinkHosts(after: kept) }
    }

    // MARK: - Condition

    /// The sink's condition, with the start of its outage. A sink with several hosts works if one of them does.
    package var health: HealthFacts.Sink {
        let present = hosts.withLock(\.whole)
        return HealthFacts.Sink(
            name: name,
            condition: present.condition,
            downSince: present.downSince,
            failure: present.lastReason
        )
    }

    /// `true` after the sink returned 410 Gone. It stays disabled until the configuration is loaded again.
    package var isDisabled: Bool { hosts.withLock(\.whole.isDisabled) }

    /// Reason why the last attempt failed; `nil` if it succeeded, or before the first one.
    package var lastReason: FailureReason? { hosts.withLock(\.whole.lastReason) }

    /// Time of the last success; `nil` before the first one of this process.
    package var lastSuccess: Timestamp? { hosts.withLock(\.lastSuccess) }

    package var circuitState: CircuitState { hosts.withLock(\.whole.state) }

    /// The number of hosts whose circuit is not closed.
    var hostsDown: Int { hosts.withLock(\.down) }

    /// The reason why the sink is not tried at `now`; `nil` if it is. Starts no probe.
    package func pause(at now: Timestamp) -> ChangeWait? { hosts.withLock(\.whole).pause(at: now) }

    /// Reads or changes what is known of the hosts.
    func withHosts<Value: Sendable>(_ body: (inout SinkHosts) -> Value) -> Value { hosts.withLock { body(&$0) } }

    // MARK: - Attempts

    /// Requests permission to try the sink.
    ///
    /// - Parameter host: The host of the account's address; empty if the configuration has the address.
    /// - Returns: The end of the wait, `nil` if the sink can be tried now; and the circuit's new state, if this call changed it.
    package func admit(at now: Timestamp, to host: String = "") -> (waitUntil: Timestamp?, changed: CircuitState?) {
        hosts.withLock { $0[host].admit(at: now) }
    }

    /// Records that an attempt was cancelled before the sink responded. The next attempt can use the trial.
    ///
    /// - Returns: The circuit's new state, if it changed.
    package func abandon(at now: Timestamp, of host: String = "") -> CircuitState? {
        hosts.withLock { $0[host].abandon(at: now) }
    }

    /// Records the result of an attempt.
    ///
    /// - Returns: The circuit's new state, if it changed, and the time of the next try.
    package func record(
        _ result: SinkResult,
        at now: Timestamp,
        of host: String = ""
    ) -> (changed: CircuitState?, nextTry: Timestamp) {
        hosts.withLock { $0[host].record(result, at: now) }
    }
}

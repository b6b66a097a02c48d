package import StarwatchCore
import StarwatchPolling
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
    /// When the sink gets notifications of changes, and notices, in a zone that can change; `nil` for at once.
    private let times: (hours: SinkHours, zone: @Sendable () -> any TimeZoneRules)?
    /// Whether each account brings the address.
    let isOfAccounts: Bool
    /// Whether there is a circuit for each host, file or feed of accounts.
    let isDivided: Bool
    /// Whether the sink uses an account's address. A stored one can be older than the configuration, or than a rule.
    private let takesAddress: (@Sendable (SinkAddress) -> Bool)?
    /// The slots of attempts at addresses of accounts; `nil` if the configuration has the address.
    let deliveries: DeliverySlots?
    private let hosts: Mutex<SinkHosts>

    /// - Parameters:
    ///   - settings: The settings of a configured sink; `nil` for a sink of the host program.
    ///   - zone: The zone of the hours; `nil` for that of the settings.
    init(
        _ sink: any NotificationSink,
        _ settings: SinkOptions?,
        label: ConfiguredName,
        target: ConfiguredName,
        deliveries: DeliverySlots? = nil,
        zone: (@Sendable () -> any TimeZoneRules)? = nil
    ) {
        (self.sink, self.label, self.target) = (sink, label, target)
        var policy = SinkPolicy(isRequired: settings?.isRequired ?? true, giveUpAfter: settings?.giveUpAfter)
        policy.takesCanaries = settings?["canary"] == true
        self.policy = policy
        times = settings?.hours.flatMap { hours in
            // The factory of the sinks has checked it.
            (zone ?? (try? LocalZone.zone(named: settings?.timezone))).map { (hours, $0) }
        }
        takesAddress = settings?.takesAddress
        isOfAccounts = takesAddress != nil
        self.deliveries = isOfAccounts ? deliveries : nil
        isDivided = isOfAccounts || sink.pseudonym != nil
        hosts = Mutex(SinkHosts(areOfAccounts: isDivided))
    }

    package var name: String { sink.name }

    var hasHours: Bool { times != nil }

    /// The moment at which what comes at `time` is delivered; `nil` if that is at once.
    func opens(after time: Timestamp) -> Timestamp? { times.flatMap { $0.hours.opens(after: time, in: $0.zone()) } }

    /// The moment at which a retry or a notice can be tried; `nil` if that is at once.
    func resumes(after time: Timestamp) -> Timestamp? { times.flatMap { $0.hours.resumes(after: time, in: $0.zone()) } }

    func takes(_ address: SinkAddress) -> Bool { takesAddress?(address) ?? false }

    /// Keeps the waits and the outages of `former`, the same sink before a reload.
    func keepWait(of former: SinkSlot) {
        guard isDivided == former.isDivided else { return }
        let kept = former.hosts.withLock { $0 }
        hosts.withLock { $0 = SinkHosts(after: kept) }
    }

    // MARK: - Circuits

    /// The circuit that stands for the sink. A sink with several hosts works if one of them does.
    var circuit: SinkCircuit { hosts.withLock(\.whole) }

    /// `true` after the sink returned 410 Gone. It stays disabled until the configuration is loaded again.
    package var isDisabled: Bool { circuit.isDisabled }

    /// Time of the last success; `nil` before the first one of this process.
    package var lastSuccess: Timestamp? { hosts.withLock(\.lastSuccess) }

    /// Reads or changes what is known of the hosts.
    func withHosts<Value: Sendable>(_ body: (inout SinkHosts) -> Value) -> Value { hosts.withLock { body(&$0) } }

    /// Changes the circuit of a host.
    ///
    /// - Parameter host: The host of the account's address; empty if the configuration has the address.
    func change<Value: Sendable>(_ host: String = "", _ body: (inout SinkCircuit) -> Value) -> Value {
        hosts.withLock { body(&$0[host]) }
    }
}

import Foundation
import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// The receiver of one account's notifications at a sink.
struct SinkReceiver: Sendable {
    let slot: SinkSlot
    /// The sink with the account's address.
    let sink: any NotificationSink
    /// `nil` for a test without an account.
    private let account: DID?
    /// The account's address; `nil` if the configuration has it.
    let address: SinkAddress?
    /// The host of the account's address, whose circuit counts; empty if the configuration has the address.
    let host: String

    var name: String { slot.name }
    var isDisabled: Bool { slot.isDisabled }

    /// The reason why it is not tried at `now`; `nil` if it is.
    func pause(at now: Timestamp) -> SinkPause? { circuit.pause(at: now) }

    /// The circuit of its host.
    var circuit: SinkCircuit { slot.withHosts { $0[host] } }

    /// The end of the wait that its address asked for; `nil` if there is none.
    func wait(at now: Timestamp) -> Timestamp? { own.flatMap { own in slot.withHosts { $0.wait(of: own, at: now) } } }

    /// Keeps the wait that its address asked for.
    func keepWait(until: Timestamp, now: Timestamp) {
        if let own { slot.withHosts { $0.keepWait(of: own, until: until, now: now) } }
    }

    /// Ends the waits of its address and of its host.
    ///
    /// - Returns: The end of the longer one; `nil` if there was none.
    func clearWaits() -> Timestamp? { slot.withHosts { $0.clearWaits(of: host, own) } }

    private var own: AccountAddress? {
        account.flatMap { account in address.map { AccountAddress(account: account, address: $0) } }
    }

    /// - Parameter dueSince: The time since which the sink has been due; `nil` for a test.
    func deliver(_ notification: OutgoingNotification, dueSince: Timestamp? = nil) async -> SinkResult {
        var result = await sink.deliver(notification, dueSince: dueSince)
        // Otherwise an account could silence all others on a host by naming it.
        result.isOwnWait = result.retryAfter != nil && address?[.url] != nil
        guard result.answer == .gone, slot.isOfAccounts else { return result }
        var gone = SinkResult.addressGone
        gone.said = result.said
        return gone
    }

    init(_ slot: SinkSlot, of account: DID? = nil) {
        (self.slot, self.account) = (slot, account)
        sink = account.map(slot.sink.sink(of:)) ?? slot.sink
        (address, host) = (nil, "")
    }

    private init?(_ slot: SinkSlot, of account: DID, _ stored: StoredSinkAddress) {
        guard stored.state == .set else { return nil }
        (self.slot, self.account, address) = (slot, account, stored.address)
        if let address, slot.takes(address), let sink = slot.addressed?.sink(of: account, at: address) {
            (self.sink, host) = (sink, SinkURL.host(of: sink.url))
        } else {
            (sink, host) = (UnusableSink(name: slot.name, isReadable: address != nil), "")
        }
    }

    /// The receivers of an account: of each sink with an address in the configuration, and of each for which it has brought
    /// one.
    static func all(_ slots: [SinkSlot], of account: DID, in store: Store) async throws(StoreError) -> [SinkReceiver] {
        let addresses = slots.contains(where: \.isOfAccounts) ? try await store.accounts.sinks(of: account) : []
        return slots.compactMap { slot in
            guard slot.isOfAccounts else { return SinkReceiver(slot, of: account) }
            return addresses.first { $0.sink == slot.name }.flatMap { SinkReceiver(slot, of: account, $0) }
        }
    }
}

/// A sink whose stored address does not open or breaks a rule. Its notifications wait until the address is added again.
private struct UnusableSink: NotificationSink {
    let name: String
    let isReadable: Bool

    func deliver(_ notification: OutgoingNotification, dueSince: Timestamp?) async -> SinkResult {
        let why = isReadable ? "is not one that the sink takes" : "does not open"
        return .unavailable(SinkFailure("The stored address of the account \(why); add it again.", .tokenFile))
    }
}

/// The secret of a sink.
enum SinkSecret: Sendable {
    /// In a file, which is read before every request.
    case file(SecretFile)
    /// Brought by an account.
    case value(String)

    /// - Throws: ``TokenError`` if the file cannot be used.
    func read() throws(TokenError) -> [UInt8] {
        switch self {
        case .file(var file): try file.read()
        case .value(let text): Array(text.utf8)
        }
    }
}

/// Rules of the URLs of sinks that send requests.
enum SinkURL {
    /// Whether requests can go to an address: over TLS or to this machine, without credentials in it.
    static func isGood(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.port.map((1...65_535).contains) ?? true
        else { return false }
        let scheme = parts.scheme?.lowercased()
        return scheme == "https" || scheme == "http" && ListenAddress.isLoopback(host)
    }

    /// The scheme, host and port of a URL.
    static func host(of url: String) -> String {
        guard let parts = URLComponents(string: url) else { return "" }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(parts.scheme?.lowercased() ?? "")://\(parts.host?.lowercased() ?? "")\(port)"
    }
}

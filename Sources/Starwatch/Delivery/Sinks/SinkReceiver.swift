import Foundation
import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// The receiver of one account's notifications at a sink.
struct SinkReceiver: Sendable {
    let slot: SinkSlot
    /// The sink, with the account's address if that can be used.
    let sink: any NotificationSink
    /// The reason why the stored address cannot be used; `nil` if it can. Notifications wait until it is added again.
    private let unusable: SinkFailure?
    /// `nil` for a test without an account.
    private let account: DID?
    /// The account's address; `nil` if the configuration has it.
    let address: SinkAddress?
    /// The host or file of the account, whose circuit counts; empty if all accounts share it.
    let host: String

    var name: String { slot.name }
    var isDisabled: Bool { slot.isDisabled }

    /// The circuit of its host.
    var circuit: SinkCircuit { slot.withHosts { $0[host] } }

    /// The end of the wait that its address asked for; `nil` if there is none.
    func wait(at now: Timestamp) -> Timestamp? {
        guard let account, let address else { return nil }
        return slot.withHosts { $0.wait(of: account, at: address, now: now) }
    }

    /// Keeps the wait that its address asked for.
    func keepWait(until: Timestamp, now: Timestamp) {
        guard let account, let address else { return }
        slot.withHosts { $0.keepWait(of: account, at: address, until: until, now: now) }
    }

    /// Ends the waits of its address and of its host.
    ///
    /// - Returns: The end of the longer one; `nil` if there was none.
    func clearWaits() -> Timestamp? { slot.withHosts { $0.clearWaits(of: host, account, at: address) } }

    func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        if let unusable { return .unavailable(unusable) }
        var result = await sink.deliver(notification)
        // Otherwise an account could silence all others on a host by naming it.
        result.isOwnWait = result.retryAfter != nil && address?[.url] != nil
        guard result.answer == .gone, slot.isOfAccounts else { return result }
        var gone = SinkResult.addressGone
        gone.said = result.said
        return gone
    }

    init(_ slot: SinkSlot, of account: DID? = nil) {
        (self.slot, self.account, address, unusable) = (slot, account, nil, nil)
        sink = account.map { slot.sink.sink(of: $0, at: SinkAddress()) } ?? slot.sink
        host = slot.isDivided && account != nil ? sink.host : ""
    }

    /// - Parameter address: `nil` if the stored one does not open.
    private init(_ slot: SinkSlot, of account: DID, at address: SinkAddress?) {
        (self.slot, self.account, self.address) = (slot, account, address)
        guard let address, slot.takes(address) else {
            let why = address == nil ? "does not open" : "is not one that the sink takes"
            unusable = SinkFailure("The stored address of the account \(why); add it again.", .tokenFile)
            (sink, host) = (slot.sink, "")
            return
        }
        unusable = nil
        sink = slot.sink.sink(of: account, at: address)
        host = sink.host
    }

    /// The receivers of an account: of each sink with an address in the configuration, and of each for which it has brought
    /// one.
    static func all(_ slots: [SinkSlot], of account: DID, in store: Store) async throws(StoreError) -> [SinkReceiver] {
        let addresses = slots.contains(where: \.isOfAccounts) ? try await store.accounts.sinks(of: account) : []
        return slots.compactMap { slot in
            guard slot.isOfAccounts else { return SinkReceiver(slot, of: account) }
            guard let own = addresses.first(where: { $0.sink == slot.name }), !own.isGone else { return nil }
            return SinkReceiver(slot, of: account, at: own.address)
        }
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

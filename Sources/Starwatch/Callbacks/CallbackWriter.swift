package import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// Writes the events that callbacks are told; none of a kind that nobody is told of.
package struct CallbackWriter: Sendable {
    private let options: CallbackOptions
    private let pseudonym: IdentityHash
    private let zone: LocalZone

    package init(options: CallbackOptions, pseudonym: IdentityHash, zone: LocalZone = LocalZone()) {
        self.options = options
        self.pseudonym = pseudonym
        self.zone = zone
    }

    /// An event, or `nil`. It names the account by its pseudonym.
    package func draft(
        _ kind: CallbackKind,
        account: DID?,
        occurrence: DigestOccurrence? = nil,
        status: SlotStatus? = nil,
        code: SlotCode? = nil,
        deliveredAt: Timestamp? = nil,
        config: String? = nil,
        now: Timestamp
    ) -> EventDraft? {
        guard options.receiver(of: kind) != nil else { return nil }
        let event = CallbackEvent(
            kind,
            id: RandomID.eventID(),
            sender: CallbackEvent.Sender(
                account: account.map(pseudonym.hash),
                timezone: zone.current.identifier,
                appVersion: AgentVersion.userAgent
            ),
            occurrence: occurrence,
            result: CallbackEvent.Result(status: status, code: code, deliveredAt: deliveredAt),
            config: config,
            createdAt: now
        )
        return EventDraft(kind: kind, payload: event.json())
    }
}

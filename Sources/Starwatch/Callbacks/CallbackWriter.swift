package import StarwatchCore
package import StarwatchStore
import StarwatchTransport

/// Writes the events for callbacks. Kinds without a receiver are skipped.
package struct CallbackWriter: Sendable {
    let options: CallbackOptions
    let pseudonym: IdentityHash
    var zone = LocalZone()

    /// Returns an event, or `nil` if there is no receiver. It names the account by its pseudonym.
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

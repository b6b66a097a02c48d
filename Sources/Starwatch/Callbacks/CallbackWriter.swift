package import StarwatchCore
import StarwatchPolling
package import StarwatchStore
import StarwatchTransport

/// Writes the events for callbacks. Kinds without a receiver are skipped.
package struct CallbackWriter: Sendable {
    let options: CallbackOptions
    let pseudonym: InstallationHash
    var zone = LocalZone.ofMachine

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
        var event = CallbackEvent(kind, id: RandomID.eventID(), createdAt: now)
        event.account = account.map(pseudonym.hash)
        event.timezone = zone.current.identifier
        event.appVersion = AgentVersion.userAgent
        event.digest = occurrence?.digest.rawValue
        event.slot = occurrence?.slot
        event.fireAt = occurrence?.fireAt.iso8601
        event.deliveredAt = deliveredAt?.iso8601
        event.status = status?.rawValue
        event.errorCode = code?.rawValue
        event.config = config
        return EventDraft(kind: kind, payload: event.json())
    }
}

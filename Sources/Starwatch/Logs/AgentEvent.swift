package import Logging
package import StarwatchCore

/// Events that the agent can log. The raw value is the line's `event`.
///
/// Libraries log through other handlers, whose lines have `metadata.logger`.
package enum AgentEvent: String, Sendable, CaseIterable {
    case acknowledgeFailed = "acknowledge.failed"
    case acknowledgeLocal = "acknowledge.local"
    case acknowledgeNoToken = "acknowledge.no_token"
    case acknowledgeStoreFailed = "acknowledge.store_failed"
    case agentStarted = "agent.started"
    case agentStopped = "agent.stopped"
    case apiFailure = "api.failure"
    case callbackDropped = "callback.dropped"
    case callbackRefused = "callback.refused"
    case callbackStoreFailed = "callback.store_failed"
    case callbackUnavailable = "callback.unavailable"
    case clockJump = "clock.jump"
    case clockNoAnswer = "clock.no_answer"
    case clockSkewed = "clock.skewed"
    case configRefused = "config.refused"
    case configReloaded = "config.reloaded"
    case controlRefused = "control.refused"
    case digestEmpty = "digest.empty"
    case digestFetchFailed = "digest.fetch_failed"
    case digestFired = "digest.fired"
    case digestNotShown = "digest.not_shown"
    case digestShown = "digest.shown"
    case digestStoreFailed = "digest.store_failed"
    case digestVariable = "digest.variable"
    case dispatchStoreFailed = "dispatch.store_failed"
    case httpClearText = "http.clear_text"
    case httpListening = "http.listening"
    case httpRefused = "http.refused"
    case identityChanged = "identity.changed"
    case identityErased = "identity.erased"
    case keysRevoked = "keys.revoked"
    case keysRotated = "keys.rotated"
    case keysRotationEnded = "keys.rotation_ended"
    case keysStoreFailed = "keys.store_failed"
    case notification = "notification"
    case notificationDelivered = "notification.delivered"
    case outboxEvicted = "outbox.evicted"
    case outboxUnreadable = "outbox.unreadable"
    case pollBootstrapped = "poll.bootstrapped"
    case pollCancelled = "poll.cancelled"
    case pollChanged = "poll.changed"
    case pollContractViolation = "poll.contract_violation"
    case pollCursorAhead = "poll.cursor_ahead"
    case pollDeferred = "poll.deferred"
    case pollFailed = "poll.failed"
    case pollItemQuarantined = "poll.item_quarantined"
    case pollOutOfRoom = "poll.out_of_room"
    case pollPageOutOfOrder = "poll.page_out_of_order"
    case pollSkipped = "poll.skipped"
    case pollSkippedAgain = "poll.skipped_again"
    case pollStoreFailed = "poll.store_failed"
    case pollUnchanged = "poll.unchanged"
    case retentionCleaned = "retention.cleaned"
    case retentionStoreFailed = "retention.store_failed"
    case serverDialect = "server.dialect"
    case serverWaitCapped = "server.wait_capped"
    case sinkCircuit = "sink.circuit"
    case sinkGivenUp = "sink.given_up"
    case sinkGone = "sink.gone"
    case sinkRejected = "sink.rejected"
    case sinkUnavailable = "sink.unavailable"
    case starsUnreadable = "stars.unreadable"
    case storageCheck = "storage.check"
    case storageCheckFailed = "storage.check_failed"
    case storageClear = "storage.clear"
    case storageDamaged = "storage.damaged"
    case tokenUnavailable = "token.unavailable"
    case webConfigRefused = "web_config.refused"
    case webConfigReloaded = "web_config.reloaded"

    /// Level of the event. It never varies.
    package var level: Logger.Level {
        switch self {
        case .apiFailure, .pollSkippedAgain, .pollUnchanged: .debug
        case .digestEmpty, .digestFired, .digestShown, .notificationDelivered, .pollBootstrapped, .pollCancelled,
            .pollChanged, .retentionCleaned:
            .info
        case .acknowledgeLocal, .agentStarted, .agentStopped, .clockJump, .configReloaded, .httpListening,
            .identityChanged, .identityErased, .keysRevoked, .keysRotated, .keysRotationEnded, .notification,
            .pollDeferred, .pollOutOfRoom, .pollSkipped, .serverDialect, .sinkCircuit, .storageCheck,
            .storageClear, .webConfigReloaded:
            .notice
        case .acknowledgeFailed, .acknowledgeNoToken, .callbackDropped, .callbackRefused, .callbackUnavailable,
            .clockNoAnswer, .clockSkewed, .controlRefused, .digestFetchFailed, .digestNotShown, .digestVariable,
            .httpClearText, .httpRefused, .outboxEvicted, .pollContractViolation, .pollCursorAhead, .pollFailed,
            .pollItemQuarantined, .pollPageOutOfOrder, .serverWaitCapped, .sinkGivenUp, .sinkGone, .sinkRejected,
            .sinkUnavailable,
            .storageCheckFailed, .tokenUnavailable:
            .warning
        case .acknowledgeStoreFailed, .callbackStoreFailed, .configRefused, .digestStoreFailed, .dispatchStoreFailed,
            .keysStoreFailed, .outboxUnreadable, .pollStoreFailed, .retentionStoreFailed, .starsUnreadable,
            .storageDamaged, .webConfigRefused:
            .error
        }
    }

    /// Fields that the event always has.
    package var fields: [LogField] {
        switch self {
        case .acknowledgeFailed: [.runID, .changeCount, .error, .reason]
        case .acknowledgeLocal: [.runID, .reason]
        case .acknowledgeNoToken, .tokenUnavailable: [.runID, .error, .reason]
        case .acknowledgeStoreFailed, .callbackStoreFailed, .configRefused, .digestStoreFailed,
            .dispatchStoreFailed, .keysStoreFailed, .pollStoreFailed, .retentionStoreFailed, .storageCheckFailed,
            .storageDamaged:
            [.error]
        case .agentStarted: [.version, .polls]
        case .agentStopped, .configReloaded, .starsUnreadable, .storageClear: []
        case .apiFailure: [.requestID, .runID, .endpoint, .result, .attempt, .error, .reason]
        case .callbackDropped, .keysRevoked, .outboxUnreadable: [.count]
        case .callbackRefused, .callbackUnavailable: [.kind, .error, .reason]
        case .clockJump: [.kind, .sizeMilliseconds]
        case .clockNoAnswer: [.error]
        case .clockSkewed: [.skewMilliseconds, .error]
        case .controlRefused, .httpRefused: [.error, .reason]
        case .digestFetchFailed: [.runID, .digest, .outcome, .error]
        case .digestFired: [.runID, .digest, .sizeMilliseconds]
        case .digestNotShown: [.digest, .reason]
        case .digestEmpty, .digestShown: [.digest]
        case .digestVariable: [.digest, .path]
        case .httpClearText, .webConfigReloaded: [.port]
        case .httpListening: [.address]
        case .webConfigRefused: [.error, .port]
        case .identityChanged: [.rowCount]
        case .identityErased: [.identity]
        case .keysRotated: [.kind, .count]
        case .keysRotationEnded: [.rowCount]
        case .notification: [.runID, .notificationID, .poll, .group, .count]
        case .notificationDelivered: [.runID, .notificationID, .poll, .changeCount]
        case .outboxEvicted: [.runID, .poll, .rowCount]
        case .retentionCleaned: [.rowCount]
        case .pollBootstrapped, .pollChanged, .pollUnchanged:
            [.runID, .identity, .poll, .outcome, .projectCount, .changeCount, .durationMilliseconds]
        case .pollContractViolation: [.runID, .poll, .kind, .path, .problem]
        case .pollCursorAhead: [.runID, .poll, .sizeMilliseconds]
        case .pollItemQuarantined: [.runID, .poll, .kind, .page, .path, .problem]
        case .pollCancelled, .pollDeferred, .pollFailed:
            [.runID, .identity, .poll, .outcome, .projectCount, .changeCount, .durationMilliseconds, .error, .reason]
        case .pollOutOfRoom: [.runID, .poll, .changeCount]
        case .pollPageOutOfOrder: [.runID, .poll]
        case .pollSkipped, .pollSkippedAgain: [.runID, .poll, .reason]
        case .serverDialect: [.runID, .poll, .dialect]
        case .serverWaitCapped: [.runID, .endpoint, .sizeMilliseconds]
        case .sinkCircuit: [.runID, .sink, .state]
        case .storageCheck: [.state]
        case .sinkGivenUp, .sinkGone, .sinkRejected, .sinkUnavailable:
            [.runID, .notificationID, .sink, .error, .reason]
        }
    }

    /// Fields that the event has if they are known.
    package var optionalFields: [LogField] {
        switch self {
        case .acknowledgeFailed, .pollCancelled, .pollDeferred, .pollFailed:
            [.requestID, .serverRequestID, .serverError]
        case .acknowledgeLocal: [.requestID, .serverRequestID]
        case .apiFailure: [.serverRequestID, .serverError]
        case .identityChanged: [.identity]
        case .pollBootstrapped, .pollChanged, .pollContractViolation, .pollItemQuarantined, .pollOutOfRoom,
            .pollPageOutOfOrder, .pollUnchanged, .serverDialect:
            [.requestID, .serverRequestID]
        case .pollStoreFailed: [.runID, .poll, .requestID, .serverRequestID]
        default: []
        }
    }

    /// A Boolean value that tells whether repetitions are folded. Events that an operator waits for are always written.
    package var mayFold: Bool {
        switch self {
        case .agentStarted, .agentStopped, .configRefused, .configReloaded, .httpListening, .keysRevoked, .keysRotated,
            .notification, .storageCheck, .storageClear, .storageDamaged, .webConfigRefused, .webConfigReloaded:
            false
        default: true
        }
    }
}

extension Logger {
    /// Logs an event at its level. The fields are evaluated only if the level is logged.
    package func log(_ event: AgentEvent, _ fields: @autoclosure () -> AgentEvent.Fields = [:]) {
        log(level: event.level, "\(event.rawValue)", metadata: event.metadata(fields()))
    }
}

extension AgentEvent {
    package typealias Fields = [LogField: Logger.MetadataValue]

    /// The fields of a request's identifiers. A server that repeats the agent's identifier adds nothing.
    package static func fields(of trace: RequestTrace?) -> Fields {
        guard let trace else { return [:] }
        var fields: Fields = [.requestID: "\(trace.id)"]
        if let id = trace.serverID, id != trace.id { fields[.serverRequestID] = "\(id)" }
        return fields
    }

    fileprivate func metadata(_ fields: Fields) -> Logger.Metadata {
        var metadata = Logger.Metadata(minimumCapacity: fields.count + 1)
        for (field, value) in fields { metadata[field.rawValue] = value }
        if !mayFold { metadata["fold"] = "never" }
        return metadata
    }
}

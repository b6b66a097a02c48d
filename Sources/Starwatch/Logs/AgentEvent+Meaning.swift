extension AgentEvent {
    /// What happened, and what to do about it if there is something to do.
    package var meaning: String {
        switch self {
        case .acknowledgeFailed:
            "The server did not take a batch of acknowledgements. It is sent again later, under the same key; after three "
                + "refusals half of it, under a new key. A single one that is refused five times counts as "
                + "done, if the last answer was a 200 that says so; after another status it is sent again for as long as "
                + "that takes."
        case .acknowledgeLocal:
            "The server has no endpoint for acknowledgements; from now on they are only noted here."
        case .acknowledgeNoToken: "There was no token for acknowledging. Mend `auth`; nothing is lost meanwhile."
        case .acknowledgeStoreFailed: "The database failed while acknowledging. Look at the disk; tried again in 5 s."
        case .agentStarted: "The agent begins to run."
        case .agentStopped: "The agent ended as it was told to."
        case .apiFailure: "One try of a request failed. What the agent does about it follows."
        case .callbackDropped: "Events for callbacks were dropped: too old, or too many. See why nobody takes them."
        case .callbackRefused: "A callback's receiver refused an event. It is told again, ever less often, for 14 days."
        case .callbackStoreFailed: "The database failed while telling callbacks. Look at the disk."
        case .callbackUnavailable:
            "A callback's receiver could not be reached, or not in time. It is tried until it can."
        case .clockJump: "The local clock was set, or the machine slept. What is known of the server's clock is kept."
        case .clockNoAnswer: "`clock.ntp_server` gave no time. It is asked again, ever less often, unless it refused."
        case .clockSkewed: "The local clock is off by more than `clock.max_skew`. Mend the machine's time service."
        case .configRefused: "A reload was refused; the old configuration stays. Mend what it names, send SIGHUP again."
        case .configReloaded: "The configuration was loaded again; the agent goes on with it."
        case .digestEmpty: "A digest was not shown, because its content is empty and `on_empty` is `skip`."
        case .digestFetchFailed: "A digest's content could not be fetched. It comes all the same, as `on_missing` says."
        case .digestFired: "A digest's time has come; its text goes to the sinks."
        case .digestNotShown: "A digest was not shown. See its `reason`, and the runbook DigestNotShown."
        case .digestShown: "A digest was shown: a sink has it, and none is still waited for."
        case .digestStoreFailed: "The database failed while a digest was armed or fired. Look at the disk."
        case .digestVariable:
            "The content does not have what a template names; it stays as written. Correct the template."
        case .dispatchStoreFailed:
            "The database failed while delivering. Look at the disk; a notification may come twice, under the same id."
        case .httpListening: "`/metrics` and the status page are there."
        case .identityChanged: "Another identity is active, or none; the open rows of the former are cancelled."
        case .notification: "The `log` sink's form of a notification."
        case .notificationDelivered: "Every sink that wants notifications has it."
        case .outboxEvicted: "More waited than `outbox.max_undelivered` allows; rows were dropped as `eviction` says."
        case .pollBootstrapped: "A poll's first cycle: it starts from the newest change and announces none."
        case .pollChanged: "A cycle found changes."
        case .pollContractViolation:
            "The server's answer is not what it promised, and nothing of it was stored. Report it to its operator."
        case .pollDeferred: "The cycle waits, because the server or the rate limit asks to. It goes on by itself."
        case .pollFailed: "The cycle failed; what it fetched before is kept. If it lasts, see the runbook PollFailing."
        case .pollOutOfRoom:
            "The outbox is full; the rest is fetched within a minute of there being room. "
                + "See why no sink takes more."
        case .pollPageOutOfOrder: "A page was not in order and was put in order. Report it to the server's operator."
        case .pollSkipped: "A cycle was not begun, for another reason than the last time."
        case .pollSkippedAgain: "A cycle was not begun, for the same reason as the last time."
        case .pollStoreFailed: "The database failed in a cycle. Look at the disk; the next cycle fetches again."
        case .pollUnchanged: "A cycle found nothing new."
        case .retentionCleaned: "Rows past their time were deleted."
        case .retentionStoreFailed: "The database failed while cleaning up. Look at the disk."
        case .serverDialect: "The first answer showed which dialect the server speaks; it is remembered."
        case .sinkCircuit: "A sink failed so often that it is left alone for a while, or is asked again."
        case .sinkGone: "A sink wants nothing more; it is off until a reload. Correct its URL or remove it."
        case .sinkRejected:
            "A sink refused a notification. After `outbox.max_retries` refusals its changes are dead letters, even where "
                + "other sinks have them."
        case .sinkUnavailable: "A sink could not be reached, or not in time. It is tried until it can."
        case .tokenUnavailable: "There is no token, so no request. Mend `auth`: its file, its command, its clock."
        }
    }
}

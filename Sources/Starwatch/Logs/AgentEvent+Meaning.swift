extension AgentEvent {
    /// Description of the event, with advice for the operator if there is something to do.
    package var meaning: String {
        switch self {
        case .acknowledgeFailed:
            "The server did not accept a batch of acknowledgements, or its answer could not be read. The agent "
                + "sends it again later with the same key. After three rejections it sends half of the batch "
                + "with a new key; an answer that cannot be read is no rejection. A single change rejected five "
                + "times counts as acknowledged if the last response was a 200 that rejects it; after any other "
                + "status the agent keeps retrying."
        case .acknowledgeLocal:
            """
            The server has no acknowledgement endpoint (404). The agent records acknowledgements only locally; it tries \
            the endpoint again after 24 h and after a restart.
            """
        case .acknowledgeNoToken:
            "No token was available to acknowledge changes. Fix `auth`; nothing is lost in the meantime."
        case .acknowledgeStoreFailed:
            "The database failed while acknowledging. Check the disk; the agent retries after 5 s."
        case .agentStarted: "The agent started."
        case .agentStopped: "The agent stopped as requested."
        case .apiFailure: "One attempt of a request failed. A later event reports the result of its cycle."
        case .callbackDropped:
            "Callback events were dropped because they were too old or too many. Check why the receiver "
                + "does not accept them."
        case .callbackRefused: "A callback's receiver rejected an event. The agent retries it with backoff for 14 days."
        case .callbackStoreFailed: "The database failed while sending callback events. Check the disk."
        case .callbackUnavailable:
            "A callback's receiver was unreachable or timed out. The agent retries until it responds."
        case .clockJump:
            "The local clock was set, or the machine slept. The agent keeps its measurement of the server's clock."
        case .clockNoAnswer:
            "`clock.ntp_server` returned no time. The agent retries with backoff, unless the server rejected it."
        case .clockSkewed:
            "The local clock is off by more than `clock.max_skew`. Fix the machine's time synchronisation."
        case .configRefused:
            "A configuration reload was rejected; the previous configuration stays in force. Fix the "
                + "error and send SIGHUP again."
        case .configReloaded: "The configuration was reloaded and is in force."
        case .controlRefused:
            "The control API refused a request: no or a wrong token or password, another `Host`, a page of another origin, or too "
                + "many refusals of its address. If no client of yours is misconfigured, restrict who can reach "
                + "`control.listen`."
        case .digestEmpty: "A digest was not shown because its content is empty and `on_empty` is `skip`."
        case .digestFetchFailed: "A digest's content could not be fetched. `on_missing` decides what the digest shows."
        case .digestFired: "A digest's time has come, and its text goes to the sinks."
        case .digestNotShown: "A digest was not shown. See its `reason` and the runbook StarwatchDigestNotShown."
        case .digestShown: "A digest was shown: at least one sink accepted it, and no delivery is pending."
        case .digestStoreFailed: "The database failed while arming or firing a digest. Check the disk."
        case .digestVariable:
            "A template names a variable that the content does not have; the text keeps it unchanged. "
                + "Correct the template."
        case .dispatchStoreFailed:
            "The database failed during delivery. Check the disk; a notification can arrive twice, with the same id."
        case .httpClearText:
            """
            The port listens beyond this machine without TLS, and a password or the control token passes over the network \
            in clear text. Add TLS to its `web_config_file`.
            """
        case .httpRefused:
            """
            `http.listen` refused a request: no or a wrong password, another `Host`, or too many refusals of its address. \
            If no client of yours is misconfigured, restrict who can reach the port.
            """
        case .httpListening: "The HTTP server is ready to serve `/metrics` and the status page."
        case .identityChanged:
            "The active identity changed or was signed out. The previous identity's open rows are cancelled."
        case .identityErased: "An identity was erased from the database, with its keys."
        case .keysRevoked:
            "Signing keys were revoked, by an operator or at the end of their grace. Their secrets are destroyed."
        case .keysRotated:
            "Keys of the encrypted database were replaced: the master key, the data keys, whose values are then "
                + "encrypted again in the background, or a signing key."
        case .keysRotationEnded: "Every value is encrypted with the new data keys, and the former ones are destroyed."
        case .keysStoreFailed:
            "The database failed while values were encrypted again, or signing keys revoked. It goes on by itself."
        case .notification: "A notification, written by a sink of kind `log`."
        case .notificationDelivered: "A notification reached every required sink."
        case .outboxEvicted:
            "The outbox exceeded `outbox.max_undelivered`. Rows were evicted according to "
                + "`outbox.eviction` and are fetched again later."
        case .outboxUnreadable:
            "Stored values do not open, because they were changed or moved. Their rows became dead letters, and "
                + "a notification without its text is made again if no sink has it. All others are delivered. "
                + "`starwatch keys verify` lists the values."
        case .pollBootstrapped:
            "The first cycle of a poll set its starting point at the newest change and announced nothing."
        case .pollCancelled:
            "The agent stopped, or the identity or its stars changed, during the cycle; pages fetched before are "
                + "kept. This is no failure."
        case .pollChanged: "A cycle found changes."
        case .pollContractViolation:
            "A server response violates the contract, and nothing of it was stored. Report it to the server's operator."
        case .pollCursorAhead:
            "The newest known change is later than the server's time: the server's clock was set back, or the local clock "
                + "is behind. The agent asks for everything since its last complete cycle. Check both clocks."
        case .pollDeferred: "The cycle waits for a rate limit of the server or the agent. It resumes automatically."
        case .pollFailed:
            "The cycle failed; pages fetched before the failure are kept. If it continues, see the "
                + "runbook StarwatchPollFailing."
        case .pollItemQuarantined:
            "One item of a page is invalid, and `quarantine_invalid` let the rest of the page through. "
                + "`starwatch quarantine list` lists such items. Report it to the server's operator."
        case .pollOutOfRoom:
            "The outbox is full. The agent fetches the remaining changes within a minute after there is "
                + "room. Check why the sinks accept no more."
        case .pollPageOutOfOrder: "A page was out of order; the agent sorted it. Report it to the server's operator."
        case .pollSkipped: "A cycle was skipped for a different reason than the last one."
        case .pollSkippedAgain: "A cycle was skipped for the same reason as the last one."
        case .pollStoreFailed: "The database failed during a cycle. Check the disk; the next cycle fetches again."
        case .pollUnchanged: "A cycle found no changes."
        case .retentionCleaned: "Rows past their retention time were deleted."
        case .retentionStoreFailed: "The database failed during cleanup. Check the disk."
        case .serverDialect: "The first response revealed the server's dialect. The agent stores it."
        case .serverWaitCapped:
            "The server asked for a wait of more than 7 days. The agent waits 7 days; `starwatch server clear-wait` ends the "
                + "wait."
        case .sinkCircuit: "The circuit breaker of a sink changed its state."
        case .sinkGivenUp:
            "A sink was down for longer than its `give_up_after`. The notification is a dead letter of this sink; "
                + "`starwatch outbox retry` sends it again."
        case .sinkGone: "A sink returned 410 Gone and is disabled until a reload. Correct its URL or remove it."
        case .sinkRejected:
            "A sink rejected a notification. After `outbox.max_retries` rejections its changes become "
                + "dead letters, even if other sinks received them."
        case .sinkUnavailable: "A sink was unreachable or timed out. The agent retries until it responds."
        case .starsUnreadable:
            "The stored stars do not open or are not a list of plan identifiers, so none are polled. Nothing overwrites "
                + "them until `starwatch stars set` replaces them."
        case .storageCheck:
            "The check of the database's pages began or passed. It follows an unclean end, while the agent works."
        case .storageCheckFailed:
            "The check of the database's pages was not possible. Check the disk; the next start checks again."
        case .storageClear: "The database is not encrypted, because no master key is configured."
        case .storageDamaged:
            "The check found damage in the database. The agent writes nothing more and ends with exit code 2. Restore a "
                + "backup."
        case .tokenUnavailable:
            "No token is available, so no request is sent. Fix `auth`: its file, its command or the clock."
        case .webConfigRefused:
            """
            A changed web configuration, or a certificate or key that it names, cannot be used. The former one stays in \
            force. Correct the file; the agent rereads it by itself.
            """
        case .webConfigReloaded: "A changed web configuration, certificate or key is in force for new connections."
        }
    }
}

/// Everything that can go wrong, or be done, in a simulation. A run can be made without some of them.
package enum FaultKind: String, Sendable, CaseIterable {
    // The network, on the way to the server.
    case unresolved, unconnected, reset, answerLost = "answer_lost", timeout, oversized
    // What the server answers.
    case rateLimited = "rate_limited", unavailable, serverError = "server_error", unauthenticated, malformed
    case wrongNext = "wrong_next", outOfOrder = "out_of_order", duplicated, skewedDate = "skewed_date"
    case lateVisibility = "late_visibility", partialAcknowledgement = "partial_acknowledgement"
    // Sinks.
    case sinkRefused = "sink_refused", sinkRejected = "sink_rejected", sinkAnswerLost = "sink_answer_lost"
    case sinkTimeout = "sink_timeout", sinkBusy = "sink_busy", sinkGone = "sink_gone"
    // The disk.
    case diskBusy = "disk_busy", diskFull = "disk_full", diskError = "disk_error", diskLate = "disk_late"
    // The process and the machine.
    case crash, crashInTransaction = "crash_in_transaction", powerLoss = "power_loss", restart, reload
    case clockStep = "clock_step", suspend, outage
    // People.
    case identity, signOut = "sign_out", stars, pressure, manualPoll = "manual_poll", operatorEdit = "operator_edit"
}

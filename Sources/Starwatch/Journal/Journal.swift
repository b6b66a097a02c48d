import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// The journal: who did what. Each entry is logged once, which also puts it into the black box, and stored.
struct Journal: Sendable {
    let store: Store
    let environment: Environment

    private var logger: Logger { environment.logger }
    private var now: Timestamp { environment.time.now }

    /// Notes an action of an operator.
    ///
    /// - Parameter failure: The reason why it failed; `nil` if it succeeded.
    func note(_ verb: String, _ target: String?, by caller: Operator, failure: ControlError?) async {
        let result = failure?.kind.rawValue ?? "ok"
        var fields: AgentEvent.Fields = [.verb: "\(verb)", .actor: "\(caller.text)", .result: "\(result)"]
        if let target { fields[.target] = "\(target)" }
        if let failure { fields[.error] = "\(failure.message)" }
        logger.log(.operatorAction, fields)
        // The message can repeat a name that the caller gave. The log redacts it; the journal has the kind.
        await append(JournalEntry(at: now, .action, by: caller.text, verb: verb, target: target, result: result))
    }

    /// Notes that a configuration is in force.
    func noteReload(from former: AgentOptions, to next: AgentOptions) async {
        let (caller, hash) = (Operator.current.text, OptionsDifference.hash(next))
        let names = OptionsDifference.names(former, next)
        var fields: AgentEvent.Fields = [.actor: "\(caller)", .configuration: "\(hash)"]
        if !names.isEmpty { fields[.changed] = "\(names.joined(separator: ", "))" }
        logger.log(.configReloaded, fields)
        let detail = names.isEmpty ? "nothing changed" : names.joined(separator: ", ")
        await append(
            JournalEntry(at: now, .reload, by: caller, verb: "reload", target: hash, result: "ok", detail: detail)
        )
    }

    /// Notes that a configuration was refused.
    ///
    /// - Returns: The error's sentence, without what the log redacts.
    func noteRefusedReload(_ error: AgentError) async -> String {
        let caller = Operator.current.text
        logger.log(.configRefused, [.error: "\(error.message)", .actor: "\(caller)"])
        // As the log has it: the sentence can repeat a value of the file.
        var sentence = Array(error.message.utf8)
        Redactor().redact(&sentence)
        let detail = String(decoding: sentence, as: UTF8.self)
        await append(JournalEntry(at: now, .reload, by: caller, verb: "reload", result: "refused", detail: detail))
        return detail
    }

    /// Notes the end of a run that could not note it itself.
    func note(_ end: RunEnd) async {
        var fields: AgentEvent.Fields = [.cause: "\(end.cause.rawValue)"]
        if let signal = end.signalName { fields[.signal] = "\(signal)" }
        logger.log(.agentRunEnded, fields)
        await append(
            JournalEntry(at: end.at, .runEnd, by: "agent", result: end.cause.rawValue, detail: "It \(end.phrase).")
        )
    }

    /// Notes that this run has ended. The log says it elsewhere.
    func noteEnd(_ cause: RunEndCause) async {
        await append(JournalEntry(at: now, .runEnd, by: "agent", result: cause.rawValue, detail: "It \(cause.phrase)."))
    }

    /// The entries that a query selects.
    func list(_ query: JournalQuery) async throws -> JournalListing {
        try ControlError.check(limit: query.limit, upTo: JournalQuery.listLimit)
        var since: Timestamp?
        if let text = query.since {
            guard let time = Timestamp(iso8601: text) else {
                throw ControlError(.invalid, "since must be a time such as 2026-01-01T12:00:00Z.")
            }
            since = time
        }
        let entries = try await store.journal.list(since: since, limit: query.limit)
        return JournalListing(entries: entries.map { JournalRecord($0.entry, id: $0.id) })
    }

    /// An entry that cannot be stored is in the log and in the black box.
    private func append(_ entry: JournalEntry) async { try? await store.journal.append([entry]) }
}

extension JournalRecord {
    init(_ entry: JournalEntry, id: Int64?) {
        self.init(
            id: id,
            at: entry.at.iso8601,
            kind: Kind(entry.kind),
            actor: entry.actor,
            verb: entry.verb,
            target: entry.target,
            result: entry.result,
            detail: entry.detail
        )
    }
}

extension JournalRecord.Kind {
    fileprivate init(_ kind: JournalEntry.Kind) {
        self =
            switch kind {
            case .action: .action
            case .reload: .reload
            case .runEnd: .runEnd
            }
    }
}

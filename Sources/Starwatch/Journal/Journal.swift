import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// The journal: who did what. Each entry is logged once, which also puts it into the black box, and stored.
struct Journal: Sendable {
    let environment: Environment
    let differences: OptionsDifference

    private var store: Store { environment.store }
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
        let (caller, hash) = (Operator.current.text, differences.hash(next))
        let names = differences.names(former, next)
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

    /// Notes that the start upgraded the database.
    func note(_ upgrade: SchemaUpgrade) async {
        var fields: AgentEvent.Fields = [.from: .number(upgrade.from), .to: .number(upgrade.to)]
        if let copy = upgrade.copy { fields[.copy] = "\(copy)" }
        logger.log(.storageUpgraded, fields)
        let copy = upgrade.copy.map { "The copy from before is \($0)." } ?? "No copy from before is kept."
        await noteOwn("storage.upgrade", "from=\(upgrade.from),to=\(upgrade.to)", detail: copy)
    }

    /// Notes the end of the former run, and looks for the ends that the two runs before it left.
    ///
    /// The black box has them. A journal without one is perhaps that of an older copy of the database, which somebody put
    /// back. It is told once, because the end is noted again. An end that a full disk kept out of the journal looks alike.
    func note(former ends: [RunEnd]) async {
        let limit = now - Self.judged
        // A run that did not record its end is noted by the next start alone.
        let noted = ends.dropLast(ends.last?.isRecorded == false ? 1 : 0).suffix(2).filter { $0.at > limit }
        var lost: RunEnd?
        for end in noted where await store(end) { lost = lost ?? end }
        if let lost { await noteOlderCopy(since: lost.startedAt) }
        if let last = ends.last, !last.isRecorded { await note(last) }
    }

    /// Notes that the database is perhaps an older copy, which lacks what the agent did since a time.
    private func noteOlderCopy(since time: Timestamp) async {
        logger.log(.storageOlderCopy, [.since: "\(time.iso8601)"])
        let detail = "The database lacks a run of the agent; perhaps an older copy was put back."
        await noteOwn("storage.older_copy", "since=\(time.iso8601)", detail: detail)
    }

    /// The age up to which a missing end is told. The journal keeps entries longer.
    private static let judged = Duration.seconds(30 * 86_400)

    /// Notes the end of a run, once. Of an end that the run recorded itself, the log says so elsewhere.
    func note(_ end: RunEnd) async {
        guard await store(end), !end.isRecorded else { return }
        var fields: AgentEvent.Fields = [.cause: "\(end.cause.rawValue)"]
        if let signal = end.signalName { fields[.signal] = "\(signal)" }
        logger.log(.agentRunEnded, fields)
    }

    /// Stores the end of a run. Its start is the entry's key.
    ///
    /// - Returns: Whether the journal lacked it, or cannot be written: the log has it then.
    private func store(_ end: RunEnd) async -> Bool {
        let entry = JournalEntry(
            at: end.at,
            .runEnd,
            by: "agent",
            target: end.startedAt.iso8601,
            result: end.cause.rawValue,
            detail: "It \(end.account)."
        )
        return (try? await store.journal.append(endOfRun: entry)) ?? true
    }

    /// The entries that a query selects.
    func list(_ query: JournalQuery) async throws -> JournalListing {
        let since = try query.time()
        let entries = try await store.journal.list(since: since, limit: query.limit)
        return JournalListing(entries: entries.map { JournalRecord($0.entry, id: $0.id) })
    }

    /// Notes what the agent did or found by itself.
    private func noteOwn(_ verb: String, _ target: String, detail: String) async {
        await append(
            JournalEntry(at: now, .action, by: "agent", verb: verb, target: target, result: "ok", detail: detail)
        )
    }

    /// An entry that cannot be stored is in the log and in the black box.
    private func append(_ entry: JournalEntry) async { try? await store.journal.append([entry]) }
}

extension JournalListing {
    /// Reads the entries of a database without an agent.
    package static func read(database: String, _ query: JournalQuery) throws -> JournalListing {
        let since = try query.time() ?? Timestamp(milliseconds: 0)
        let entries: [JournalEntry]
        do throws(StoreError) {
            entries = try StoredRecord.read(path: database, since: since).journal
        } catch {
            throw AgentError.database(error, error.forReaders)
        }
        return JournalListing(entries: entries.suffix(query.limit).map { JournalRecord($0, id: nil) })
    }
}

extension JournalQuery {
    /// The time of ``since``, after a check of the whole query.
    fileprivate func time() throws -> Timestamp? {
        try ControlError.check(limit: limit, upTo: Self.listLimit)
        return try ControlError.time(since: since)
    }
}

extension JournalRecord {
    init(_ entry: JournalEntry, id: Int64?) {
        self.init(
            id: id,
            at: entry.at.iso8601,
            kind: entry.kind,
            actor: entry.actor,
            verb: entry.verb,
            target: entry.target,
            result: entry.result,
            detail: entry.detail
        )
    }
}

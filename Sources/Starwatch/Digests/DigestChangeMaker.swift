import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Turns a decision into stored changes: renders the texts, and ends occurrences that the sinks have finished.
struct DigestChangeMaker {
    private(set) var changes = DigestChanges()
    /// Names in templates that the content does not have, each with its digest.
    private(set) var unknown: [(DigestName, String)] = []
    var locale = "en"

    private let state: DigestState
    private let contents: [DigestName: StoredContent]
    private let digests: [DigestName: (digest: Digest, plan: DigestPlan)]
    private var tokens: [DigestOccurrence: String]
    private let now: Timestamp
    private var parsed: [DigestName: DigestContent] = [:]

    init(
        state: DigestState,
        contents: [DigestName: StoredContent],
        digests: [Digest],
        plans: [DigestPlan],
        now: Timestamp
    ) {
        self.state = state
        self.contents = contents
        self.digests = Dictionary(
            zip(digests, plans).map { ($0.name, (digest: $0, plan: $1)) },
            uniquingKeysWith: { first, _ in first }
        )
        tokens = Dictionary(
            state.rows.filter { !$0.token.isEmpty }.map { ($0.row.occurrence, $0.token) },
            uniquingKeysWith: { first, _ in first }
        )
        self.now = now
    }

    /// Returns whether a fired digest is too old for a sink. Its time to live counts from its scheduled time. A sink
    /// that was down for a while can still get it, within that limit.
    static func isTooOld(_ row: DigestState.Row, ttl: Duration, now: Timestamp) -> Bool {
        let fireAt = row.row.occurrence.fireAt
        let since = row.row.arming?.text.contentAt ?? fireAt
        return now > max(fireAt + DigestDecision.grace, since + ttl)
    }

    /// Ends occurrences that the sinks have finished.
    mutating func endFired() {
        for row in state.rows where row.row.isFired && row.row.status == .scheduled {
            let occurrence = row.row.occurrence
            let ttl = digests[occurrence.digest]?.digest.options.longestAge
            switch row.notification {
            case .delivered:
                end(occurrence, .shown, nil, shownAt: row.finishedAt ?? now)
            case .dead: end(occurrence, .error, .rejected)
            case .released:
                let isLate = ttl.map { Self.isTooOld(row, ttl: $0, now: now) } ?? false
                end(occurrence, isLate ? .skippedStale : .error, isLate ? .undelivered : .noSink)
            case .cancelled: end(occurrence, .error, .noSink)
            case .open, nil: break
            }
        }
    }

    mutating func make(_ decision: DigestDecision, sinks: [String]) {
        changes.dropped += decision.dropped
        for arming in decision.scheduled + decision.armed { arm(arming) }
        for skip in decision.skipped { end(skip.occurrence, skip.status, skip.code) }
        for firing in decision.fired {
            let wanted = digests[firing.occurrence.digest]?.digest.options.sinks
            let names = sinks.filter { wanted?.contains($0) ?? true }
            guard !names.isEmpty else {
                end(firing.occurrence, .error, .noSink)
                continue
            }
            arm(firing)
            guard let token = tokens[firing.occurrence] else { continue }
            changes.fired.append(
                DigestChanges.Firing(occurrence: firing.occurrence, sinks: names, runID: RandomID.runID(of: token))
            )
        }
        changes.fetching += decision.prefetches
    }

    /// Stores the time up to which everything is armed, if it moved by `step` or anything else changes.
    mutating func extend(by step: Duration) {
        let end = now + DigestDecision.horizon
        for name in digests.keys {
            if let known = state.armedThrough[name], known <= end, end - known < step { continue }
            changes.armedThrough[name] = end
        }
    }

    /// Adds the events that tell callbacks of the endings. Empty content is not an error.
    mutating func addEvents(of account: DID, _ writer: CallbackWriter) {
        for ending in changes.ended where ending.status != .skipped {
            let event = writer.draft(
                ending.status == .shown ? .delivery : .error,
                account: account,
                occurrence: ending.occurrence,
                status: ending.status,
                code: ending.code,
                deliveredAt: ending.shownAt,
                now: now
            )
            if let event { changes.events.append(event) }
        }
    }

    private mutating func end(
        _ occurrence: DigestOccurrence,
        _ status: SlotStatus,
        _ code: SlotCode?,
        shownAt: Timestamp? = nil
    ) {
        changes.ended.append(DigestChanges.Ending(occurrence: occurrence, status: status, code: code, shownAt: shownAt))
    }

    private mutating func arm(_ arming: DigestDecision.Arming) {
        let occurrence = arming.occurrence
        guard let (digest, plan) = digests[occurrence.digest] else { return }
        let token = tokens[occurrence] ?? RandomID.notificationID()
        tokens[occurrence] = token
        var armed: ArmedText?
        if let text = arming.text {
            let rendering = digest.wording.render(text, content(of: digest), in: plan.zone)
            unknown += rendering.unknown.map { (digest.name, $0) }
            var message = DigestMessage(
                id: token,
                // Known before the pass that fires it, because sinks get it with the armed text.
                runID: RandomID.runID(of: token),
                occurrence: occurrence,
                text: text,
                title: rendering.title,
                body: rendering.body,
                locale: locale
            )
            message.account = digest.account
            armed = ArmedText(
                text: text,
                fingerprint: plan.fingerprint,
                title: message.title,
                body: message.body,
                payload: message.json()
            )
        }
        changes.armed.append(DigestChanges.Arming(occurrence: occurrence, token: token, text: armed))
    }

    private mutating func content(of digest: Digest) -> DigestContent? {
        if let known = parsed[digest.name] { return known }
        let content = contents[digest.name].flatMap { DigestContent(json: Array($0.payload.utf8)) }
        parsed[digest.name] = content
        return content
    }
}

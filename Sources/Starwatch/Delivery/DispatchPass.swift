import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// One pass of the dispatcher: the values that its steps share. ``DispatchService/work(_:)`` lists the steps.
struct DispatchPass {
    let service: DispatchService
    /// The identity at the beginning of the pass.
    let current: IdentityContext.Snapshot
    let account: DID
    /// The moment of its beginning. What the hours release then is joined and leased together: later ones wait for the next
    /// pass.
    let now: Timestamp
    /// The receivers of the account's notifications.
    private let receivers: [SinkReceiver]
    /// Those that get new notifications: all but the disabled ones.
    let sinks: [SinkReceiver]
    private(set) var result = DispatchService.Pass()
    private var open: [OpenNotification] = []

    /// - Returns: `nil` if there is no identity.
    init?(_ service: DispatchService) async throws(StoreError) {
        current = try await service.account.identity.current()
        guard let did = current.identity.did else { return nil }
        (account, now) = (did, service.now)
        self.service = service
        receivers = try await SinkReceiver.all(service.sinks, of: did, in: service.store)
        sinks = receivers.filter { !$0.isDisabled }
    }

    var store: Store { service.store }
    var sinkNames: [String] { sinks.map(\.name) }

    func stream(of poll: Poll) -> StreamKey { service.account.stream(of: poll, for: account) }

    /// Creates the notifications that no row waits for: about stale polls and new features.
    func announce() async throws(StoreError) {
        if service.noticesStaleness { try await announceStaleness() }
        try await announceFeatures()
    }

    /// Leases the open notifications that a sink is due for.
    ///
    /// - Parameter joinsHeld: Whether sinks held several until now.
    mutating func collect(joinsHeld: Bool) async throws(StoreError) {
        try await dropFormerSinks()
        try await store.deliveries.readdress(of: account, to: sinkNames, now: now)
        if joinsHeld { try await joinHeld() }
        open = try await store.deliveries.reclaim(of: account, now: now, leaseUntil: now + DispatchService.lease)
    }

    /// Takes notifications back from sinks at which the account has no address any more.
    private func dropFormerSinks() async throws(StoreError) {
        guard service.sinks.contains(where: \.isOfAccounts) else { return }
        let names = Set(receivers.map(\.name))
        guard try await !store.deliveries.waitingSinks(of: account).isSubset(of: names) else { return }
        _ = try await store.deliveries.retainSinks(names, of: account, now: now)
        service.wakes.acknowledge.raise()
    }

    /// Whether a sink has hours.
    var hasHours: Bool { receivers.contains(where: \.slot.hasHours) }

    /// Plans the held notifications again, by the present hours of the sinks.
    ///
    /// - Returns: Whether there are any, and whether some are to be joined now.
    func planHeld() async throws(StoreError) -> (isAny: Bool, isToJoin: Bool) {
        let openings = receivers.map { receiver in
            let slot = receiver.isDisabled ? nil : receiver.slot
            return (receiver.name, (first: slot?.opens(after: now) ?? now, again: slot?.resumes(after: now) ?? now))
        }
        return try await store.deliveries.planHeld(of: account, openings: Dictionary(openings) { $1 }, now: now)
    }

    /// Makes one notification of those that a sink held until now. One of several polls counts for the last of them.
    private mutating func joinHeld() async throws(StoreError) {
        let renderer = service.renderer
        let joined = try await store.deliveries.joinHeld(
            of: account,
            now: now,
            newID: { RandomID.notificationID() },
            make: { renderer.renewed($0) }
        )
        count(made: joined)
    }

    private mutating func count(made notifications: [OutgoingNotification]) {
        result.made += notifications.count
        for notification in notifications {
            guard let poll = service.metrics.pollNames[notification.poll] else { continue }
            service.metrics.outbox.notifications[poll, notification.group].increment()
        }
    }

    /// The streams of polls and servers that are no longer configured, but have rows to deliver.
    func formerStreams() async throws(StoreError) -> [StreamKey] {
        try await store.deliveries.streams(of: account, with: .pending, except: service.polls.map(stream))
    }

    /// Moves the rows of a stream that are due into notifications.
    mutating func claim(_ stream: StreamKey) async throws(StoreError) {
        let due = try await store.deliveries.dueSummary(stream)
        let isCanary = stream.poll == .canary
        let names = isCanary ? sinks.filter(\.slot.policy.takesCanaries).map(\.name) : sinkNames
        // A sink can lose its mark. People must not see what is left.
        if isCanary, names.isEmpty { return try await store.outbox.withdrawCanaries(of: stream, now: service.now) }
        guard !names.isEmpty, due.count > 0 else { return }
        let now = service.now
        switch GroupingDecision.decide(
            now: now,
            oldestWaiting: due.oldestCreatedAt,
            lastNotified: due.lastNotifiedAt,
            groupWait: service.options.groupWait,
            groupInterval: service.groupInterval(of: stream.poll)
        )
        {
        case .idle: return
        case .wait(let until): return result.tryAgain(at: until)
        case .notify: break
        }
        let renderer = service.renderer
        let notifications = try await store.deliveries.claim(
            stream,
            now: now,
            limit: DispatchService.rowsPerPass,
            leaseUntil: now + DispatchService.lease,
            sinks: names,
            held: isCanary ? [:] : openings(at: now),
            make: { renderer.notification(of: $0, part: $1, poll: stream.poll, at: now) }
        )
        open += notifications
        count(made: notifications.map(\.outgoing))
        let claimed = notifications.reduce(0) { $0 + $1.outgoing.count }
        if claimed > 0, due.count > claimed { result.next = now }
    }

    /// The moments until which the hours of sinks hold notifications of changes.
    private func openings(at now: Timestamp) -> [String: Timestamp] {
        Dictionary(sinks.compactMap { sink in sink.slot.opens(after: now).map { (sink.name, $0) } }) { $1 }
    }

    /// Delivers to all sinks concurrently. Each sink gets its notifications one at a time.
    mutating func deliver() async {
        let service = service
        // Waiting for a sink does not raise a notification's priority; `sorted` is stable.
        let open = open.sorted { service.priority(of: $0.stream.poll) > service.priority(of: $1.stream.poll) }
        let ends = await withTaskGroup(of: [DeliveryResult?].self) { group in
            for receiver in receivers {
                let attempts = open.compactMap { notification in
                    notification.tickets.first { $0.sink == receiver.name }.map {
                        SinkAttempt(notification: notification, ticket: $0, receiver: receiver, service: service)
                    }
                }
                // Notifications that failed before come last, so that a probe does not meet the same poisoned one every time.
                .sorted { $0.ticket.earlierAttempts < $1.ticket.earlierAttempts }
                guard !attempts.isEmpty else { continue }
                group.addTask {
                    var ends: [DeliveryResult?] = []
                    var wait: SinkAttempt.Wait? = receiver.wait(at: service.now).map { (until: $0, isForSlot: false) }
                    for attempt in attempts where !Task.isCancelled {
                        do throws(StoreError) {
                            if let end = try await attempt.run(&wait) { ends.append(end) }
                        } catch {
                            service.logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
                            ends.append(nil)
                        }
                    }
                    return ends
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for end in ends { count(end) }
    }

    /// - Parameter end: `nil` if it could not be stored.
    private mutating func count(_ end: DeliveryResult?) {
        switch end {
        case nil: result.hasFailed = true
        case .delivered([]), .dead([]), .released(rows: 0): result.settled += 1
        case .delivered(let ids): result.delivered += ids.count
        case .dead(let ids): result.dead += ids.count
        case .several(let ends): for end in ends { count(end) }
        case .stale, .waiting, .released: break
        }
    }

    /// Wakes the workers that continue, and logs the rows and notifications that were set aside because they do not open.
    func wakeOthers() {
        let unreadable = store.deliveries.takeUnreadable()
        if unreadable > 0 { service.logger.log(.outboxUnreadable, [.count: .number(unreadable)]) }
        // Unreadable ones no longer hold back the watermark, nor the end of their digest.
        if unreadable > 0 || result.delivered > 0 || result.dead > 0 { service.wakes.acknowledge.raise() }
        if unreadable > 0 || result.settled > 0 { service.wakes.digests.raise() }
    }

    /// Finds the next due delivery.
    mutating func findNext() async throws(StoreError) {
        if let next = try await store.deliveries.nextAt(of: account) { result.tryAgain(at: next) }
    }
}

extension DispatchPass {
    /// Creates notifications for the new-feature notices that the account has not received yet.
    ///
    /// Each notice already has its id, so a crash cannot create two notifications from one notice.
    func announceFeatures() async throws(StoreError) {
        guard !sinks.isEmpty else { return }
        for notice in try await store.notifications.openNotices(of: account) {
            guard let feature = FeatureNotification(rawValue: notice.feature), let poll = PollName(notice.feature)
            else { continue }
            var message = NotificationMessage(
                feature: feature,
                id: notice.token,
                runID: RandomID.runID(of: notice.token),
                messages: service.renderer.messages,
                createdAt: notice.createdAt
            )
            message.account = service.renderer.account
            try await store.notifications.announce(
                notice,
                on: service.account.stream(poll, of: account),
                OutgoingNotification(message),
                sinks: sinkNames,
                now: service.now
            )
        }
    }

    /// Notifies the user once when a poll is stale, and takes the notification back when the poll recovers.
    func announceStaleness() async throws(StoreError) {
        let streams = service.polls.map(stream)
        let known = store.status.rememberedSnapshot(streams)
        let snapshot: StoreSnapshot
        if let known { snapshot = known } else { snapshot = try await store.status.snapshot(streams) }
        // Ages are measured by the local clock: a server's clock that jumps must not make data look fresh.
        let (now, local) = (service.now, service.time.now)
        for (poll, stream) in zip(service.polls, streams) {
            let success = (snapshot.streams[stream]?.lastSuccess).map { min($0, local) }
            let notice = try await store.notifications.stalenessNotice(stream)
            let isStale = isStale(poll, lastSuccess: success, hasNotice: notice != nil, at: local)
            let outgoing = { staleness(of: poll.name, lastSuccess: success, in: notice, at: now) }
            switch (notice, isStale) {
            case (nil, false): break
            case (nil, true):
                guard !sinks.isEmpty else { break }
                try await store.notifications.raiseStalenessNotice(stream, outgoing(), sinks: sinkNames, now: now)
            case (let notice?, true):
                // The data has aged while a sink held the notice.
                guard let opening = notice.opensAt, opening <= now else { break }
                try await store.notifications.renewStalenessNotice(stream, outgoing())
            case (let notice?, false): try await takeBack(notice, of: stream, lastSuccess: success, at: now)
            }
        }
    }

    /// Takes back the notices of polls that are no longer configured, or all of them if there are to be none. Otherwise a sink
    /// that holds one would get it in the morning.
    func dropFormerNotices() async throws(StoreError) {
        let current = service.noticesStaleness ? service.polls.map(stream) : []
        for stream in try await store.notifications.staleStreams(of: account, except: current) {
            guard let notice = try await store.notifications.stalenessNotice(stream) else { continue }
            try await takeBack(notice, of: stream, lastSuccess: nil, at: service.now)
        }
    }

    /// Withdraws a notice, also from the sinks that accepted it and can take it back.
    private func takeBack(
        _ notice: StalenessNotice,
        of stream: StreamKey,
        lastSuccess: Timestamp?,
        at now: Timestamp
    ) async throws(StoreError) {
        let takers = sinks.filter { notice.takenBy.contains($0.name) && $0.slot.sink.takesBack }.map(\.name)
        let end = staleness(of: stream.poll, lastSuccess: lastSuccess, isOver: true, in: nil, at: now)
        try await store.notifications.clearStalenessNotice(stream, end, sinks: takers, now: now)
    }

    private func isStale(_ poll: Poll, lastSuccess: Timestamp?, hasNotice: Bool, at local: Timestamp) -> Bool {
        guard current.expects(poll.options), !service.account.lacksEndpoint(of: poll.kind) else { return false }
        // A restart does not count as a success.
        if lastSuccess == nil, hasNotice { return true }
        let begin = current.ageBegins(poll.kind, lastSuccess: lastSuccess, startedAt: service.startedAt)
        return local - begin > poll.staleAfter
    }

    /// Renders the notice of a stale poll.
    ///
    /// - Parameters:
    ///   - isOver: Whether it takes a notice back, under an id of its own.
    ///   - notice: The current notice, which keeps its id and its run.
    private func staleness(
        of poll: PollName,
        lastSuccess: Timestamp?,
        isOver: Bool = false,
        in notice: StalenessNotice?,
        at now: Timestamp
    ) -> OutgoingNotification {
        var message = NotificationMessage(
            staleness: notice?.id ?? RandomID.notificationID(),
            runID: notice?.runID ?? RandomID.runID(),
            poll: poll,
            lastSuccess: lastSuccess,
            isOver: isOver,
            messages: service.renderer.messages,
            createdAt: now
        )
        message.account = service.renderer.account
        if !isOver {
            let problems = service.metrics.problems.all
            message.problem = Problem.cause(ofStale: poll, among: problems)?.kind.rawValue
        }
        return OutgoingNotification(message)
    }
}

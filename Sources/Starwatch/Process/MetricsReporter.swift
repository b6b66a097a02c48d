import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The metrics page, with the gauges that are computed for each scrape.
struct MetricsReporter: Sendable {
    let runtime: AccountRuntime
    let fleet: FleetService?

    private var process: AgentProcess { runtime.process }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var store: Store { process.store }
    private var metrics: AgentMetrics { process.environment.metrics }
    private var time: any TimeSource { process.environment.time }

    /// The maximum number of scrapes in flight; more get 503.
    static let scrapeLimit = 8.0

    /// The metrics page, in the requested format.
    ///
    /// 503 if too many scrapes are in flight, or if the page would arrive after the scraper's timeout.
    func answer(_ query: MetricsQuery) async -> MetricsAnswer {
        if query.scrapeTimeout != nil { lifecycle.seen.noteScrape(now: time.now, at: time.monotonic) }
        metrics.scrapesInFlight.add(1)
        defer { metrics.scrapesInFlight.add(-1) }
        guard metrics.scrapesInFlight.value <= Self.scrapeLimit else {
            metrics.scrapes[.unavailable].increment()
            return .unavailable
        }
        let start = time.monotonic
        await refreshGauges()
        let format = ContentNegotiation.choose(accept: query.accept)
        let body = await metrics.registry.render(format, names: query.names)
        let duration = time.monotonic - start
        metrics.scrapeDuration.observe(duration)
        if let timeout = query.scrapeTimeout, duration > max(timeout - .milliseconds(500), .milliseconds(100)) {
            metrics.scrapes[.unavailable].increment()
            return .unavailable
        }
        metrics.scrapes[.ok].increment()
        return MetricsAnswer(status: 200, contentType: format.contentType, body: body)
    }

    /// Sets the gauges that are computed from the clock and the database.
    func refreshGauges() async {
        // Prometheus compares the agent's times with its own clock. The difference of the two corrects them.
        metrics.clock.local.set(time.now.seconds)
        await runtime.account.gate.publish(now: time.now)
        metrics.clock.tokenExpiry.set(await runtime.account.api.tokens.expiry?.seconds ?? 0)
        metrics.clock.poolRemaining.set(Double(await runtime.account.api.tokens.poolRemaining ?? 0))
        metrics.clock.keyCreated.set(lifecycle.seen.keyCreated?.seconds ?? 0)
        metrics.polls.progressAge.set(process.progress.age(at: time.monotonic).inSeconds)
        for sink in process.sinks {
            metrics.outbox.sinkDisabled[sink.label].set(sink.isDisabled)
            metrics.outbox.sinkLastSuccess[sink.label].set(exported(sink.lastSuccess))
        }
        let files = store.status.fileSizes()
        // An unknown value is no number: 0 bytes of free space would be an alert.
        metrics.storeBytes[.database].set(files.map { Double($0.database) } ?? .nan)
        metrics.storeBytes[.wal].set(files.map { Double($0.wal) } ?? .nan)
        metrics.storeBytes[.freeDisk].set(files?.freeDisk.map(Double.init) ?? .nan)
        guard !store.health.isSlow, let streams = try? await runtime.streams() else {
            return
        }
        var known = store.status.rememberedSnapshot(streams)
        if known == nil { known = try? await runtime.snapshot() }
        guard let snapshot = known else { return }
        publish(snapshot, accounts: (try? await fleet?.accounts.publish()) ?? 1)
        if let rhythms = runtime.rhythms { metrics.polls.show(await rhythms.silences(in: snapshot)) }
        metrics.outbox.oldestDue.set(exported(runtime.dispatcher.oldestDue(in: snapshot)))
    }

    /// Sets the gauges that only the configuration determines.
    func publishConfiguration() {
        let options = runtime.options
        metrics.outbox.capacity.set(Double(options.outbox.maxUndelivered))
        metrics.canary.interval.set(options.canary?.every.inSeconds ?? 0)
        metrics.clock.maxSkew.set(options.clock.maxSkew.inSeconds)
        metrics.reloadSuccessful.set(1)
        lifecycle.seen.refusedReload = nil
        metrics.reloadTime.set(time.now.seconds)
        for poll in runtime.polls {
            metrics.polls.staleAfter[poll.label].set(poll.staleAfter.inSeconds)
            metrics.polls.interval[poll.label].set(poll.schedule.longestGap(from: time.now).inSeconds)
        }
    }

    /// - Parameter accounts: Number of the active ones, each of which has its own room in the outbox.
    private func publish(_ snapshot: StoreSnapshot, accounts: Int) {
        let outbox = metrics.outbox
        let facts = HealthFacts.Outbox(snapshot, runtime.options.outbox, accounts: accounts)
        outbox.rows[.pending].set(Double(facts.pending))
        outbox.rows[.claimed].set(Double(facts.claimed))
        outbox.rows[.delivered].set(Double(facts.delivered))
        outbox.rows[.dead].set(Double(facts.dead))
        outbox.capacity.set(Double(facts.capacity))
        outbox.backpressure.set(facts.isUnderPressure)
        outbox.oldestPending.set(exported(snapshot.oldestPending))
        outbox.oldestDead.set(exported(snapshot.oldestDead))
        outbox.quarantined.set(Double(snapshot.quarantined))
        outbox.imbalance[.fetched].set(Double(snapshot.fetchedImbalance))
        outbox.imbalance[.new].set(Double(snapshot.newImbalance))
        outbox.publish(totals: snapshot.totals)
        for sink in process.sinks {
            let backlog = snapshot.backlogs[sink.name]
            outbox.sinkBacklog[sink.label].set(Double(backlog?.rows ?? 0))
            // An optional sink keeps no watermark back.
            let held = sink.policy.isRequired ? backlog?.held(at: runtime.dispatcher.now)?.count : nil
            outbox.sinkHeld[sink.label].set(Double(held ?? 0))
        }
        for poll in runtime.polls {
            if let last = fleet?.lastCycle(of: poll) {
                metrics.polls.show(last, of: poll.label)
                continue
            }
            let stream = snapshot.streams.first { $0.key.poll == poll.name }?.value
            outbox.watermark[poll.label].set(stream?.watermark?.timestamp.seconds ?? 0)
            outbox.fetchCursor[poll.label].set(stream?.fetchCursor?.timestamp.seconds ?? 0)
            // The cycle in flight is a later attempt than the stored one.
            let running = runtime.pollService.track(poll).isRunning ? process.lastCycles[poll].attempted : nil
            // A stored time is never shown in the future.
            let (attempts, now) = ([stream?.lastAttempt, running].compactMap(\.self), time.now)
            let shown = CycleTimes(
                attempted: attempts.max().map { min($0, now) },
                succeeded: (stream?.lastSuccess).map { min($0, now) }
            )
            metrics.polls.show(shown, of: poll.label)
        }
    }

    /// Converts a stored time of the server's clock to the local one, because Prometheus compares it with its own. 0 for none.
    private func exported(_ time: Timestamp?) -> Double {
        time.map { process.environment.clock.local($0).seconds } ?? 0
    }
}

extension MetricsAnswer {
    static let unavailable = MetricsAnswer(
        status: 503,
        contentType: "text/plain; charset=utf-8",
        body: Array("The page of metrics could not be made in time.\n".utf8)
    )
}

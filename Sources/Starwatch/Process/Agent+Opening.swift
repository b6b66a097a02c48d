import Foundation
import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent {
    static func open(
        _ options: AgentOptions,
        metrics: AgentMetrics,
        logger: Logger,
        change: (inout StoreOptions) -> Void
    ) throws(AgentError) -> Store {
        var store = StoreOptions(path: options.storage.path)
        store.owner = options.storage.owner == .agent ? .agent : .host
        store.polls = Set(options.polls.map(\.name))
        store.starredPolls = Set(options.polls.filter { $0.kind == .starredProjects }.map(\.name))
        store.onTransaction = { metrics.transactions[$0].observe($1) }
        store.onError = { metrics.storeErrors[$0].increment() }
        store.onUnrecorded = { logger.log(.pollStoreFailed, [.error: "\($0.description)"]) }
        store.onChanges = { changes in
            for (change, count) in changes { metrics.outbox.changes[change].increment(by: UInt64(count)) }
        }
        change(&store)
        do {
            return try Store(store)
        } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    /// Whether the next agent would find what this one has or has not touched: a database that can be written, and an
    /// address for its control API. Without them it could not begin, and this one has ended by then.
    ///
    /// - Returns: The active account.
    static func checkReload(
        of options: AgentOptions,
        from current: AgentOptions,
        store: Store
    ) async throws(AgentError) -> DID? {
        do {
            try await store.probe(writes: true)
            if let address = try options.control.listen.map(ListenAddress.init(parsing:)) {
                // The port it has itself may be asked for at another address of the machine.
                let former = try current.control.listen.map(ListenAddress.init(parsing:))
                if address.port != former?.port { try await address.tryOut() }
            }
            return try await store.activeIdentity().did
        } catch let error as StoreError {
            throw AgentError(.failed, error.description)
        } catch let error as HTTPServerError {
            throw AgentError(.configuration, error.description)
        } catch {
            throw AgentError(.failed, "The control API's address could not be tried.")
        }
    }

    func publishConfiguration() {
        metrics.outbox.capacity.set(Double(options.outbox.maxUndelivered))
        metrics.clock.maxSkew.set(options.clock.maxSkew.inSeconds)
        if let file = options.auth.keyFile ?? options.auth.secretFile,
            let written = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        {
            metrics.clock.keyCreated.set(written.timeIntervalSince1970)
        }
        metrics.reloadSuccessful.set(1)
        metrics.reloadTime.set(time.now.seconds)
        for poll in polls {
            metrics.polls.staleAfter[poll.label].set(poll.options.staleAfter.inSeconds)
            metrics.polls.interval[poll.label].set(poll.schedule.longestGap(from: time.now).inSeconds)
        }
    }

    /// The control API on TCP, where the configuration opens it.
    func remoteControl(logger: Logger) throws(AgentError) -> ControlServer? {
        guard let listen = options.control.listen, let path = options.control.tokenFile else { return nil }
        let file = SecretFile(
            path: path,
            setting: "control.token_file",
            credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        )
        do {
            return try ControlServer(
                agent: self,
                listen: listen,
                token: {
                    var file = file
                    return String(decoding: try file.read(), as: UTF8.self)
                },
                dashboards: options.http.dashboardsURL,
                logger: logger
            )
        } catch {
            throw AgentError(.configuration, error.description)
        }
    }
}

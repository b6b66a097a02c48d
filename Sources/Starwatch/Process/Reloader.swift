import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import StarwatchTelemetry
import Synchronization

/// Reloads the configuration on SIGHUP or a request of the control API, and ends the run so that the next one uses it.
///
/// A configuration with an error, or with a change that needs a restart, is rejected as a whole. The running
/// configuration stays, and the agent logs the reason.
package final class Reloader: Service {
    private typealias State = (group: ServiceGroup?, supervisor: Supervisor, next: AgentOptions?, isRefused: Bool)

    let signal: ReloadSignal
    private let load: @Sendable () throws(AgentError) -> AgentOptions
    private let dependencies: AgentDependencies
    private let process: AgentProcess
    private let state = Mutex<State>((nil, .none, nil, false))

    /// - Parameters:
    ///   - signal: The signal of the previous run, if there was one.
    init(
        signal: ReloadSignal = ReloadSignal(),
        load: @escaping @Sendable () throws(AgentError) -> AgentOptions,
        process: AgentProcess,
        dependencies: AgentDependencies
    ) {
        (self.signal, self.load, self.process, self.dependencies) = (signal, load, process, dependencies)
    }

    /// Rejects every reload from now on, because the agent's owner would not start another run.
    func refuse() { state.withLock { $0.isRefused = true } }

    /// The options of the next run; `nil` if the agent must stop.
    package var next: AgentOptions? { state.withLock { $0.next } }

    /// Sets the group that ``reload()`` ends, and the supervisor that it notifies.
    func attach(_ group: ServiceGroup, _ supervisor: Supervisor) {
        state.withLock { ($0.group, $0.supervisor) = (group, supervisor) }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            self.signal.listen()
            while await self.signal.next() {
                do {
                    try Task.checkCancellation()
                    try await self.reload()
                } catch {
                    // The run is ending, so the signal goes to the next run.
                    if Task.isCancelled { return self.signal.raise() }
                }
            }
        }
    }

    package func reload() async throws(ControlError) {
        let supervisor = state.withLock { $0.supervisor }
        supervisor.reloading(at: process.environment.time.monotonic)
        var remedy = RefusedReload.Remedy.correction
        do throws(AgentError) {
            if state.withLock({ $0.isRefused }) {
                remedy = .restartOfHost
                throw AgentError(.configuration, "This agent is part of another program; restart that instead.")
            }
            let options = try load()
            let current = process.options
            guard
                options.storage == current.storage, options.http.listen == current.http.listen,
                options.control.socket == current.control.socket
            else {
                remedy = .restart
                throw AgentError(
                    .configuration,
                    "storage, http.listen and control.socket cannot change while running; restart the agent instead."
                )
            }
            // Only if an agent could run with them, this one stops.
            try await process.check(options, dependencies)
            await process.journal.noteReload(from: current, to: options)
            let group = state.withLock { state in
                state.next = options
                return state.group
            }
            await group?.triggerGracefulShutdown()
        } catch {
            process.environment.metrics.reloadSuccessful.set(0)
            let sentence = await process.journal.noteRefusedReload(error)
            process.lifecycle.seen.refusedReload = RefusedReload(sentence, remedy)
            supervisor.ready("Running; the changed configuration was refused.")
            throw ControlError(.invalid, error.message)
        }
    }
}

/// SIGHUP, received from the first ``listen()`` on and across reloads. A signal between two runs goes to the next run.
final class ReloadSignal: Sendable {
    private let signal = Signal()
    private let source = Mutex<(any DispatchSourceSignal)?>(nil)

    deinit { source.withLock { $0?.cancel() } }

    /// Handles the signal, which then no longer ends the process.
    func listen() {
        source.withLock { source in
            guard source == nil else { return }
            let made = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
            made.setEventHandler { [signal] in signal.raise() }
            made.activate()
            source = made
        }
    }

    /// Simulates the signal.
    func raise() { signal.raise() }

    /// Waits for the signal. Several earlier signals count as one.
    ///
    /// - Returns: `false` if the task was cancelled.
    func next() async -> Bool { await signal.wait() }
}

import Logging
package import ServiceLifecycle
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import UnixSignals

/// The services of one run of an agent.
package struct RunServices {
    private let agent: Agent
    private let supervisor: Supervisor?

    /// - Parameter supervisor: Receives the agent's health, by the real clock. `nil`: nobody does, and only a failed
    ///   store is probed. Problems are noticed either way.
    package init(_ agent: Agent, _ supervisor: Supervisor?) { (self.agent, self.supervisor) = (agent, supervisor) }

    /// The services of a run. They stop in reverse: the work of accounts first. /metrics responds to the end.
    func group(isEmbedded: Bool) throws(AgentError) -> ServiceGroup {
        let (process, reloader) = (agent.process, agent.reloader)
        let frameworks = process.logs.frameworks
        let serving = try agent.servers.make(agent.topics, agent.options, frameworks)
        var services = serving.services
        process.lifecycle.isEmbedded = isEmbedded
        if isEmbedded { reloader.refuse() } else { services.append(reloader) }
        services += workers + [process.pollManager]
        if process.store.status.pageCheckPhase == .running {
            services.append(PageCheckService(environment: process.environment))
        }
        services.append(
            ReadinessService(address: serving.metricsAddress, agent: agent, supervisor: supervisor ?? .none)
        )
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    // stop() ends the run through the end of this service. No other service ends by itself.
                    successTerminationBehavior: $0 is ReadinessService ? .gracefullyShutdownGroup : .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup,
                    // The default is a description of all that a service contains, which takes milliseconds to make.
                    serviceName: "\(type(of: $0))"
                )
            },
            gracefulShutdownSignals: isEmbedded ? [] : [.sigterm, .sigint],
            logger: frameworks
        )
        configuration.maximumGracefulShutdownDuration = agent.options.limits.shutdown
        return ServiceGroup(configuration: configuration)
    }

    /// The background services in their start order.
    package var workers: [any Service] {
        let (process, topics) = (agent.process, agent.topics)
        let environment = process.environment
        let housekeeping = HousekeepingService(
            outbox: agent.options.outbox,
            environment: environment,
            pipeline: process.logs.pipeline,
            recorder: process.logs.recorder,
            reportHealth: {
                process.runs.sign(now: environment.time.now)
                if let supervisor {
                    return await topics.report(to: supervisor)
                }
                // Probes only a failed store; users of a working one notice its failure themselves.
                if process.store.health.failure != nil { try? await process.store.status.probe() }
                _ = await topics.status.look()
            },
            healthInterval: supervisor?.progressInterval
        )
        let clock = ClockSyncService(
            account: agent.runtime.account,
            environment: environment,
            timeServers: process.parts.timeServers,
            options: agent.options.clock
        )
        guard let fleet = agent.fleet else { return [housekeeping, clock, SoleVisit(of: agent.runtime)] }
        // The events of all accounts are in one queue.
        let callbacks = agent.runtime.parts.filter { $0.name == .callbacks }
        let sender: [any Service] =
            callbacks.isEmpty ? [] : [SoleVisit(of: agent.runtime, polls: [], parts: callbacks)]
        return [housekeeping, clock] + sender + [fleet]
    }
}

/// Logs the address of the metrics page as soon as it is known. Tells the supervisor that the agent is ready and,
/// later, that it drains. Ends the run when the agent must stop.
///
/// It is the last service, so graceful shutdown reaches it first.
struct ReadinessService: Service {
    /// Returns the address of the metrics page, with the port that the system chose for port 0; `nil` if there is no
    /// page.
    let address: @Sendable () async -> String?
    let agent: Agent
    let supervisor: Supervisor

    func run() async throws {
        let process = agent.process
        await cancelWhenGracefulShutdown {
            if let address = await address() {
                process.environment.logger.log(.httpListening, [.address: "\(address)"])
                supervisor.ready("Running; metrics on \(address).")
            }
            _ = await process.lifecycle.stopping.value()
        }
        process.lifecycle.drain()
        guard agent.reloader.next == nil else { return }
        process.runs.stopping(now: process.environment.time.now)
        supervisor.stopping()
    }
}

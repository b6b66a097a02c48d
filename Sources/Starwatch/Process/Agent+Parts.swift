import Logging
import StarwatchCore
package import StarwatchPolling
package import StarwatchStore

/// Short names for the most used parts.
extension Agent {
    package var store: Store { process.store }
    package var metrics: AgentMetrics { process.environment.metrics }
    package var polls: [Poll] { runtime.polls }
    /// Manager of the host program's polls. It runs with the agent.
    public var pollManager: PollManager {
        metrics.showHostPolls()
        return process.pollManager
    }
    var sinks: [SinkSlot] { process.sinks }
    var clock: ServerClock { process.environment.clock }
    var time: any TimeSource { process.environment.time }
    var logger: Logger { process.environment.logger }
    var identity: IdentityContext { runtime.account.identity }
    /// Scheme, host and port of the server.
    var server: String { runtime.account.server }
}

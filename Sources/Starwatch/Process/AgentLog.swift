import Foundation
import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry

/// The log of a process and the metrics that count it. It is created first, so that it records every failure.
package struct AgentLog: Sendable {
    let metrics: AgentMetrics
    let pipeline: LogPipeline
    let recorder = LogRecorder()
    let blackBox: BlackBoxRecorder
    let logger: Logger

    /// - Parameters:
    ///   - sinks: Receivers of log lines besides the database; `nil`: standard error.
    ///   - previous: The agent that a reload ended: its counters continue.
    /// - Throws: ``AgentError`` of kind `configuration` for names that cannot be label values.
    init(
        options: AgentOptions,
        dependencies: AgentDependencies,
        sinks: [any StarwatchTelemetry.LogSink]?,
        time: any TimeSource,
        after previous: Agent?
    ) throws(AgentError) {
        do {
            metrics = try AgentMetrics.make(
                polls: options.polls.map(\.name.rawValue),
                sinks: options.delivery.sinks.map(\.name) + dependencies.sinks.map(\.name),
                features: MetricFeatures(options),
                now: { time.now },
                dependencies: dependencies.libraryMetrics.bridge
            )
        } catch {
            throw AgentError(.configuration, "\(error)")
        }
        if let previous { metrics.countOn(from: previous.metrics) }
        let format = LogFormat(rawValue: options.log.format.rawValue) ?? .json
        let standardError = DescriptorWriter.standardError(
            format: format,
            environment: ProcessInfo.processInfo.environment,
            onDrop: { [metrics] in metrics.log.dropped.increment() }
        )
        let lines: any StarwatchTelemetry.LogSink =
            dependencies.loggedEvent.map { EventLines(of: $0.name, to: standardError) } ?? standardError
        pipeline = LogPipeline(
            format: format,
            level: Logger.Level(rawValue: options.log.level.rawValue) ?? .info,
            sinks: sinks ?? [lines],
            metrics: metrics.log,
            nowMilliseconds: { time.now.milliseconds }
        )
        blackBox = BlackBoxRecorder(besides: dependencies.keepsBlackBox ? options.storage.path : nil)
        pipeline.setBlackBox(blackBox)
        let handler = pipeline.handler(label: "starwatch")
        logger = Logger(label: "starwatch", factory: { _ in handler })
    }

    /// Logs the error that ended a run, or kept it from starting. The black box has it in every format.
    ///
    /// - Returns: `false` if standard error has no line of it: the log is text for people, which the error's own sentence
    ///   suits better, or there can be no log.
    package static func noteEnd(by error: AgentError, of options: AgentOptions) async -> Bool {
        let isForPeople = options.log.format == .text
        guard
            let log = try? AgentLog(
                options: options,
                dependencies: AgentDependencies(),
                sinks: isForPeople ? [] : nil,
                time: SystemClock(),
                after: nil
            )
        else { return false }
        log.logger.log(.agentFailed, [.error: "\(error.message)"])
        log.pipeline.flush()
        await log.blackBox.close()
        return !isForPeople
    }

    /// The logger of libraries. Its label separates their lines from the agent's events. Libraries log at debug,
    /// because the agent's events say the same better.
    var frameworks: Logger {
        let handler = pipeline.handler(label: "frameworks")
        var logger = Logger(label: "frameworks", factory: { _ in handler })
        logger.logLevel = max(.notice, self.logger.logLevel)
        return logger
    }
}

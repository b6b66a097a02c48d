import Logging
import ServiceLifecycle

/// Writes errors of Hummingbird at debug once the agent stops.
///
/// When the time for stopping is over, the server's task is cancelled. Hummingbird then reports that it no longer accepts
/// connections, and that its socket is closed already, as errors. Both are what was asked for.
struct StoppingLogHandler: LogHandler {
    var handler: any LogHandler

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard Task.isCancelled || Task.isShuttingDownGracefully else { return handler.log(event: event) }
        guard handler.logLevel <= .debug else { return }
        var event = event
        event.level = .debug
        handler.log(event: event)
    }
}

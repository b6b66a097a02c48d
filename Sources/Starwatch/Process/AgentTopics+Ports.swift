import Logging
import StarwatchCore
import StarwatchTelemetry

/// Shows what happens at the agent's ports in metrics and in the log.
extension AgentTopics {
    package func noteRefusal(_ reason: ControlRefusal, at port: ServedPort, of client: String?) {
        let (metrics, logger) = (process.environment.metrics, process.environment.logger)
        let counter = port == .http ? metrics.httpRefused : metrics.controlRefused
        counter[reason].increment()
        let error =
            switch reason {
            case .host: "A request named a host that is not in http.allowed_hosts."
            case .origin: "A page of another origin sent a request."
            case .token: "A request did not have the control token."
            case .formerToken:
                "A reader used a former address of the feed; give it the one that starwatch feed url prints."
            case .password: "A request did not have the name and password of a user."
            case .rate: "An address sent too many requests that were refused, or too many passwords wait."
            }
        var fields: AgentEvent.Fields = [.error: "\(error)", .reason: "\(reason.rawValue)"]
        if let client { fields[.client] = "\(client)" }
        logger.log(port == .http ? .httpRefused : .controlRefused, fields)
    }

    package func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        let logger = process.environment.logger
        var fields: AgentEvent.Fields = [.port: "\(port.rawValue)"]
        switch news {
        case .loaded(let expiry): show(expiry, at: port)
        case .reloaded(let expiry):
            show(expiry, at: port)
            logger.log(.webConfigReloaded, fields)
        case .refused(let error):
            process.environment.metrics.webReloadSuccessful[port].set(0)
            process.lifecycle.noteWebConfiguration(of: port, isRefused: true)
            fields[.error] = "\(error)"
            logger.log(.webConfigRefused, fields)
        case .clearText: logger.log(.httpClearText, fields)
        }
    }

    private func show(_ expiry: Timestamp?, at port: ServedPort) {
        let metrics = process.environment.metrics
        metrics.webReloadSuccessful[port].set(1)
        process.lifecycle.noteWebConfiguration(of: port, isRefused: false)
        metrics.problems.certificates.show(expiry, of: .port(port.rawValue))
    }
}

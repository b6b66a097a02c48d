import Logging
import StarwatchCore
import StarwatchTelemetry

/// Shows what happens at the agent's ports in metrics and in the log.
struct PortMonitor: Sendable {
    let lifecycle: AgentLifecycle
    let environment: Environment

    private var metrics: AgentMetrics { environment.metrics }
    private var logger: Logger { environment.logger }

    /// Counts and logs a request that a server refused.
    func noteRefusal(_ reason: ControlRefusal, at port: ServedPort, of client: String?) {
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

    /// Shows the news of a port's web configuration.
    func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        var fields: AgentEvent.Fields = [.port: "\(port.rawValue)"]
        switch news {
        case .loaded(let certificate): show(certificate, at: port)
        case .reloaded(let certificate):
            show(certificate, at: port)
            logger.log(.webConfigReloaded, fields)
        case .refused(let error):
            metrics.web.reloadSuccessful[port].set(0)
            lifecycle.noteWebConfiguration(of: port, isRefused: true)
            fields[.error] = "\(error)"
            logger.log(.webConfigRefused, fields)
        case .clearText: logger.log(.httpClearText, fields)
        }
    }

    private func show(_ certificate: CertificateNews, at port: ServedPort) {
        metrics.web.reloadSuccessful[port].set(1)
        lifecycle.noteWebConfiguration(of: port, isRefused: false)
        metrics.problems.certificates.show(certificate.expiry, of: .port(port.rawValue))
    }
}

import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Makes the sinks of the configuration.
package struct SinkFactory {
    let delivery: DeliveryOptions
    /// Whether each account can bring what a sink leaves out.
    let takesAddresses: Bool
    let http: any HTTPTransport
    let certificates: CertificateMetrics?
    let secrets: SecretFiles
    /// Stores a notification in an account's feed.
    let feed: @Sendable (_ notification: OutgoingNotification, _ account: DID?, _ keep: Int) async -> SinkResult
    let time: any TimeSource
    let logger: Logger
    /// The number of log lines that no reader took so far.
    let droppedLines: @Sendable () -> UInt64

    /// Makes the sinks in the order of the configuration.
    func sinks() throws(AgentError) -> [any NotificationSink] {
        var sinks: [any NotificationSink] = []
        for sink in delivery.sinks {
            let setting = "delivery.sinks.\(sink.name)"
            if let key = sink.kind.unknownKey {
                throw AgentError(.configuration, "\(setting) has no setting \(key); leave it out.")
            }
            if let part = sink.partsOfAccounts.needed.first, !takesAddresses {
                let missing = sink.kind.type.settings.first { $0.part == part }?.key ?? part.rawValue
                throw AgentError(.configuration, "\(setting) needs its \(missing); add it.")
            }
            try check(sink.hours, in: sink.timezone, setting)
            if let kind = sink.configured { sinks.append(try kind.make(sink, by: self)) }
        }
        return sinks
    }

    private func check(_ hours: SinkHours?, in timezone: String?, _ setting: String) throws(AgentError) {
        guard let hours else { return }
        do throws(ZoneSettingError) { _ = try LocalZone.zone(named: timezone) } catch {
            throw AgentError(.configuration, "\(setting).timezone \(error)")
        }
        if case .deliverAt(let times) = hours, times.isEmpty {
            throw AgentError(.configuration, "\(setting).deliver_at must name at least one time of the day.")
        }
    }

    /// The secret in the file of a setting; `nil` without one.
    ///
    /// - Parameter problem: Returns what is wrong with the content, after the setting's name.
    func file(
        _ key: String,
        of sink: SinkOptions,
        problem: ([UInt8]) -> String? = { _ in nil }
    ) throws(AgentError) -> SecretFile? {
        guard let path = sink[key]?.text, case .secretFile(let content)? = sink.kind.type.setting(key)?.form else {
            return nil
        }
        let setting = "delivery.sinks.\(sink.name).\(key)"
        return try secrets.file(path, setting, holding: content) { bytes throws(AgentError) in
            if let problem = problem(bytes) { throw AgentError(.configuration, "\(setting) \(problem)") }
        }
    }

    /// The client of a sink that sends requests. It notes when the sink's certificate expires, unless the receivers are those of
    /// accounts, each with its own.
    func client(of sink: SinkOptions) throws(AgentError) -> any HTTPTransport {
        var client = http
        if let trust = try sink.trust(secrets) {
            // One with its own trust anchors, and one for mails, ends with the sink.
            do throws(APIFailure) { client = try HTTPClient(options: trust, time: time) } catch {
                throw AgentError(.configuration, error.reason)
            }
        }
        if sink.isOfAccounts { return client }
        return WatchedTransport(client) { [certificates, owner = CertificateOwner.sink(sink.name)] expiry in
            certificates?.show(expiry, of: owner)
        }
    }
}

import Foundation
import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Makes the configured digests and callbacks.
struct DigestFactory {
    static let mostDigests = 16

    let options: AgentOptions
    /// The names of all sinks.
    let sinks: Set<String>
    let fetchers: [any ContentFetcher]
    let http: any HTTPTransport
    let secrets: SecretFiles

    /// Makes the digests in the order of the configuration.
    func digests() throws(AgentError) -> [Digest] {
        guard Set(fetchers.map(\.name)).count == fetchers.count else {
            throw AgentError(.configuration, "Two of the program's fetchers have the same name; give each its own.")
        }
        guard options.digests.count <= Self.mostDigests else {
            throw AgentError(.configuration, "digests must be at most \(Self.mostDigests).")
        }
        var names = Set(options.polls.map(\.name))
        var digests: [Digest] = []
        for digest in options.digests {
            guard names.insert(PollName(digest.name)).inserted else {
                throw AgentError(
                    .configuration,
                    "digests.\(digest.name) has the name of another digest or of a poll; choose one of its own."
                )
            }
            digests.append(try self.digest(digest, "digests.\(digest.name)"))
        }
        return digests
    }

    /// - Parameter path: The digest's section of the configuration, for errors.
    private func digest(_ digest: DigestOptions, _ path: String) throws(AgentError) -> Digest {
        guard !digest.times.isEmpty, Set(digest.times).count == digest.times.count else {
            throw AgentError(.configuration, "\(path).times must name at least one time of the day, and each once.")
        }
        guard Set(digest.sinks ?? []).isSubset(of: sinks), digest.sinks?.isEmpty != true else {
            throw AgentError(.configuration, "\(path).sinks must name sinks of delivery.sinks.")
        }
        let zone: @Sendable () -> any TimeZoneRules
        do throws(ZoneSettingError) { zone = try LocalZone.zone(named: digest.timezone) } catch {
            throw AgentError(.configuration, "\(path).timezone \(error)")
        }
        switch digest.content {
        case .request(let fetch):
            return Digest(digest, token: try token(of: fetch, "\(path).fetch"), zone: zone)
        case .fetcher(let name):
            guard let fetcher = fetchers.first(where: { $0.name == name }) else {
                throw AgentError(.configuration, "\(path) names a fetcher that the program does not have.")
            }
            return Digest(digest, token: nil, fetcher: fetcher, zone: zone)
        case .poll(let name):
            guard options.polls.contains(where: { $0.name == name }) else {
                throw AgentError(.configuration, "\(path).poll must name one of polls.")
            }
            return Digest(digest, token: nil, zone: zone)
        }
    }

    /// Receivers of events. Those with the same request share one receiver.
    func callbacks() throws(AgentError) -> [CallbackReceiver] {
        let callbacks = options.callbacks
        let all: [(Set<CallbackKind>, FetchOptions?, String)] = [
            ([.delivery], callbacks.ackDelivery, "ack_delivery"), ([.error], callbacks.reportError, "report_error"),
            ([.heartbeat, .configUpdated], callbacks.heartbeat, "heartbeat"),
        ]
        var receivers: [CallbackReceiver] = []
        for (kinds, fetch, name) in all {
            guard let fetch else { continue }
            receivers.append(
                CallbackReceiver(
                    kinds: kinds,
                    options: fetch,
                    token: try token(of: fetch, "callbacks.\(name)"),
                    http: http
                )
            )
        }
        guard !receivers.isEmpty else { return [] }
        do throws(ZoneError) { _ = try LocalZone.ofMachine.find() } catch {
            throw AgentError(.configuration, "callbacks contain this machine's time zone, which \(error)")
        }
        return receivers
    }

    private func token(of fetch: FetchOptions, _ section: String) throws(AgentError) -> SecretFile? {
        guard let path = fetch.tokenFile else { return nil }
        return try secrets.file(path, "\(section).token_file", holding: .token)
    }
}

extension DigestFactory {
    /// The digest configuration in the form that the database stores and callbacks receive: JSON without texts, headers, bodies
    /// and files, and without the part of a URL after the host.
    static func json(_ digests: [DigestOptions]) -> String {
        let entries = digests.map { digest in
            let fetch = digest.content.fetch
            let fields: [String: JSONTree?] = [
                "name": .text(digest.name.rawValue), "times": .list(digest.times.map { .text($0.description) }),
                "timezone": digest.timezone.map { .text($0) },
                "host": fetch.flatMap { URLComponents(string: $0.url)?.host }.map { .text($0) },
                "method": fetch.map { .text($0.method.rawValue) },
                "fetcher": digest.content.fetcherName.map { .text($0) },
                "poll": digest.content.pollName.map { .text($0.rawValue) },
                "window_seconds": .decimal(digest.window.inSeconds), "lead_seconds": .decimal(digest.lead.inSeconds),
                "ttl_seconds": .decimal(digest.longestAge.inSeconds), "mode": .text(digest.mode.rawValue),
                "on_missing": .text(digest.onMissing.rawValue), "on_empty": .text(digest.onEmpty.rawValue),
                "sinks": digest.sinks.map { .list($0.map { .text($0) }) },
            ]
            return JSONTree.object(fields.compactMapValues(\.self))
        }
        return StableJSON.text(of: entries)
    }
}

import FoundationEssentials
package import StarwatchCore
package import StarwatchTransport

/// A sink of the configuration: what a kind does with its settings.
package protocol ConfiguredSink: SinkKind {
    static func make(_ sink: SinkOptions, by factory: SinkFactory) throws(AgentError) -> any NotificationSink

    /// Changes the options of the client for the kind's requests.
    static func adapt(_ client: inout HTTPClientOptions)

    /// The URL that answers if the destination is there; `nil` if nothing is asked.
    static func address(of sink: SinkOptions) throws(SinkFailure) -> String?

    /// Tries to reach the destination, within a limit.
    static func reach(_ sink: SinkOptions, within limit: Duration) async -> Reach
}

extension ConfiguredSink {
    package static func adapt(_ client: inout HTTPClientOptions) {}

    package static func address(of sink: SinkOptions) throws(SinkFailure) -> String? { nil }

    package static func reach(_ sink: SinkOptions, within limit: Duration) async -> Reach {
        if let failure = Reach.problem(of: sink) { return .failed(failure) }
        do throws(SinkFailure) {
            guard let url = try address(of: sink) else { return .ready }
            let http = try Reach.client(of: sink)
            defer { http.shutdown() }
            return await Reach.answer(of: url, by: http, within: limit)
        } catch { return .failed(error) }
    }

    package static func problem(of part: SinkAddress.Part, _ text: String, in sink: SinkOptions) -> String? {
        usualProblem(of: part, text)
    }

    /// The mistake of a part of the address at any kind; `nil` for none. No sentence repeats a value, which can be a secret.
    static func usualProblem(of part: SinkAddress.Part, _ text: String) -> String? {
        switch part {
        case .url where !text.isWord || !SinkAddress.isGood(url: text):
            """
            must be a URL that starts with https://, without user and password; http:// is allowed to this machine only.
            """
        case .room where !text.isWord || text.utf8.count > 255:
            "must be the id that the service shows, without spaces."
        case .to: MailAddress.problem(of: text)
        case .secret where !text.isWord: "must be the token that the service shows, without spaces."
        case .url, .room, .topic, .secret: nil
        }
    }
}

extension String {
    /// Whether there is no space and no control character.
    fileprivate var isWord: Bool {
        unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 && !$0.properties.isWhitespace }
    }
}

extension SinkOptions {
    /// The sink's part of a kind that ``SinkFactory.kinds`` has.
    var configured: (any ConfiguredSink.Type)? { kind.type as? any ConfiguredSink.Type }
}

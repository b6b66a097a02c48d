package import StarwatchCore

/// The declarations of a kind of sinks. `ConfiguredSink` adds what a kind does.
package protocol SinkKind: Sendable {
    typealias Mistake = (key: String?, message: String)

    /// Its name in the configuration file.
    static var kind: String { get }
    /// The settings that other kinds do not have in common, in the order of the reference.
    static var settings: [SinkSetting] { get }
    /// The examples of `config default`, each below a comment.
    static var examples: [(comment: String, sink: SinkOptions)] { get }
    /// The sinks that `init` can set up.
    static var setups: [SetupSink] { get }

    /// The default of a setting.
    static func standard(of key: String, in kind: SinkOptions.Kind) -> SinkValue?

    /// The parts of the address that accounts bring to a sink, if it needs one of them.
    static func partsOfAccounts(in sink: SinkOptions) -> (needed: [SinkAddress.Part], optional: [SinkAddress.Part])

    /// Returns what is wrong between the settings of a sink.
    ///
    /// - Parameters:
    ///   - has: Returns whether the file has a setting, also one whose own rule rejects it.
    ///   - isForMany: Whether each account can bring a part of the address.
    static func mistakes(in sink: SinkOptions, has: (String) -> Bool, isForMany: Bool) -> [Mistake]

    /// Returns what is wrong with a part of the address, from an account or the configuration, or `nil`.
    static func problem(of part: SinkAddress.Part, _ text: String, in sink: SinkOptions) -> String?
}

extension SinkKind {
    package static var settings: [SinkSetting] { [] }
    package static var examples: [(comment: String, sink: SinkOptions)] { [] }
    package static var setups: [SetupSink] { [] }

    package static func standard(of key: String, in kind: SinkOptions.Kind) -> SinkValue? { setting(key)?.standard }

    package static func partsOfAccounts(
        in sink: SinkOptions
    ) -> (needed: [SinkAddress.Part], optional: [SinkAddress.Part]) {
        let open = settings.filter { $0.part != nil && sink[$0.key] == nil }
        return (open.filter(\.isNeeded).compactMap(\.part), open.filter { !$0.isNeeded }.compactMap(\.part))
    }

    package static func mistakes(in sink: SinkOptions, has: (String) -> Bool, isForMany: Bool) -> [Mistake] { [] }

    package static func setting(_ key: String) -> SinkSetting? { settings.first { $0.key == key } }

    /// Whether the sink's own requests deliver a notification.
    package static var sendsRequests: Bool { setting("ca_file") != nil }
}

public import StarwatchCore

/// A receiver of notifications.
public struct SinkOptions: Sendable, Hashable {
    /// The kind of a sink, with its own settings. Each account of a fleet brings the parts of the address that
    /// are left out.
    public struct Kind: Sendable, Hashable {
        package let type: any SinkKind.Type
        /// The settings that differ from their defaults, by their keys in the configuration file.
        fileprivate var values: [String: SinkValue] = [:]

        package init(_ type: any SinkKind.Type, _ values: [String: SinkValue?] = [:]) {
            self.type = type
            for (key, value) in values { self[key] = value }
        }

        package subscript(key: String) -> SinkValue? {
            get { values[key] ?? type.standard(of: key, in: self) }
            set {
                let isLeftOut = newValue?.isEmpty == true || newValue == type.setting(key)?.standard
                values[key] = isLeftOut ? nil : newValue
            }
        }

        /// A setting that the kind does not have; `nil` if there is none.
        var unknownKey: String? { values.keys.sorted().first { type.setting($0) == nil } }

        /// The place of notifications, and the access to it.
        var place: [String: SinkValue] {
            values.filter { !["canary", "include_account", "body_file", "proxy", "proxy_login_file"].contains($0.key) }
        }

        public static func == (left: Kind, right: Kind) -> Bool {
            left.type == right.type && left.values == right.values
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(type))
            hasher.combine(values)
        }
    }

    /// The largest time limit of one attempt in a configuration.
    package static let longestTimeout = Duration.seconds(600)

    /// A unique name, `[a-z][a-z0-9_]{0,62}`, but not `server`. It becomes a label value.
    public var name: String
    /// The sink's kind.
    public var kind: Kind
    /// Whether changes wait for this sink. By default `true`. Changes that every required sink has accepted are
    /// delivered and acknowledged, whatever an optional sink does; it still gets every notification, at least once. At
    /// least one sink should be required: without one, the first sink that accepts a notification is enough.
    public var isRequired = true
    /// Time after which a notification is given up at this sink while it is down. The notification is then a dead letter
    /// of the sink. For a required sink its changes become dead letters, as after ``OutboxOptions/maxRetries``
    /// rejections: they are never acknowledged. `nil`, the default: a required sink is never given up, an optional one
    /// after 14 days.
    public var giveUpAfter: Duration?
    /// Hours in which the sink gets notifications of changes. In between they are held, and those of an account become one;
    /// quiet hours hold notices too. While a required sink holds changes, they are not acknowledged. `nil`, the default: at
    /// once.
    public var hours: SinkHours?
    /// The IANA time zone of ``hours``. `nil`, the default: this machine's.
    public var timezone: String?

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// A setting of the sink's kind, by its key in the configuration file, such as `ca_file`. `nil` for one that is left out
    /// and has no default. An agent with a key that the kind does not have does not start.
    public subscript(key: String) -> SinkValue? {
        get { kind[key] }
        set { kind[key] = newValue }
    }

    /// Whether each of many accounts brings a part of the address, because the configuration leaves it out.
    package var isOfAccounts: Bool { !partsOfAccounts.needed.isEmpty }

    /// The parts that each account brings: those that a request needs and the configuration leaves out, and those that an
    /// account can add to them. Nothing of a sink with a whole address.
    package var partsOfAccounts: (needed: [SinkAddress.Part], optional: [SinkAddress.Part]) {
        let parts = kind.type.partsOfAccounts(in: self)
        return parts.needed.isEmpty ? ([], []) : parts
    }

    /// The settings whose values have a use, with their keys.
    package func values(of use: SinkSetting.Use) -> [(key: String, value: SinkValue)] {
        kind.type.settings.filter { $0.form.use == use }.compactMap { setting in
            self[setting.key].map { (setting.key, $0) }
        }
    }
}

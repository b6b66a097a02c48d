public import StarwatchCore

/// A setting of a kind of sink, as the configuration file, its reference and the accounts of an agent know it.
package struct SinkSetting: Sendable {
    /// The form of a value. A closure returns what is wrong with a text, or `nil`.
    package enum Form: Sendable {
        case text(@Sendable (String) -> String?)
        /// Text in which nothing is replaced, such as a variable.
        case word(@Sendable (String) -> String?)
        case choice([String])
        case url, proxy
        /// A URL whose path and query can be a credential.
        case secretURL
        /// One to a hundred texts.
        case list(@Sendable (String) -> String?)
        case number(ClosedRange<Int>), time(ClosedRange<Duration>), flag
        /// A program with its arguments.
        case program
        case file, secretFile(SecretContent)
        /// A file that the agent makes.
        case newFile
        /// The file of a ``BodyTemplate``.
        case body

        /// The meaning of the value for others than the sink.
        package var use: Use {
            switch self {
            case .secretFile, .body: .secret
            case .newFile: .output
            case .program: .program
            default: .other
            }
        }
    }

    package enum Use: Sendable { case secret, output, program, other }

    package let key: String
    package let form: Form
    /// The text in the reference.
    package let text: String
    package var standard: SinkValue?
    /// Whether a sink cannot do without it.
    package var isNeeded = false
    /// The part of the address that each of many accounts can bring in its place.
    package var part: SinkAddress.Part?
    /// The text that `config print` shows in place of a value.
    package var shown: String?

    package init(
        _ key: String,
        _ form: Form,
        _ text: String = "",
        standard: SinkValue? = nil,
        isNeeded: Bool = false,
        part: SinkAddress.Part? = nil,
        shown: String? = nil
    ) {
        (self.key, self.form, self.text, self.standard) = (key, form, text, standard)
        (self.isNeeded, self.part, self.shown) = (isNeeded, part, shown)
    }

    /// The mark of a sink that a program reads.
    static let canary = SinkSetting("canary", .flag, "true: gets the synthetic changes of canary", standard: false)

    static let timeout = SinkSetting(
        "timeout",
        .time(Duration.milliseconds(100)...SinkOptions.longestTimeout),
        standard: .time(.seconds(10))
    )

    /// The settings of every sink that sends requests.
    static let connection = [
        SinkSetting("proxy", .proxy, "as server.proxy"),
        SinkSetting("proxy_login_file", .secretFile(.login), "as server.proxy_login_file"),
        SinkSetting("ca_file", .file, "additional trust anchors, PEM"),
    ]
}

/// The value of a sink's setting.
public enum SinkValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    /// A text or a path.
    case text(String)
    case list([String])
    case number(Int)
    case flag(Bool)
    case time(Duration)
    /// A template of a body, and the file that it is from, for display. A command that needs no secret does not read it.
    case body(BodyTemplate?, file: String?)

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .flag(value) }

    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var list: [String]? { if case .list(let list) = self { list } else { nil } }
    package var number: Int? { if case .number(let number) = self { number } else { nil } }
    package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    package var time: Duration? { if case .time(let time) = self { time } else { nil } }
    package var body: BodyTemplate? { if case .body(let body, _) = self { body } else { nil } }
    /// The path of a text or a template.
    package var path: String? { if case .body(_, let file) = self { file } else { text } }

    var isEmpty: Bool { self == .text("") || self == .list([]) }
}

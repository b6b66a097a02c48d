/// The sink of a new configuration, written as `KIND` or `KIND:TARGET`.
package struct SetupSink: Sendable, Hashable {
    /// A part of the target.
    package struct Part: Sendable, Hashable {
        /// The settings that get it.
        package let keys: [String]
        package let form, subject: String
        package let question: String?
        package let isSecret: Bool

        /// - Parameters:
        ///   - form: The word for it in the form of the sink.
        ///   - subject: The beginning of a sentence about a wrong one.
        ///   - asks: The question for it, if the sink is only named.
        ///   - isSecret: Whether it is in a file of its own and in no command.
        package init(_ keys: String..., form: String, _ subject: String, asks: String? = nil, isSecret: Bool = false) {
            (self.keys, self.form, self.subject, question, self.isSecret) = (keys, form, subject, asks, isSecret)
        }
    }

    /// A secret beside the target: the setting that names its file, and the name of the copy beside the configuration.
    package struct Secret: Sendable, Hashable {
        package let setting: String
        package let name: String
        /// Whether the sink cannot do without it.
        package var isNeeded = false
        /// The setting that then gets the mailbox of the last part.
        package var user: String?
    }

    /// The name of the sink: its kind, or the service of a chat.
    package let name: String
    /// The kind, with the settings of the name.
    package let kind: SinkOptions.Kind
    /// The place among those that `init` lists.
    package let rank: Int
    package let parts: [Part]
    package let secret: Secret?
    /// The operator's ``parts``.
    package var target: [String] = []

    package init(_ name: String, _ kind: SinkOptions.Kind, rank: Int, _ parts: [Part] = [], secret: Secret? = nil) {
        (self.name, self.kind, self.rank, self.parts, self.secret) = (name, kind, rank, parts, secret)
    }
}

package import StarwatchCore

/// The result of reading a port's web configuration, with the expiry of its certificate, `nil` without TLS.
package enum WebConfigurationNews: Sendable, Hashable {
    /// It is in force from the start of the server.
    case loaded(certificateExpiry: Timestamp?)
    /// It changed and is in force.
    case reloaded(certificateExpiry: Timestamp?)
    /// It changed and cannot be used, so the former one stays. The text is a sentence.
    case refused(String)
    /// A secret passes over the network in clear text.
    case clearText
}

package import StarwatchCore

/// The result of reading a port's web configuration.
package enum WebConfigurationNews: Sendable, Hashable {
    /// It is in force from the start of the server.
    case loaded(CertificateNews)
    /// It changed and is in force.
    case reloaded(CertificateNews)
    /// It changed and cannot be used, so the former one stays. The text is a sentence.
    case refused(String)
    /// A secret passes over the network in clear text.
    case clearText
}

/// A port's certificate.
package struct CertificateNews: Sendable, Hashable {
    /// The end of its validity; `nil` without TLS.
    package var expiry: Timestamp?

    package init(expiry: Timestamp?) { self.expiry = expiry }
}

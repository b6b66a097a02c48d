public import Starwatch

/// The TLS, the users and the headers of a port, as a web configuration file of the Prometheus exporters gives them.
public struct WebConfiguration: Sendable, Hashable {
    /// The TLS of the port. `nil`, the default, serves clear text.
    public var tls: TLS?
    /// Further headers of every answer, by name.
    public var headers: [String: String] = [:]
    /// The bcrypt hashes of the users' passwords, by user name. By default none, which asks nobody for a password.
    public var users: [String: String] = [:]

    public init() {}

    /// The settings of a TLS server.
    public struct TLS: Sendable, Hashable {
        /// A PEM file with the certificate and then its chain.
        public var certificateFile = ""
        /// A PEM file with the private key. Only root and the running user can have access to it.
        public var keyFile = ""
        /// A PEM file with the certificates that sign those of clients.
        public var clientCAFile: String?
        public var clientCertificates = ClientCertificates.none
        /// The names that a verified client certificate must have one of. Empty accepts every verified certificate.
        public var allowedClientNames: [String] = []
        public var minimumVersion = Version.tls12
        public var maximumVersion = Version.tls13
        /// The cipher suites of TLS 1.2. Empty means all of ``CipherSuite`` for it. TLS 1.3 always has all of its own.
        public var cipherSuites: [CipherSuite] = []
        /// The key exchange groups. Empty means BoringSSL's.
        public var curves: [Curve] = []

        public init() {}
    }
}

extension WebConfiguration {
    /// The certificates that a port wants from clients. The raw values are those of the file.
    public enum ClientCertificates: String, Sendable, CaseIterable {
        case none = "NoClientCert"
        /// Asks for one, and accepts a client without one or with any.
        case request = "RequestClientCert"
        /// Requires one, and accepts any.
        case requireAny = "RequireAnyClientCert"
        /// Accepts a client without one.
        case verifyIfGiven = "VerifyClientCertIfGiven"
        case requireAndVerify = "RequireAndVerifyClientCert"

        /// Whether only certificates of the client CA are accepted.
        public var verifies: Bool { self == .verifyIfGiven || self == .requireAndVerify }
    }

    /// The versions of TLS that the agent offers.
    public enum Version: String, Sendable, CaseIterable, Comparable {
        case tls12 = "TLS12"
        case tls13 = "TLS13"

        public static func < (a: Version, b: Version) -> Bool { a.rawValue < b.rawValue }
    }

    /// The accepted cipher suites: those with forward secrecy and authenticated encryption.
    public enum CipherSuite: String, Sendable, CaseIterable {
        case ecdsaAES128 = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        case rsaAES128 = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
        case ecdsaAES256 = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
        case rsaAES256 = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
        case ecdsaChaCha = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
        case rsaChaCha = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
        case aes128 = "TLS_AES_128_GCM_SHA256"
        case aes256 = "TLS_AES_256_GCM_SHA384"
        case chaCha = "TLS_CHACHA20_POLY1305_SHA256"

        /// Whether it belongs to TLS 1.3, which always offers it.
        public var isOfTLS13: Bool { self == .aes128 || self == .aes256 || self == .chaCha }
    }

    /// The key exchange groups.
    public enum Curve: String, Sendable, CaseIterable {
        case p256 = "CurveP256"
        case p384 = "CurveP384"
        case p521 = "CurveP521"
        case x25519 = "X25519"
        case x25519MLKEM768 = "X25519MLKEM768"
    }

    /// A reader of web configuration files: returns the configuration of a path, or throws a sentence about the file.
    public typealias Source = @Sendable (_ path: String) throws(AgentError) -> WebConfiguration
}

extension WebConfiguration.TLS {
    /// The first problem between the settings, with the key that it belongs to; `nil` if there is none.
    package var problem: (key: String, message: String)? {
        if minimumVersion > maximumVersion {
            return ("max_version", "is below min_version; raise it, or leave it out.")
        }
        if clientCAFile != nil, !clientCertificates.verifies {
            let words = "VerifyClientCertIfGiven or RequireAndVerifyClientCert"
            return ("client_ca_file", "is not used with this client_auth_type; set that to \(words).")
        }
        if clientCAFile == nil, clientCertificates.verifies {
            return ("client_auth_type", "\(clientCertificates.rawValue) needs client_ca_file; add it.")
        }
        if !allowedClientNames.isEmpty, !clientCertificates.verifies {
            return (
                "client_allowed_sans",
                "needs verified certificates; set client_auth_type to RequireAndVerifyClientCert."
            )
        }
        if minimumVersion == .tls12, !cipherSuites.isEmpty, cipherSuites.allSatisfy(\.isOfTLS13) {
            return ("cipher_suites", "names no suite of TLS 1.2; add one, or set min_version to TLS13.")
        }
        return nil
    }
}

extension WebConfiguration {
    /// The problem of a configuration for a port; `nil` if the port can have it.
    ///
    /// A request has one `Authorization` header, so a port has either a token or users.
    ///
    /// - Parameter hasToken: Whether the port has a token; `nil` for a port that needs none.
    package func problem(hasToken: Bool?) -> String? {
        switch hasToken {
        case true? where !users.isEmpty:
            "has basic_auth_users beside control.token_file; remove one of them."
        case false? where users.isEmpty:
            "has no basic_auth_users, and there is no control.token_file; add one of them."
        default: nil
        }
    }

    /// The files that decide about the port, besides the configuration itself.
    package var files: [String] {
        guard let tls else { return [] }
        return [tls.certificateFile, tls.keyFile] + (tls.clientCAFile.map { [$0] } ?? [])
    }
}

import Glibc
import NIOCore
import NIOSSL
import Starwatch
import StarwatchCore
import StarwatchTransport

/// The certificate, the key and the rules of a TLS server, ready for connections.
final class TLSMaterial: Sendable {
    private let context: NIOSSLContext
    private let clientCertificates: WebConfiguration.ClientCertificates
    private let allowedClients: ClientNames?
    /// The time when the certificate expires.
    let expiry: Timestamp

    /// Reads the files.
    ///
    /// - Parameter credentialsDirectory: `$CREDENTIALS_DIRECTORY`, whose files have the access list of systemd.
    /// - Throws: ``AgentError`` with a sentence about the first file that is not usable.
    init(_ tls: WebConfiguration.TLS, credentialsDirectory: String?) throws(AgentError) {
        let chain = try Self.certificates(tls.certificateFile, "cert_file")
        let key = try Self.key(tls.keyFile, credentialsDirectory)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = tls.minimumVersion.version
        configuration.maximumTLSVersion = tls.maximumVersion.version
        let suites = tls.cipherSuites.isEmpty ? WebConfiguration.CipherSuite.allCases : tls.cipherSuites
        let older = suites.filter { !$0.isOfTLS13 }.map(\.cipher)
        if !older.isEmpty { configuration.cipherSuiteValues = older }
        if !tls.curves.isEmpty { configuration.curves = tls.curves.map(\.curve) }
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .seconds(1)
        configuration.trustRoots = .certificates(
            try tls.clientCAFile.map { path throws(AgentError) in
                try Self.certificates(path, "client_ca_file")
            } ?? []
        )
        switch tls.clientCertificates {
        case .none: configuration.certificateVerification = .none
        case .request, .verifyIfGiven: configuration.certificateVerification = .optionalVerification
        case .requireAny, .requireAndVerify: configuration.certificateVerification = .noHostnameVerification
        }
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw AgentError(.configuration, "The key of key_file does not belong to the certificate of cert_file.")
        }
        clientCertificates = tls.clientCertificates
        allowedClients = tls.allowedClientNames.isEmpty ? nil : ClientNames(tls.allowedClientNames)
        expiry = Timestamp(milliseconds: Int64(chain.map(\.notValidAfter).min() ?? 0) * 1000)
    }

    /// A handler that encrypts a connection.
    func handler() -> NIOSSLServerHandler {
        switch clientCertificates {
        case .none: return NIOSSLServerHandler(context: context)
        case .request, .requireAny:
            return NIOSSLServerHandler(context: context) { _, promise in promise.succeed(.certificateVerified) }
        case .verifyIfGiven, .requireAndVerify:
            guard let allowedClients else { return NIOSSLServerHandler(context: context) }
            return ._makeSSLServerHandler(context: context) { certificate, channel in
                allowedClients.allow(certificate)
                    ? channel.eventLoop.makeSucceededVoidFuture()
                    : channel.eventLoop.makeFailedFuture(NIOSSLError.unableToValidateCertificate)
            }
        }
    }

    // MARK: - Files

    /// The largest accepted file. A chain of certificates has some kilobytes.
    private static let maximumBytes = 1_048_576

    private static func certificates(_ path: String, _ key: String) throws(AgentError) -> [NIOSSLCertificate] {
        if let problem = FileAccess(path: path)?.fileProblem(for: geteuid()) {
            let reason =
                problem == .owner
                ? "belongs to another user; run chown on it" : "can be changed by other users; run chmod go-w on it"
            throw AgentError(.configuration, "The file of \(key) \(reason).")
        }
        guard let bytes = FileBytes.read(path, limit: maximumBytes) else {
            throw AgentError(
                .configuration,
                "The file of \(key) cannot be read; correct the path, its owner or its mode."
            )
        }
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw AgentError(
                .configuration,
                "The file of \(key) has no certificates; it must be PEM, with BEGIN CERTIFICATE."
            )
        }
        return certificates
    }

    private static func key(_ path: String, _ credentialsDirectory: String?) throws(AgentError) -> NIOSSLPrivateKey {
        let file = SecretFile(
            path: path,
            setting: "key_file",
            holding: .text,
            credentialsDirectory: credentialsDirectory
        )
        let bytes = try file.bytes()
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw AgentError(
                .configuration,
                "The file of key_file is no PEM key without a password; write one without."
            )
        }
        return key
    }
}

/// The names that client certificates must have one of.
struct ClientNames: Sendable {
    private let texts: Set<String>
    private let addresses: Set<[UInt8]>

    init(_ names: [String]) {
        texts = Set(names)
        addresses = Set(names.compactMap(Self.address))
    }

    /// Returns whether one of the certificate's alternative names is among the names.
    func allow(_ certificate: NIOSSLCertificate) -> Bool {
        certificate._subjectAlternativeNames().contains { name in
            let bytes = Array(name.contents)
            return switch name.nameType {
            case .ipAddress: addresses.contains(bytes)
            case .dnsName, .email, .uri: texts.contains(String(decoding: bytes, as: UTF8.self))
            default: false
            }
        }
    }

    private static func address(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }
}

extension WebConfiguration.Version {
    fileprivate var version: TLSVersion {
        switch self {
        case .tls12: .tlsv12
        case .tls13: .tlsv13
        }
    }
}

extension WebConfiguration.CipherSuite {
    fileprivate var cipher: NIOTLSCipher {
        switch self {
        case .ecdsaAES128: .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        case .rsaAES128: .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        case .ecdsaAES256: .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        case .rsaAES256: .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
        case .ecdsaChaCha: .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        case .rsaChaCha: .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
        case .aes128: .TLS_AES_128_GCM_SHA256
        case .aes256: .TLS_AES_256_GCM_SHA384
        case .chaCha: .TLS_CHACHA20_POLY1305_SHA256
        }
    }
}

extension WebConfiguration.Curve {
    fileprivate var curve: NIOTLSCurve {
        switch self {
        case .p256: .secp256r1
        case .p384: .secp384r1
        case .p521: .secp521r1
        case .x25519: .x25519
        case .x25519MLKEM768: .x25519_MLKEM768
        }
    }
}

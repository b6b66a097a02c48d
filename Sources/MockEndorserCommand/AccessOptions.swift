import ArgumentParser
import Foundation
import MockEndorser

/// The options for tokens, secrets and rate limits.
struct AccessOptions: ParsableArguments {
    /// The values of `--auth`.
    enum AuthKind: String, ExpressibleByArgument, CaseIterable {
        case none
        case sharedSecret = "shared_secret"
        case didKey = "did_key"
    }

    @Option(help: "Required tokens: none, shared_secret or did_key.")
    var auth = AuthKind.none

    @Option(help: "File with the shared secret.")
    var secretFile: String?

    @Option(help: "File with the webhook receiver's secret; without it signatures are not verified.")
    var hookSecretFile: String?

    @Option(
        help:
            "Requests per minute and DID, in the canonical dialect; 0 removes this limit and that of acknowledgements."
    )
    var rateLimit = 100

    func validate() throws {
        guard rateLimit >= 0 else { throw ValidationError("--rate-limit must be 0 or more.") }
        if auth == .sharedSecret, secretFile == nil {
            throw ValidationError("--auth shared_secret needs --secret-file.")
        }
    }

    /// - Throws: `ValidationError` for an invalid webhook secret, or Foundation's error if a file cannot be read.
    func apply(to options: inout MockServerOptions) throws {
        options.requestsPerMinute = rateLimit == 0 ? nil : rateLimit
        if rateLimit == 0 { options.acknowledgementsPerMinute = nil }
        switch auth {
        case .none: options.auth = .none
        case .didKey: options.auth = .didKey
        case .sharedSecret:
            let file = try Data(contentsOf: URL(fileURLWithPath: secretFile ?? ""))
            options.auth = .sharedSecret(Array(file.last == UInt8(ascii: "\n") ? file.dropLast() : file))
        }
        if let hookSecretFile {
            let file = try Data(contentsOf: URL(fileURLWithPath: hookSecretFile))
            guard let key = HookSecret.key(in: file) else {
                throw ValidationError("--hook-secret-file: the text after whsec_ must be base64.")
            }
            options.hookSecret = key
        }
    }
}

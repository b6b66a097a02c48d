import ArgumentParser
import Foundation
import MockEndorser

/// Runs a mock Endorser server until SIGTERM or SIGINT.
@main
struct MockEndorserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock-endorser",
        abstract: "Plays an Endorser server on 127.0.0.1, for tests and demos.",
        discussion: """
            Prints its URL when it listens. POST /mock/publish, /mock/fault, /mock/skew and /mock/clear-faults steer \
            it; GET /mock/state, /mock/plans and /mock/hook tell what it holds; POST /hook receives webhooks.
            """
    )

    @Option(help: "The port; 0 takes a free one.")
    var port = 0

    @Option(help: "Which server to play: endorser or canonical.")
    var dialect = DialectName.endorser

    @Option(help: "The number of plans in the catalogue.")
    var plans = 20

    @Option(help: "The number of changes published at the start.")
    var changes = 0

    @Option(help: "Over how long before the start these changes are spread, such as 24h.")
    var changesOver = DurationArgument(value: .zero)

    @Option(help: "Publish more changes at this interval, such as 2s or 500ms.")
    var changesEvery: DurationArgument?

    @Option(help: "How many changes come at each interval.")
    var burst = 1

    @Option(help: "Which tokens to want: none, shared_secret or did_key.")
    var auth = AuthKind.none

    @Option(help: "The file with the shared secret.")
    var secretFile: String?

    @Option(help: "The file with the secret of the webhook receiver; without it signatures are not verified.")
    var hookSecretFile: String?

    @Option(parsing: .unconditional, help: "How far the mock's clock is ahead, such as 90s or -5m.")
    var clockSkew = DurationArgument(value: .zero)

    @Option(help: "How long every answer takes.")
    var latency = DurationArgument(value: .zero)

    @Option(help: "The share of requests that get a random fault of any kind, such as 0.01.")
    var faultRate = 0.0

    @Option(help: "The seed of the random faults.")
    var faultSeed: UInt64 = 1

    @Option(
        help: "Requests a minute for each DID, in the canonical dialect; 0 is no limit, nor one of acknowledged ids."
    )
    var rateLimit = 100

    @Option(help: "The DID that owns every second plan and receives the offers.")
    var owner: String?

    @Option(help: "The generator's seed.")
    var seed: UInt64 = 1

    @Option(help: "A file to write the URL to, as a whole, once the server listens.")
    var readyFile: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
        guard plans >= 0, changes >= 0, burst >= 1, rateLimit >= 0 else {
            throw ValidationError("--plans, --changes and --rate-limit take 0 or more, --burst 1 or more.")
        }
        if auth == .sharedSecret, secretFile == nil {
            throw ValidationError("--auth shared_secret needs --secret-file.")
        }
        guard (0...1).contains(faultRate) else { throw ValidationError("--fault-rate takes 0 to 1.") }
        if let interval = changesEvery?.value, interval <= .zero {
            throw ValidationError("--changes-every takes more than 0.")
        }
    }

    func run() async throws {
        let server = MockServer(options: try options())
        let signals = StopSignals()
        try await server.start()
        print(server.url)
        fflush(nil)
        if let readyFile {
            try Data("\(server.url)\n".utf8).write(to: URL(fileURLWithPath: readyFile), options: .atomic)
        }
        let interval = changesEvery?.value
        let burst = self.burst
        await withTaskGroup(of: Void.self) { group in
            if let interval {
                group.addTask {
                    while (try? await Task.sleep(for: interval)) != nil { server.publish(count: burst) }
                }
            }
            await signals.first()
            group.cancelAll()
        }
        try await server.stop()
    }

    private func options() throws -> MockServerOptions {
        var options = MockServerOptions()
        options.port = port
        options.dialect = dialect == .canonical ? .canonical : .endorser
        options.planCount = plans
        options.initialChanges = changes
        options.initialChangesOver = changesOver.value
        options.seed = seed
        options.latency = latency.value
        options.clockSkew = clockSkew.value
        options.faultRate = faultRate
        options.faultSeed = faultSeed
        options.requestsPerMinute = rateLimit == 0 ? nil : rateLimit
        if rateLimit == 0 { options.acknowledgementsPerMinute = nil }
        options.ownerDID = owner
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
                throw ValidationError("--hook-secret-file: write base64 after whsec_.")
            }
            options.hookSecret = key
        }
        return options
    }
}

/// The kinds of `--auth`.
enum AuthKind: String, ExpressibleByArgument, CaseIterable {
    case none
    case sharedSecret = "shared_secret"
    case didKey = "did_key"
}

/// The values of `--dialect`.
enum DialectName: String, ExpressibleByArgument, CaseIterable {
    case endorser
    case canonical
}

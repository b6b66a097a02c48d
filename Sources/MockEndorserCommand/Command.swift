import ArgumentParser
import Dispatch
import Foundation
import MockEndorser

/// Runs a mock Endorser server until SIGTERM or SIGINT.
@main
struct MockEndorserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock-endorser",
        abstract: "Runs a mock Endorser server on 127.0.0.1, for tests and demos.",
        discussion: """
            Prints its URL once it listens. POST /mock/publish, /mock/fault, /mock/skew and /mock/clear-faults control \
            it; POST and DELETE /mock/list?path=PATH change a list; GET /mock/state, /mock/plans and /mock/hook show \
            its state; POST /hook receives webhooks.
            """
    )

    @Option(help: "The port; 0 selects a free one.")
    var port = 0

    @Option(help: "The server to imitate: endorser or canonical.")
    var dialect = DialectName.endorser

    @OptionGroup var content: ContentOptions
    @OptionGroup var access: AccessOptions

    @Option(parsing: .unconditional, help: "How far the mock's clock is ahead, such as 90s or -5m.")
    var clockSkew = DurationArgument(value: .zero)

    @Option(help: "Delay of every response.")
    var latency = DurationArgument(value: .zero)

    @Option(help: "Share of requests with a random fault of any kind, such as 0.01.")
    var faultRate = 0.0

    @Option(help: "The seed of the random faults.")
    var faultSeed: UInt64 = 1

    @Option(help: "File to write the URL to, atomically, once the server listens.")
    var readyFile: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
        guard (0...1).contains(faultRate) else { throw ValidationError("--fault-rate must be 0 to 1.") }
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
        let interval = content.changesEvery?.value
        let burst = content.burst
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
        try content.apply(to: &options)
        try access.apply(to: &options)
        options.latency = latency.value
        options.clockSkew = clockSkew.value
        options.randomFaults.rate = faultRate
        options.randomFaults.seed = faultSeed
        return options
    }
}

/// The values of `--dialect`.
enum DialectName: String, ExpressibleByArgument, CaseIterable {
    case endorser
    case canonical
}

/// Waits for SIGTERM or SIGINT. After its creation these signals no longer end the process.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Void>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.activate()
            return source
        }
    }

    /// Returns when the first signal arrives.
    func first() async {
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}

import ArgumentParser
import Foundation
import StarwatchCore

@testable import StarwatchPolling
@testable import StarwatchTransport

/// Requests of one client, all waiting for a slow server.
struct Requests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "CPU time of a request, by the number of requests in flight."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "How many requests are in flight.") var inFlight = 1000
    @Option(help: "Milliseconds over which the first ones are spread: the server's response time.") var spread = 1000
    @Option(help: "How many requests a round.") var count = 5000
    @Option(help: "How many rounds.") var rounds = 5

    func run() async throws {
        var options = HTTPClientOptions()
        options.maxInFlight = inFlight
        let client = try HTTPClient(options: options, time: SystemClock())
        defer { client.shutdown() }
        let request = HTTPRequest(url: server + "/", timeout: .seconds(60))
        // The first round opens the connections.
        for round in 0...rounds {
            let (cpu, wall) = (Usage.cpuSeconds, ContinuousClock.now)
            try await withThrowingTaskGroup { group in
                for index in 0..<inFlight {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(spread * index / inFlight))
                        for _ in 0..<count / inFlight {
                            guard await client.exchange(request).status == 404 else {
                                throw ValidationError("a request failed")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            guard round > 0 else { continue }
            let requests = Double(count / inFlight * inFlight)
            let elapsed = (ContinuousClock.now - wall) / .seconds(1)
            print(
                String(
                    format: "%d in flight: %.1f µs of CPU a request, %.0f a second, %.1f MiB",
                    inFlight,
                    (Usage.cpuSeconds - cpu) / requests * 1e6,
                    requests / elapsed,
                    Usage.residentMiB
                )
            )
        }
    }
}

import ProgramTestKit
import Starwatch
import StarwatchStore
// Nearly every file of this target uses it.
@_exported import StarwatchTestKit
import StarwatchTransport

extension StoreFault {
    /// Dependencies of an agent whose store fails.
    var dependencies: AgentDependencies {
        var dependencies = AgentDependencies()
        dependencies.store = { options in options.interrupt = self.interrupt }
        return dependencies
    }
}

extension AgentDependencies {
    /// The same with a store whose accesses may take long, as on a busy machine.
    var patient: Self {
        var dependencies = self
        dependencies.store = { [store] options in
            options.patience = longestWait
            store(&options)
        }
        return dependencies
    }
}

/// A transport whose answers may come late, as on a busy machine.
struct PatientTransport: HTTPTransport {
    let transport: any HTTPTransport

    var executor: (any TaskExecutor)? { transport.executor }

    func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        var request = request
        request.timeout = longestWait
        return await transport.exchange(request)
    }

    func shutdown() { transport.shutdown() }
}

extension AgentOptions {
    /// Gives the polls tokens, which polls of offers need. The mock does not check them by default.
    mutating func useTokens(in folder: TestFolder) {
        auth.kind = .tokenPool
        let tokens = (0..<200).map { "token\($0).of.tests" }
        auth.tokensFile = try? folder.write(tokens.joined(separator: "\n"), to: "tokens")
    }
}

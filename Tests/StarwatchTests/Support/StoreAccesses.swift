import Starwatch
import StarwatchStore
import Synchronization

/// Notes the accesses to a database.
final class StoreAccesses: Sendable {
    private let noted = Mutex<[StoreOperation]>([])

    var all: [StoreOperation] { noted.withLock { $0 } }
    func clear() { noted.withLock { $0 = [] } }

    var dependencies: AgentDependencies {
        var dependencies = AgentDependencies()
        dependencies.store = { options in
            options.interrupt = { (operation, moment) throws(StoreError) in
                // Logs go their own way.
                if moment == .ended, operation != .log { self.noted.withLock { $0.append(operation) } }
            }
        }
        return dependencies
    }
}

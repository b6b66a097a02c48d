import StarwatchCore
import Synchronization

/// The accounts at work, each with one `Runtime`, so that a visit and an operator's command never work side by side.
final class ResidentAccounts<Runtime: Sendable>: Sendable {
    private let make: @Sendable (DID) -> Runtime
    private let residents = Mutex<[DID: (runtime: Runtime, users: Int)]>([:])
    /// Called when an account has no more work.
    private let left: @Sendable (DID, Runtime) async -> Void

    init(
        make: @escaping @Sendable (DID) -> Runtime,
        left: @escaping @Sendable (DID, Runtime) async -> Void
    ) {
        (self.make, self.left) = (make, left)
    }

    /// Does `work` with the account's runtime, which is made if the account rests.
    func with<Answer, Failure: Error>(
        _ account: DID,
        _ work: (Runtime) async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let runtime = enter(account)
        do throws(Failure) {
            let answer = try await work(runtime)
            await leave(account)
            return answer
        } catch {
            await leave(account)
            throw error
        }
    }

    /// The runtime of an account at work; `nil` if the account rests.
    func runtime(of account: DID) -> Runtime? { residents.withLock { $0[account]?.runtime } }

    /// The runtimes in the same order in every process, so that a simulated run can be replayed.
    var runtimes: [Runtime] {
        residents.withLock(\.self).sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value.runtime)
    }

    private func enter(_ account: DID) -> Runtime {
        residents.withLock { residents in
            if let resident = residents[account] {
                residents[account]?.users += 1
                return resident.runtime
            }
            let runtime = make(account)
            residents[account] = (runtime, users: 1)
            return runtime
        }
    }

    private func leave(_ account: DID) async {
        let last = residents.withLock { residents -> Runtime? in
            guard let resident = residents[account] else { return nil }
            guard resident.users > 1 else { return residents.removeValue(forKey: account)?.runtime }
            residents[account]?.users -= 1
            return nil
        }
        if let last { await left(account, last) }
    }
}

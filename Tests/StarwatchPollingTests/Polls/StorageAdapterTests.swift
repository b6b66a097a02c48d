import StarwatchStore
import StarwatchTestKit
import Testing

@testable import StarwatchPolling

/// Contract of all storage adapters.
@Suite struct StorageAdapterTests {
    private let folder: TestFolder
    private let store: Store
    private let adapters: [any StorageAdapter]

    init() throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
        adapters = [InMemoryStorage(), SQLiteStorage(store: store, time: ManualClock())]
    }

    @Test func aWatermarkBeginsOnceAndRisesOnly() async throws {
        for storage in adapters {
            #expect(try await storage.watermark(of: "a") == nil)
            #expect(try await !storage.advance("a", from: "1", to: "2"))
            #expect(try await storage.advance("a", from: nil, to: "2"))
            #expect(try await !storage.advance("a", from: nil, to: "3"))
            #expect(try await !storage.advance("a", from: "2", to: "2"))
            #expect(try await !storage.advance("a", from: "2", to: "1"))
            #expect(try await storage.advance("a", from: "2", to: "3"))
            #expect(try await storage.watermark(of: "a") == "3")
            #expect(try await storage.watermark(of: "b") == nil)
        }
    }

    @Test func textComparesByteByByte() async throws {
        for storage in adapters {
            #expect(try await storage.advance("a", from: nil, to: "Z"))
            #expect(try await storage.advance("a", from: "Z", to: "a"))
            #expect(try await storage.advance("a", from: "a", to: "é"))
            #expect(try await !storage.advance("a", from: "é", to: "z"))
        }
    }

    @Test func theSecondAdvanceFromTheSameValueLoses() async throws {
        for storage in adapters {
            #expect(try await storage.advance("a", from: nil, to: "0"))
            let won = await withTaskGroup(of: Bool.self) { group in
                for number in 1...20 {
                    group.addTask { (try? await storage.advance("a", from: "0", to: "\(number)")) ?? false }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(won == 1)
        }
    }

    @Test func databaseFailuresThrowPollError() async throws {
        await store.close()
        await #expect(throws: PollError.self) { try await adapters[1].watermark(of: "a") }
        await #expect(throws: PollError.self) { try await adapters[1].advance("a", from: nil, to: "1") }
    }
}

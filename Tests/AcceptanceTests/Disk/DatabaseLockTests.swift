import Foundation
import MockEndorser
import Testing

/// A database that another program has locked.
@Suite(.timeLimit(.minutes(5))) struct DatabaseLockTests {
    @Test func doctorNamesTheProgramThatHoldsALockAndDoesNotWaitForIt() async throws {
        let world = try await AgentWorld { $0.planCount = 3 }
        let agent = try await world.start()
        let isStored = try await eventually { () -> Bool? in
            try await starwatch("logs", "--config", world.config).output.contains("poll.") ? true : nil
        }
        #expect(isStored == true)
        let free = try await starwatch("doctor", "--config", world.config)
        #expect(!free.output.contains("holds a lock"), "\(free.output)")
        let lock = try DatabaseLock(world.database)
        // The lock outlasts any wait: whoever waits for its end is killed, which is another status.
        let doctor = try await starwatch("doctor", "--config", world.config, isPatient: false)
        #expect(doctor.status == 1)
        let finding = /problem +database +Another program holds a lock on the database: [^\n]*pid (\d+)\. End/
        #expect(doctor.output.firstMatch(of: finding)?.1 == "\(getpid())", "\(doctor.output)")
        #expect(!doctor.output.contains("run starwatch doctor"), "\(doctor.output)")
        try lock.release()
        await agent.stop()
        try await world.mock.stop()
    }
}

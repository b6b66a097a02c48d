import GRDB
import StarwatchCore
import Testing

@testable import StarwatchSimulation

/// Simulations find planted defects.
@Suite struct DefectTests {
    /// Returns `true` if one of the seeds breaks `guarantee`.
    private func breaks(
        _ guarantee: Guarantee,
        _ defect: Defect = .none,
        seeds: [UInt64] = Array(0..<200),
        accounts: Int = 0,
        stores: Int = 1,
        tamper: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Bool {
        for seed in seeds {
            var plan = SimulationPlan(seed: seed)
            plan.defect = defect
            plan.cycles = 80
            plan.accounts = accounts
            plan.stores = stores
            let result = try await Simulation.run(plan, tamper: tamper)
            if result.violations.contains(where: { $0.guarantee == guarantee }) { return true }
        }
        return false
    }

    /// Returns `true` if one of the seeds breaks `guarantee` when `sql` changes the database while no agent runs.
    private func breaks(
        _ guarantee: Guarantee,
        byHand sql: String,
        seeds: [UInt64] = Array(0..<200)
    ) async throws -> Bool {
        try await breaks(guarantee, seeds: seeds) { path in
            // A failed change is ignored: some runs damage the database first.
            try? DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
        }
    }

    @Test(arguments: [
        (Defect.loseItems, Guarantee.nothingLost),
        (.renameNotifications, .nothingTwice),
        (.hideRetryAfter, .retryAfter),
        (.tripleLimit, .requestLimit),
        (.cutNotifications, .nothingInvented),
    ])
    func aPlantedDefectIsFound(defect: Defect, guarantee: Guarantee) async throws {
        #expect(try await breaks(guarantee, defect))
    }

    @Test(arguments: [
        ("UPDATE ledger SET new = new + 1", Guarantee.ledgerBalances),
        (
            // The ledger is corrected, so that its own check does not fail first. Deleted rows would be fetched again.
            """
            CREATE TEMP VIEW gone AS SELECT stream_id, count(*) AS n FROM notification_outbox
                WHERE state = 'pending' GROUP BY stream_id;
            UPDATE ledger SET suppressed = suppressed + n FROM gone WHERE gone.stream_id = ledger.stream_id;
            UPDATE notification_outbox SET state = 'suppressed', finished_at = created_at WHERE state = 'pending';
            DROP VIEW gone
            """, .nothingLost
        ),
        ("UPDATE watermarks SET watermark = NULL", .watermarkRises),
        (
            """
            UPDATE notification_outbox SET state = 'delivered', delivered_at = created_at, notification_id = NULL
            WHERE state = 'pending'
            """, .nothingInvented
        ),
    ])
    func aHandInTheDatabaseIsFound(sql: String, guarantee: Guarantee) async throws {
        #expect(try await breaks(guarantee, byHand: sql))
    }

    @Test(arguments: [
        (
            """
            CREATE TRIGGER IF NOT EXISTS rewritten AFTER UPDATE ON deliveries BEGIN
                UPDATE notifications SET payload = CAST(payload || ' ' AS BLOB) WHERE id = NEW.notification_id;
            END
            """, Guarantee.sameContent
        ),
        (
            """
            CREATE TRIGGER IF NOT EXISTS unsent AFTER INSERT ON notification_outbox WHEN NEW.state = 'pending' BEGIN
                UPDATE notification_outbox SET state = 'delivered', delivered_at = NEW.created_at WHERE id = NEW.id;
            END
            """, .acknowledgedAfterDelivery
        ),
        (
            """
            CREATE TRIGGER IF NOT EXISTS forged AFTER INSERT ON notification_outbox WHEN NEW.state = 'pending' BEGIN
                UPDATE watermarks SET watermark = NEW.jwt_id
                WHERE (account, server, poll) = (SELECT account, server, poll FROM streams WHERE id = NEW.stream_id)
                    AND watermark < NEW.jwt_id;
            END
            """, .watermarkTruthful
        ),
        (
            // The body contains the time. The first statement changes batches that a crash interrupted.
            """
            UPDATE ack_batches SET created_at = created_at + 1000;
            CREATE TRIGGER IF NOT EXISTS redated AFTER UPDATE OF attempts ON ack_batches BEGIN
                UPDATE ack_batches SET created_at = created_at + 1000 WHERE id = NEW.id;
            END
            """, .idempotency
        ),
    ])
    func aTriggerInTheDatabaseIsFound(sql: String, guarantee: Guarantee) async throws {
        // Runs with crashes, and with acknowledgements whose response is lost.
        let kinds: Set<FaultKind> = [.crash, .partialAcknowledgement, .sinkAnswerLost]
        let seeds = (0..<3000 as Range<UInt64>).filter { seed in
            let settings = Settings(seed: seed)
            return settings.dialect == .canonical && !settings.acknowledgesLocally && settings.intensity >= 1
                && settings.kinds.isSuperset(of: kinds)
        }
        #expect(try await breaks(guarantee, byHand: sql, seeds: seeds))
    }

    @Test func anAgentThatWorksForAnAccountThatWasTakenOverIsFound() async throws {
        #expect(try await breaks(.fenced, .hideTakeover, accounts: 3))
    }

    @Test(arguments: [(Defect.dropFence, Guarantee.fenced), (.ignoreLease, .leaseKept)])
    func aProcessThatWorksOnAfterATakeoverIsFound(defect: Defect, guarantee: Guarantee) async throws {
        // Without stops no lease ends while its visit goes on.
        let seeds = (0..<200 as Range<UInt64>).filter { seed in
            let settings = Settings(seed: seed, accounts: 3, stores: 2)
            return settings.kinds.contains(.processStop) && settings.intensity >= 1
        }
        #expect(try await breaks(guarantee, defect, seeds: seeds, accounts: 3, stores: 2))
    }

    /// The agent would ask for what is new by a clock that is no longer ahead, and miss changes below its cursor.
    @Test func aClockThatIsToldTooLateIsFound() async throws {
        let seeds = seeds { $0.kinds.contains(.serverClock) && $0.intensity >= 1 && $0.interval <= .seconds(5) }
        #expect(try await breaks(.nothingLost, .keepLead, seeds: seeds))
    }

    @Test func anItemThatLeavesTheQuarantineIsFound() async throws {
        let seeds = seeds { $0.kinds.isSuperset(of: [.invalidItem, .crash]) && $0.intensity >= 1 }
        #expect(try await breaks(.nothingLost, byHand: "DELETE FROM quarantine", seeds: seeds))
    }

    @Test func aValidItemInQuarantineIsFound() async throws {
        let sql = """
            INSERT OR IGNORE INTO quarantine (stream_id, fingerprint, jwt_id, kind, issues, page, run_id, created_at, seen_at)
            SELECT stream_id, id, jwt_id, 'schema', '[]', 1, run_id, created_at, created_at FROM notification_outbox
            """
        #expect(try await breaks(.quarantineTruthful, byHand: sql))
    }

    @Test func aCursorBelowTheQuarantineIsFound() async throws {
        let seeds = seeds {
            $0.kinds.isSuperset(of: [.invalidItem, .crash]) && $0.intensity >= 1 && $0.interval == .seconds(30)
        }
        let sql = """
            CREATE TRIGGER IF NOT EXISTS held BEFORE UPDATE OF fetch_cursor ON streams WHEN NEW.fetch_cursor >=
                (SELECT min(jwt_id) FROM quarantine) BEGIN SELECT RAISE(IGNORE); END
            """
        #expect(try await breaks(.cursorPasses, byHand: sql, seeds: seeds))
    }

    @Test func anUndamagedRowThatIsSetAsideIsFound() async throws {
        let seeds = seeds { $0.isEncrypted }
        let sql = "UPDATE notification_outbox SET plan_id = 'x' WHERE state = 'pending'"
        #expect(try await breaks(.damageContained, byHand: sql, seeds: seeds))
    }

    @Test func anOptionalSinkWithoutAChangeIsFound() async throws {
        let seeds = seeds { $0.optionalSinks.contains(1) && $0.giveUpAfter == nil }
        let sql = """
            CREATE TRIGGER IF NOT EXISTS unsent AFTER INSERT ON deliveries WHEN NEW.sink = 'sink_1' BEGIN
                UPDATE deliveries SET state = 'ok' WHERE notification_id = NEW.notification_id AND sink = 'sink_1';
            END
            """
        #expect(try await breaks(.namedToAll, byHand: sql, seeds: seeds))
    }

    /// Returns the seeds whose settings meet a condition.
    private func seeds(where isWanted: (Settings) -> Bool) -> [UInt64] {
        (0..<3000 as Range<UInt64>).filter { isWanted(Settings(seed: $0)) }
    }

    @Test func anAgentThatCannotStartIsFound() async throws {
        #expect(try await breaks(.lives, byHand: "PRAGMA user_version = 99"))
    }

    @Test func whatNeverSettlesIsFound() async throws {
        // Settling takes simulated hours, and frequent polls would take long.
        let seeds = (0..<400 as Range<UInt64>).filter { Settings(seed: $0).interval == .seconds(30) }
        let sql = "CREATE TRIGGER IF NOT EXISTS held BEFORE UPDATE ON watermarks BEGIN SELECT RAISE(IGNORE); END"
        #expect(try await breaks(.settles, byHand: sql, seeds: seeds))
    }
}

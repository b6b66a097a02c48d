import StarwatchCore

/// The rows that one access reads and writes, by topic.
extension Session {
    var accounts: AccountRows { AccountRows(db: self) }
    var acknowledgements: AcknowledgementRows { AcknowledgementRows(db: self) }
    var dataKeys: DataKeyRows { DataKeyRows(db: self) }
    var deliveries: DeliveryRows { DeliveryRows(db: self) }
    var digests: DigestRows { DigestRows(db: self) }
    var formerStates: FormerStates { FormerStates(db: self) }
    var identity: IdentityRows { IdentityRows(db: self) }
    var ledger: LedgerRows { LedgerRows(db: self) }
    var moves: MoveRows { MoveRows(db: self) }
    var notifications: NotificationRows { NotificationRows(db: self) }
    var outbox: OutboxRows { OutboxRows(db: self) }
    var stars: StarRows { StarRows(db: self) }
    var streams: StreamRows { StreamRows(db: self) }

}

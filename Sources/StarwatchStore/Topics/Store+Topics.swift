/// The topics of a store. Each method of a topic is one transaction unless it says otherwise. It throws
/// ``StoreError``, and a call that throws has changed nothing.
extension Store {
    package nonisolated var accounts: StoreAccounts { StoreAccounts(store: self) }
    package nonisolated var acknowledgements: StoreAcknowledgements { StoreAcknowledgements(store: self) }
    package nonisolated var deliveries: StoreDeliveries { StoreDeliveries(store: self) }
    package nonisolated var digests: StoreDigests { StoreDigests(store: self) }
    package nonisolated var events: StoreEvents { StoreEvents(store: self) }
    package nonisolated var feed: StoreFeed { StoreFeed(store: self) }
    package nonisolated var host: StoreHost { StoreHost(store: self) }
    package nonisolated var identity: StoreIdentity { StoreIdentity(store: self) }
    package nonisolated var journal: StoreJournal { StoreJournal(store: self) }
    package nonisolated var keys: StoreKeys { StoreKeys(store: self) }
    package nonisolated var logs: StoreLogs { StoreLogs(store: self) }
    package nonisolated var moves: StoreMoves { StoreMoves(store: self) }
    package nonisolated var notifications: StoreNotifications { StoreNotifications(store: self) }
    package nonisolated var outbox: StoreOutbox { StoreOutbox(store: self) }
    package nonisolated var polls: StorePolls { StorePolls(store: self) }
    package nonisolated var quarantine: StoreQuarantine { StoreQuarantine(store: self) }
    package nonisolated var retention: StoreRetention { StoreRetention(store: self) }
    package nonisolated var servers: StoreServers { StoreServers(store: self) }
    package nonisolated var stars: StoreStars { StoreStars(store: self) }
    package nonisolated var status: StoreStatus { StoreStatus(store: self) }
    package nonisolated var stories: StoreStories { StoreStories(store: self) }
}

import FoundationEssentials

extension NotificationMessage {
    /// JSON with sorted keys, so that every attempt sends the same bytes.
    public func json() -> [UInt8] { StableJSON.bytes(of: self) }

    /// Decodes the output of ``json()``, also of an older version; `nil` for other bytes.
    public init?(json: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = message
    }
}

/// Starred plans that fit into one request, with their JSON.
public struct PlanChunk: Sendable, Hashable {
    public let count: Int
    /// The JSON array of the plan identifiers.
    let json: [UInt8]

    /// Splits `planIDs` into requests within the dialect's limits on count and body size.
    ///
    /// Keeps the order. An identifier that is too long for any request gets a chunk of its own; the server rejects it.
    public static func split(_ planIDs: [String], dialect: Dialect) -> [PlanChunk] {
        // Leaves room for the keys, two cursors and the limit.
        let bound = dialect.maxBodyBytes - 256
        var chunks: [PlanChunk] = []
        var json: [UInt8] = [UInt8(ascii: "[")]
        var count = 0
        func close() {
            guard count > 0 else { return }
            json.append(UInt8(ascii: "]"))
            chunks.append(PlanChunk(count: count, json: json))
            json = [UInt8(ascii: "[")]
            count = 0
        }
        for id in planIDs {
            let encoded = StableJSON.bytes(of: id)
            if count == dialect.maxPlanIDs || (count > 0 && json.count + encoded.count + 2 > bound) { close() }
            if count > 0 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: encoded)
            count += 1
        }
        close()
        return chunks
    }
}

import FoundationEssentials
import StarwatchCore

extension Session {
    /// The fields that differed from the plan's snapshot when the row was stored, from their stored form.
    func changedFields(_ stored: String?, of stream: Int64, _ id: JWTID) throws -> [String: FieldChange]? {
        guard let text = try opened(stored, .outboxChanges, row: Self.outboxRow(stream, id)) else { return nil }
        guard let fields = try? JSONDecoder().decode([String: FieldChange].self, from: Data(text.utf8)) else {
            throw StoreError.damaged
        }
        return fields
    }
}

import Foundation
import StarwatchCore

/// JSON for people and programs: indented, keys in order.
enum JSONText {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.stable(isPretty: true).encode(value), as: UTF8.self)
    }
}

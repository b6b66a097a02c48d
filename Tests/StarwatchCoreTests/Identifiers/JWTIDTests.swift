import Foundation
import StarwatchCore
import Testing

@Suite struct JWTIDTests {
    @Test(arguments: [
        ("1704067200_abc123_def45678", IDKind.timestamped), ("0000000000_000000_00000000", .timestamped),
        ("9999999999_ZZzz99_ffffffff", .timestamped), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", .ulid),
        ("00000000000000000000000000", .ulid),
    ])
    func bothKindsAreRecognised(text: String, kind: IDKind) throws {
        let id = try #require(JWTID(text))
        #expect(id.kind == kind)
        #expect(id.rawValue == text)
    }

    @Test(arguments: [
        "", "0", "1704067200_abc123_DEF45678", "1704067200_abc12-_def45678", "170406720a_abc123_def45678",
        "1704067200_abc123_def4567", "1704067200_abc123_def456789", "1704067200-abc123-def45678",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL", "01ARZ3NDEKTSV4RRFFQ69G5FAO",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FA",
        " 01ARZ3NDEKTSV4RRFFQ69G5FA",
        "1704067200_abc123_def4567\u{e9}",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(JWTID(text) == nil)
    }

    @Test func differentKindsHaveNoOrder() throws {
        let stamped = try #require(JWTID("1704067200_abc123_def45678"))
        let ulid = try #require(JWTID("01ARZ3NDEKTSV4RRFFQ69G5FAV"))
        #expect(stamped.precedes(ulid) == nil)
        #expect(ulid.precedes(stamped) == nil)
        #expect(stamped.precedes(stamped) == false)
    }

    /// Byte order: in every locale upper-case letters sort before lower-case ones.
    @Test func identifiersAreOrderedByBytes() throws {
        var random = SplitMix64(seed: 10)
        let letters = Array("0123456789ABCXYZabcxyz")
        func id() throws -> JWTID {
            let middle = String((0..<6).map { _ in letters.randomElement(using: &random)! })
            return try #require(JWTID("1704067200_\(middle)_00000000"))
        }
        for _ in 0..<500 {
            let (a, b) = (try id(), try id())
            #expect(a.precedes(b) == a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8))
        }
    }

    @Test(arguments: IDKind.allCases)
    func theFloorIsTheSmallestIdentifierOfItsTime(kind: IDKind) throws {
        var random = SplitMix64(seed: 12)
        for _ in 0..<500 {
            let seconds = Int64.random(in: 0...9_999_999_998, using: &random)
            let floor = JWTID.floor(kind, at: Timestamp(seconds: seconds))
            #expect(floor.kind == kind)
            #expect(JWTID(floor.rawValue) == floor)
            #expect(floor.timestamp == Timestamp(seconds: seconds))
            let later = JWTID.floor(kind, at: Timestamp(seconds: seconds + 1))
            #expect(floor.precedes(later) == true)
            let real = try #require(
                JWTID(floor.rawValue.prefix(10) + (kind == .ulid ? "ZZZZZZZZZZZZZZZZ" : "_zzzzzz_ffffffff"))
            )
            #expect(floor.precedes(real) == true && real.precedes(later) == true)
        }
    }

    @Test func theFloorIsClamped() {
        #expect(JWTID.floor(.timestamped, at: Timestamp(seconds: -5)).rawValue == "0000000000_000000_00000000")
        #expect(
            JWTID.floor(.timestamped, at: Timestamp(seconds: 99_999_999_999)).rawValue == "9999999999_000000_00000000"
        )
        #expect(JWTID.floor(.ulid, at: Timestamp(milliseconds: -1)).rawValue == String(repeating: "0", count: 26))
        #expect(JWTID.floor(.ulid, at: Timestamp(milliseconds: .max)).rawValue == "7ZZZZZZZZZ0000000000000000")
    }

    @Test func theNextIdentifierFollowsTheLastOneAndTheTime() {
        let time = Timestamp(seconds: 1_767_225_600)
        let first = JWTID.next(after: nil, of: 33, at: time)
        #expect(first.rawValue == String(JWTID.floor(.ulid, at: time).rawValue.prefix(10)) + "0000001100000000")
        #expect(JWTID(first.rawValue) == first && first.timestamp == time)
        var last = first
        for _ in 0..<40 {
            let next = JWTID.next(after: last, of: 33, at: time)
            #expect(last.precedes(next) == true && next.timestamp == time)
            last = next
        }
        #expect(last.rawValue.suffix(16) == "0000001100000018")
        // The clock was set back.
        #expect(last.precedes(.next(after: last, of: 33, at: time - .seconds(86_400))) == true)
        #expect(JWTID.next(after: last, of: 33, at: time + .milliseconds(1)).rawValue.hasSuffix("0000001100000000"))
        // As after a move to a database that numbers the stream otherwise.
        #expect(last.precedes(.next(after: last, of: 1, at: time)) == true)
    }

    @Test func streamsNeverGetTheSameNextIdentifier() {
        let time = Timestamp(seconds: 1_767_225_600)
        var ids: Set<JWTID> = []
        for stream in [1, 2, 31, 32, 1 << 20, 1 << 39] as [Int64] {
            var last: JWTID?
            for step in 0..<50 {
                // The clock of every second one is behind.
                let id = JWTID.next(after: last, of: stream, at: time - .seconds(step % 2))
                ids.insert(id)
                last = id
            }
        }
        #expect(ids.count == 300)
    }

    @Test func theTimeOfAULIDIsItsFirst48Bits() throws {
        #expect(try #require(JWTID("01ARZ3NDEKTSV4RRFFQ69G5FAV")).timestamp.milliseconds == 1_469_922_850_259)
    }

    @Test func identifiersAreCodedAsText() throws {
        let id = try #require(JWTID("1704067200_abc123_def45678"))
        let data = try JSONEncoder().encode([id])
        #expect(String(decoding: data, as: UTF8.self) == #"["1704067200_abc123_def45678"]"#)
        #expect(try JSONDecoder().decode([JWTID].self, from: data) == [id])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([JWTID].self, from: Data(#"["x"]"#.utf8)) }
    }
}

import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct PageMemoryTests {
    private static let latest = ManualClock.start

    /// Which of these answers, one after the other, were decoded.
    private func decoded(_ answers: [(bytes: [UInt8], dialect: Dialect, latest: Timestamp)]) throws -> [Bool] {
        let memory = PageMemory()
        return try answers.map { answer in
            var isDecoded = false
            let page = try memory.page(of: answer.bytes, dialect: answer.dialect, latest: answer.latest) {
                () throws(PageRejection) in
                isDecoded = true
                return try Self.page(answer.bytes, answer.dialect)
            }
            #expect(try page == Self.page(answer.bytes, answer.dialect))
            return isDecoded
        }
    }

    private static func page(_ bytes: [UInt8], _ dialect: Dialect) throws(PageRejection) -> Page {
        try PageDecoder.decode(bytes, dialect: dialect, validation: .lenient, quarantine: false)
    }

    private let empty = Array(#"{"data":[],"hitLimit":false}"#.utf8)

    @Test func theSameAnswerIsReadOnce() throws {
        let answer = (empty, Dialect.endorser, Self.latest)
        #expect(try decoded([answer, answer, answer]) == [true, false, false])
    }

    @Test func anotherAnswerAnotherDialectAndAnEarlierTimeAreReadAgain() throws {
        let other = Array(#"{"data":[],"hitLimit":false} "#.utf8)
        let answers = [
            (empty, Dialect.endorser, Self.latest), (other, .endorser, Self.latest), (empty, .endorser, Self.latest),
            (empty, .canonical, Self.latest), (empty, .canonical, Self.latest - .seconds(1)),
            (empty, .canonical, Self.latest + .seconds(1)),
        ]
        #expect(try decoded(answers) == [true, true, true, true, true, false])
    }

    /// An item was refused because it is of a time to come, which comes.
    @Test func aPageWithARefusedItemIsReadAgain() throws {
        let ahead = JWTID.floor(.ulid, at: Self.latest + .seconds(60)).rawValue
        let bytes = Array(#"{"data":[{"plan":{"jwtId":"\#(ahead)","handleId":"p"}}],"hitLimit":false}"#.utf8)
        let memory = PageMemory()
        let counts = try [0, 120].map { seconds in
            let latest = Self.latest + .seconds(seconds)
            return try memory.page(of: bytes, dialect: .endorser, latest: latest) { () throws(PageRejection) in
                try PageDecoder.decode(
                    bytes,
                    dialect: .endorser,
                    validation: .lenient,
                    quarantine: true,
                    latest: latest
                )
            }.changes.count
        }
        #expect(counts == [0, 1])
    }

    @Test func aLongAnswerIsNotKept() throws {
        let long = (empty + Array(repeating: UInt8(ascii: " "), count: 65_536), Dialect.endorser, Self.latest)
        #expect(try decoded([long, long]) == [true, true])
    }
}

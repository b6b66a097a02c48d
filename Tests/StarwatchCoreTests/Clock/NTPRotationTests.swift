import StarwatchCore
import Testing

@Suite struct NTPRotationTests {
    @Test func theServerThatAnsweredComesFirst() {
        var rotation = NTPRotation(count: 3)
        rotation.note(.failed, of: 0)
        #expect(rotation.order == [0, 1, 2])
        rotation.note(.answered, of: 1)
        #expect(rotation.order == [1, 2, 0])
    }

    @Test func aServerThatRefusedIsNeverAskedAgain() {
        var rotation = NTPRotation(count: 2)
        rotation.note(.refused, of: 0)
        #expect(rotation.order == [1])
        rotation.note(.answered, of: 0)
        #expect(rotation.order == [1])
        #expect(rotation.outcome(of: [.refused, .failed]) == .failed)
        rotation.note(.refused, of: 1)
        #expect(rotation.outcome(of: [.refused]) == .refused)
    }

    @Test func anAnswerIsEnough() {
        let rotation = NTPRotation(count: 2)
        #expect(rotation.outcome(of: [.rateLimited, .answered]) == .answered)
        #expect(rotation.outcome(of: [.rateLimited, .failed]) == .rateLimited)
        #expect(rotation.outcome(of: [.failed, .failed]) == .failed)
    }
}

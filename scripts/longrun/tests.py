"""Tests of the run's plan and judgement: python3 -m unittest longrun.tests, in scripts/."""
import random
import unittest

from . import alarms, deliveries, plan, slopes
from .faults import KINDS

AGENTS = [{"steady": number < 2, "canonical": number % 2 == 1, "former": number > 1} for number in range(6)]


def window(kind, begin, end):
    return {"kind": kind, "long": True, "begin": begin, "end": end, "kill": False}


class PlanTests(unittest.TestCase):
    def test_the_seed_alone_decides(self):
        self.assertEqual(plan.make(3, 7200, AGENTS, True), plan.make(3, 7200, AGENTS, True))
        self.assertNotEqual(plan.make(3, 7200, AGENTS, True), plan.make(4, 7200, AGENTS, True))

    def test_two_hours_have_each_kind(self):
        for seed in range(20):
            steps = [step for steps in plan.make(seed, 7500, AGENTS, True) for step in steps]
            self.assertEqual({step["kind"] for step in steps}, set(KINDS), seed)
            missing = {name for name, kind in KINDS.items() if kind.minutes} - {step["kind"] for step in steps if step["long"]}
            self.assertLessEqual(len(missing), 4, (seed, missing))

    def test_an_agent_has_one_fault_at_a_time_and_ends_in_peace(self):
        for agent, steps in zip(AGENTS, plan.make(1, 43_200, AGENTS, True)):
            for step, following in zip(steps, steps[1:]):
                self.assertLess(step["at"] + step["for"], following["at"])
            self.assertLess(steps[-1]["at"] + steps[-1]["for"], 43_200 - 360)
            self.assertFalse(agent["steady"] and any(KINDS[step["kind"]].restarts for step in steps))


class DeliveryTests(unittest.TestCase):
    def test_a_missing_change_is_lost(self):
        self.assertEqual(deliveries.tally([("n1", ["a"], 1, True)], {"a", "b"})["lost"], ["b"])

    def test_a_change_in_two_notifications_is_twice(self):
        found = deliveries.tally([("n1", ["a"], 1, True), ("n2", ["a", "b"], 1, True)], {"a", "b"})
        self.assertEqual((found["twice"], found["again"]), (["a"], 0))

    def test_a_gap_before_one_change_of_each_plan_was_replaced(self):
        order = list(range(20))
        self.assertEqual(deliveries.superseded(order, {0, 1, 5, 6, 7, *range(8, 20)}, 3), {2, 3, 4})

    def test_a_gap_before_fewer_changes_is_lost(self):
        order = list(range(20))
        self.assertEqual(deliveries.superseded(order, {0, 1, 5, 6, *range(8, 20)}, 3), {7})
        self.assertEqual(deliveries.superseded(order, set(range(19)), 3), set())

    def test_a_repeated_notification_is_not_twice(self):
        found = deliveries.tally(deliveries.grouped([("n1", ["a"], "", "x"), ("n1", ["a"], "", "x")]), {"a"})
        self.assertEqual((found["twice"], found["again"], found["differ"]), ([], 1, 0))

    def test_a_repetition_with_another_content_differs(self):
        self.assertEqual(deliveries.tally(deliveries.grouped([("n1", ["a"], "", "x"), ("n1", ["a"], "", "y")]), {"a"})["differ"], 1)


class AlarmTests(unittest.TestCase):
    record = {"begun": 0, "starts": [0], "windows": [window("hook_refuses", 1000, 1600)]}

    def is_caused(self, alert, begin, end, sink="", gaps=()):
        found = list(alarms.causes(self.record, gaps, 10_000))
        return alarms.is_caused({"alert": alert, "sink": sink, "from": begin, "to": end}, found)

    def test_an_alert_needs_a_fitting_fault(self):
        self.assertTrue(self.is_caused("SinkCircuitOpen", 1400, 1700, "hook"))
        self.assertFalse(self.is_caused("SinkCircuitOpen", 1400, 1700, "file"))
        self.assertFalse(self.is_caused("StoreFull", 1400, 1700))

    def test_an_alert_begins_and_ends_with_its_fault(self):
        self.assertFalse(self.is_caused("SinkCircuitOpen", 990, 1700, "hook"))
        self.assertFalse(self.is_caused("SinkCircuitOpen", 1400, 2000, "hook"))

    def test_the_end_of_the_script_closes_the_gates(self):
        self.assertTrue(self.is_caused("ServerUnreachable", 5000, 5100, gaps=[(4000, 5000)]))
        self.assertFalse(self.is_caused("StoreFull", 5000, 5100, gaps=[(4000, 5000)]))

    def test_three_starts_within_half_an_hour_are_a_crash_loop(self):
        self.assertEqual(alarms.crash_loops([0, 100, 200, 300]), [(300, 1900)])
        self.assertEqual(alarms.crash_loops([0, 100, 200, 2000]), [])


class SlopeTests(unittest.TestCase):
    def points(self, slope, noise):
        generator = random.Random(1)
        return [(at, 50 + slope * at / 3600 + generator.gauss(0, noise)) for at in range(0, 14_400, 15)]

    def test_a_leak_is_found_over_restarts(self):
        lives = list(slopes.pieces([(at, value - 20 * (at > 7200)) for at, value in self.points(3, 0.5)], [0, 7200], 900))
        slope, error, hours = slopes.fit(lives)
        self.assertEqual(len(lives), 2)
        self.assertAlmostEqual(slope, 3, delta=3 * error)
        self.assertGreater(hours, 1.5)

    def test_noise_is_no_leak(self):
        slope, error, _ = slopes.fit(list(slopes.pieces(self.points(0, 0.5), [0], 900)))
        self.assertLess(abs(slope), 3 * error)


if __name__ == "__main__":
    unittest.main()

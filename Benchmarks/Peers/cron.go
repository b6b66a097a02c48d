// How long robfig/cron takes to find the next run after times of seven years.
//
//	cron      prints CPU ns for each expression in UTC and in New York
package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/robfig/cron"
)

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

func main() {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		panic(err)
	}
	for _, text := range []string{
		"* * * * *", "*/5 * * * *", "*/15 9-17 * * 1-5", "0 9 * * *", "30 2 * * *", "0 0 * * 0", "0 0 1 * *",
		"0 12 13 * 5", "59 23 31 12 *", "0 0 29 2 *",
	} {
		schedule, err := cron.ParseStandard(text)
		if err != nil {
			panic(err)
		}
		for _, zone := range []*time.Location{time.UTC, newYork} {
			start := cpuSeconds()
			for index := int64(0); index < 4096; index++ {
				schedule.Next(time.Unix(1_700_000_000+index*54_321, 0).In(zone))
			}
			fmt.Printf("%s, %s: %.0f\n", text, zone, (cpuSeconds()-start)/4096*1e9)
		}
	}
}

// How fast Go decodes a page into structures, without validating it.
//
//	page FILE COUNT      prints MB/s of CPU time
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

type plan struct {
	JwtID       string  `json:"jwtId"`
	HandleID    string  `json:"handleId"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	IssuerDID   string  `json:"issuerDid"`
	AgentDID    string  `json:"agentDid"`
	StartTime   string  `json:"startTime"`
	EndTime     string  `json:"endTime"`
	LocLat      float64 `json:"locLat"`
	LocLon      float64 `json:"locLon"`
	URL         string  `json:"url"`
	Version     string  `json:"version"`
}

type page struct {
	Data []struct {
		Plan          plan            `json:"planSummary"`
		PreviousClaim json.RawMessage `json:"previousClaim"`
	} `json:"data"`
	HitLimit bool `json:"hitLimit"`
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

func main() {
	bytes, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	count, _ := strconv.Atoi(os.Args[2])
	start := cpuSeconds()
	for index := 0; index < count; index++ {
		var read page
		if err := json.Unmarshal(bytes, &read); err != nil || len(read.Data) != 100 {
			panic("the page cannot be read")
		}
	}
	fmt.Printf("%.0f\n", float64(len(bytes)*count)/(cpuSeconds()-start)/1e6)
}

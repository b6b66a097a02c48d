// The same measurements with client_golang, and a client that times the pages of both.
//
//	client_golang count               a counter's increment, a histogram's observation
//	client_golang render SERIES       gathering and encoding a page of integer counters
//	client_golang serve URL           metrics as on the page at that URL, on a free port, whose URL it prints
//	client_golang fetch N URL...      median and 95th percentile of N answers of each, in turns of 50, so
//	                                  that what one does after its answer (collecting garbage, say) is not
//	                                  in the next one's time; with gzip if GZIP is set
package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

func measure(name string, count, rounds int, body func()) {
	body()
	var figures []float64
	for i := 0; i < rounds; i++ {
		start := time.Now()
		body()
		figures = append(figures, float64(time.Since(start).Nanoseconds())/float64(count))
	}
	sort.Float64s(figures)
	fmt.Printf("%-36smedian %9.1f ns, least %9.1f, most %9.1f\n",
		name, figures[rounds/2], figures[0], figures[rounds-1])
}

func registry(series int) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	for first := 0; first < series; first += 100 {
		family := prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "family_" + strconv.Itoa(first/100) + "_total",
			Help: "Reported by a dependency.",
		}, []string{"series"})
		registry.MustRegister(family)
		for index := first; index < first+100 && index < series; index++ {
			family.WithLabelValues("value_" + strconv.Itoa(index%100)).Add(float64(index * 1000))
		}
	}
	return registry
}

func count() {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "benchmark_total", Help: "Counts."})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "benchmark_seconds", Help: "Observes.", Buckets: prometheus.DefBuckets,
	})
	const n = 10_000_000
	measure("counter increment", n, 20, func() {
		for i := 0; i < n; i++ {
			counter.Inc()
		}
	})
	measure("histogram observation, 11 buckets", n, 20, func() {
		for i := 0; i < n; i++ {
			histogram.Observe(float64(i&1023) * 0.001)
		}
	})
}

func render(series int) {
	registry := registry(series)
	for _, format := range []expfmt.Format{expfmt.FmtText, expfmt.FmtOpenMetrics} {
		size := 0
		measure(fmt.Sprintf("%d series as %s", series, map[bool]string{true: "text", false: "openMetrics"}[format == expfmt.FmtText]), 1, 200, func() {
			families, err := registry.Gather()
			if err != nil {
				panic(err)
			}
			var page bytes.Buffer
			encoder := expfmt.NewEncoder(&page, format)
			for _, family := range families {
				if err := encoder.Encode(family); err != nil {
					panic(err)
				}
			}
			size = page.Len()
		})
		fmt.Printf("  %d bytes\n", size)
	}
}

func fetch(n int, urls []string) {
	figures := make([][]float64, len(urls))
	sizes := make([]int64, len(urls))
	encoding := "identity"
	if os.Getenv("GZIP") != "" {
		encoding = "gzip"
	}
	one := func(which int, url string) float64 {
		start := time.Now()
		request, _ := http.NewRequest("GET", url, nil)
		request.Header.Set("Accept", "text/plain;version=0.0.4")
		request.Header.Set("Accept-Encoding", encoding)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(err)
		}
		sizes[which], _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return float64(time.Since(start).Microseconds())
	}
	for first := 0; first < n; first += 50 {
		for which, url := range urls {
			for i := 0; i < 5; i++ {
				one(which, url)
			}
			for i := first; i < first+50 && i < n; i++ {
				figures[which] = append(figures[which], one(which, url))
			}
		}
	}
	for which, url := range urls {
		sort.Float64s(figures[which])
		fmt.Printf("%s: median %.0f µs, 95 of 100 below %.0f µs, %d bytes\n",
			url, figures[which][n/2], figures[which][n*95/100], sizes[which])
	}
}

// live makes a family as a program would have it, with the series and values of a parsed one.
func live(name string, family *dto.MetricFamily) prometheus.Collector {
	names := []string{}
	for _, label := range family.Metric[0].Label {
		names = append(names, label.GetName())
	}
	labels := func(metric *dto.Metric) prometheus.Labels {
		values := prometheus.Labels{}
		for _, label := range metric.Label {
			values[label.GetName()] = label.GetValue()
		}
		return values
	}
	switch family.GetType() {
	case dto.MetricType_COUNTER:
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: family.GetHelp()}, names)
		for _, metric := range family.Metric {
			vector.With(labels(metric)).Add(metric.Counter.GetValue())
		}
		return vector
	case dto.MetricType_HISTOGRAM:
		buckets := []float64{}
		for _, bucket := range family.Metric[0].Histogram.Bucket {
			if !math.IsInf(bucket.GetUpperBound(), 1) {
				buckets = append(buckets, bucket.GetUpperBound())
			}
		}
		vector := prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: name, Help: family.GetHelp(), Buckets: buckets}, names)
		for _, metric := range family.Metric {
			one := vector.With(labels(metric))
			counted := uint64(0)
			for _, bucket := range metric.Histogram.Bucket {
				for ; counted < bucket.GetCumulativeCount(); counted++ {
					one.Observe(bucket.GetUpperBound())
				}
			}
		}
		return vector
	default:
		vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: family.GetHelp()}, names)
		for _, metric := range family.Metric {
			vector.With(labels(metric)).Set(metric.GetGauge().GetValue())
		}
		return vector
	}
}

func main() {
	number := func(index int) int {
		value, err := strconv.Atoi(os.Args[index])
		if err != nil {
			panic(err)
		}
		return value
	}
	switch os.Args[1] {
	case "count":
		count()
	case "render":
		render(number(2))
	case "serve":
		answer, err := http.Get(os.Args[2])
		if err != nil {
			panic(err)
		}
		var parser expfmt.TextParser
		byName, err := parser.TextToMetricFamilies(answer.Body)
		if err != nil {
			panic(err)
		}
		registry := prometheus.NewRegistry()
		for name, family := range byName {
			registry.MustRegister(live(name, family))
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Printf("http://%s/metrics\n", listener.Addr())
		panic(http.Serve(listener, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	case "fetch":
		fetch(number(2), os.Args[3:])
	}
}

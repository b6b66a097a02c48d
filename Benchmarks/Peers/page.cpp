// How fast simdjson parses a page, without reading its values.
//
//	page FILE COUNT      prints MB/s of CPU time
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simdjson.h>

static double cpu_seconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    simdjson::padded_string page;
    if (simdjson::padded_string::load(argv[1]).get(page)) return 1;
    simdjson::dom::parser parser;
    long count = atol(argv[2]);
    double start = cpu_seconds();
    for (long index = 0; index < count; index++) {
        simdjson::dom::element element;
        if (parser.parse(page).get(element)) return 1;
    }
    printf("%.0f\n", page.size() * (double)count / (cpu_seconds() - start) / 1e6);
    return 0;
}

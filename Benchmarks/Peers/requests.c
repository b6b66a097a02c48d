// The CPU time of bare libcurl for one POST after another on one connection.
//
//	requests URL BODYFILE COUNT      prints CPU µs a request
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static size_t ignore(char *bytes, size_t size, size_t count, void *context) { return size * count; }

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    FILE *file = fopen(argv[2], "rb");
    if (!file) return 1;
    static char body[1 << 20];
    long size = (long)fread(body, 1, sizeof(body), file);
    long count = atol(argv[3]);
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, size);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    double start = 0;
    for (long index = -100; index < count; index++) {
        if (index == 0) start = cpu_seconds();
        long status = 0;
        if (curl_easy_perform(easy) != CURLE_OK) return 1;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200) {
            fprintf(stderr, "the server answered %ld\n", status);
            return 1;
        }
    }
    printf("%.2f\n", (cpu_seconds() - start) / count * 1e6);
    return 0;
}

// The CPU time of bare libcurl for requests that are all in flight, over epoll, by the number of its multi handles.
//
//	in_flight URL IN_FLIGHT COUNT HANDLES SECONDS      the first requests are spread over so many seconds
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

enum { most_handles = 1024, most_sockets = 1 << 17, batch = 64 };

static int epoll, handles;
static CURLM *multi[most_handles];
static double due[most_handles];  // 0: no timer
static int handle_of[most_sockets];
static unsigned wanted[most_sockets];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double cpu_seconds(struct rusage *usage) {
    getrusage(RUSAGE_SELF, usage);
    return usage->ru_utime.tv_sec + usage->ru_stime.tv_sec + (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) { return size * count; }

static void arm(int socket) {
    struct epoll_event event = {.events = wanted[socket] | EPOLLONESHOT, .data.fd = socket};
    if (wanted[socket] && epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event)) epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
    handle_of[socket] = (int)(long)context;
    wanted[socket] = what == CURL_POLL_REMOVE ? 0 : (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    arm(socket);
    return 0;
}

static int set_timer(CURLM *handle, long milliseconds, void *context) {
    due[(long)context] = milliseconds < 0 ? 0 : now() + milliseconds / 1e3;
    return 0;
}

static void add_handle(long index, long in_flight) {
    multi[index] = curl_multi_init();
    curl_multi_setopt(multi[index], CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi[index], CURLMOPT_SOCKETDATA, (void *)index);
    curl_multi_setopt(multi[index], CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi[index], CURLMOPT_TIMERDATA, (void *)index);
    curl_multi_setopt(multi[index], CURLMOPT_MAXCONNECTS, in_flight + 4);
}

static CURL *make_request(const char *url, long handle) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 60000L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *)handle);
    return easy;
}

// Starts each finished request again; returns their number, or -1 if one failed.
static long restart(long handle) {
    long finished = 0;
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi[handle], &left)); finished++) {
        CURL *easy = message->easy_handle;
        if (message->data.result != CURLE_OK) return -1;
        curl_multi_remove_handle(multi[handle], easy);
        curl_multi_add_handle(multi[handle], easy);
    }
    return finished;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    long in_flight = atol(argv[2]), count = atol(argv[3]);
    double spread = atof(argv[5]), began = now(), cpu = 0, since = 0;
    handles = atoi(argv[4]);
    curl_global_init(CURL_GLOBAL_ALL);
    epoll = epoll_create1(0);
    for (long index = 0; index < handles; index++) add_handle(index, in_flight);
    struct rusage usage;
    long started = 0, done = 0, warm = 2 * in_flight;
    while (done < warm + count) {
        for (; started < in_flight && now() - began >= spread * started / in_flight; started++) {
            curl_multi_add_handle(multi[started % handles], make_request(argv[1], started % handles));
        }
        double next = started < in_flight ? began + spread * started / in_flight : now() + 1;
        int running, changed = 0;
        for (long index = 0; index < handles; index++) {
            if (due[index] && due[index] <= now()) {
                due[index] = 0;
                curl_multi_socket_action(multi[index], CURL_SOCKET_TIMEOUT, 0, &running);
            }
            long finished = restart(index);
            if (finished < 0) return 1;
            if (done < warm && done + finished >= warm) {
                cpu = cpu_seconds(&usage);
                since = now();
            }
            done += finished;
            changed |= finished > 0;
            if (due[index] && due[index] < next) next = due[index];
        }
        struct epoll_event events[batch];
        double rest = next - now();
        int ready = epoll_wait(epoll, events, batch, changed || rest <= 0 ? 0 : (int)(rest * 1000) + 1);
        for (int index = 0; index < ready; index++) {
            int socket = events[index].data.fd;
            if (!wanted[socket]) continue;
            int what = (events[index].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0)
                | (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi[handle_of[socket]], socket, what, &running);
            arm(socket);
        }
    }
    printf("%ld in flight, %d handles: %.1f us of CPU a request, %.0f a second, ", in_flight, handles,
        (cpu_seconds(&usage) - cpu) / (done - warm) * 1e6, (done - warm) / (now() - since));
    printf("%.1f MiB\n", usage.ru_maxrss / 1024.0);
}

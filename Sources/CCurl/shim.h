#ifndef STARWATCH_CCURL_SHIM_H
#define STARWATCH_CCURL_SHIM_H

#include <curl/curl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, and Swift does not import variadic functions:
// each type of argument has a function here. CURLMsg contains a union, so it is unpacked here as well.

typedef size_t (*starwatch_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*starwatch_lookup_callback)(void *state, void *reserved, void *context);

static inline CURLcode starwatch_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

static inline CURLcode starwatch_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode starwatch_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the string. NULL resets the option.
static inline CURLcode starwatch_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl keeps the pointer.
static inline CURLcode starwatch_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl keeps the pointer: the list must outlive the transfer.
static inline CURLcode starwatch_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode starwatch_set_callback(CURL *easy, CURLoption option, starwatch_data_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode starwatch_set_lookup_callback(CURL *easy, starwatch_lookup_callback value) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, value);
}

typedef int (*starwatch_request_callback)(void *context, char *, char *, int, int);

/// `accept` is called on the connection, before the request is sent; a result other than 0 ends the transfer.
static inline void starwatch_set_socket_callbacks(
    CURL *easy, curl_opensocket_callback open, starwatch_request_callback accept) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, accept);
}

/// libcurl calls `progress` at least once a second, also while it does not return because it waits for the reply of a mail
/// server. A result other than 0 ends the transfer.
static inline void starwatch_set_progress_callback(CURL *easy, curl_xferinfo_callback progress, void *context) {
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

/// The user of the process at the other end of a Unix socket; -1 if it is not known.
static inline long starwatch_peer_user(int descriptor) {
    // The first member of `struct ucred`, which glibc hides without _GNU_SOURCE, is the process, the second the user.
    unsigned int credentials[3] = {0};
    socklen_t size = sizeof(credentials);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, credentials, &size) != 0 || size != sizeof(credentials)) {
        return -1;
    }
    return credentials[1];
}

/// libcurl keeps the pointer: the bytes must outlive the handle.
static inline CURLcode starwatch_set_blob(CURL *easy, CURLoption option, void *bytes, size_t length) {
    struct curl_blob blob = {bytes, length, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLMcode starwatch_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline void starwatch_set_connection_callbacks(
    CURL *easy, curl_sockopt_callback opened, curl_closesocket_callback closed, void *context) {
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, opened);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closed);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

static inline void starwatch_multi_set_callbacks(
    CURLM *multi, curl_socket_callback watch, curl_multi_timer_callback time, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, time);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/// The measurements of a transfer. Times are microseconds since its start, or 0 for a phase it did not reach.
struct starwatch_transfer_info {
    long status;
    long new_connections;
    long request_bytes;
    long header_bytes;
    long system_errno;
    long verification;
    /* The proxy's answer to CONNECT, or 0. */
    long proxy_status;
    curl_off_t name_lookup;
    curl_off_t connect;
    curl_off_t tls;
    curl_off_t pre_transfer;
    curl_off_t first_byte;
    curl_off_t total;
    curl_off_t uploaded_bytes;
    curl_off_t downloaded_bytes;
};

static inline struct starwatch_transfer_info starwatch_get_info(CURL *easy) {
    struct starwatch_transfer_info info = {0};
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &info.status);
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &info.new_connections);
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &info.request_bytes);
    curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &info.header_bytes);
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &info.system_errno);
    curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &info.verification);
    curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &info.proxy_status);
    curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &info.name_lookup);
    curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &info.connect);
    curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &info.tls);
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &info.pre_transfer);
    curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &info.first_byte);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &info.total);
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &info.uploaded_bytes);
    curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &info.downloaded_bytes);
    return info;
}

/// The certificates that the server of a new connection sent; NULL, or none, for a connection without TLS or in use before.
static inline struct curl_certinfo *starwatch_get_certificates(CURL *easy) {
    struct curl_certinfo *certificates = NULL;
    curl_easy_getinfo(easy, CURLINFO_CERTINFO, &certificates);
    return certificates;
}

/// Whether libcurl was built with a protocol. A shim, because CURLVERSION_NOW is a macro that Swift does not import.
static inline int starwatch_has_protocol(const char *protocol) {
    for (const char *const *name = curl_version_info(CURLVERSION_NOW)->protocols; *name != NULL; name++) {
        if (strcmp(*name, protocol) == 0) return 1;
    }
    return 0;
}

/// The pointer set with CURLOPT_PRIVATE.
static inline void *starwatch_get_private(CURL *easy) {
    void *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

/// The next completed transfer, with its result code in `*result`; NULL when there is none.
static inline CURL *starwatch_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

/// Sets a timerfd, once. Here because Swift would find `timespec` in this module, and then miss it in files without it.
static inline void starwatch_set_alarm(int descriptor, long milliseconds) {
    struct itimerspec time = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000000}};
    timerfd_settime(descriptor, 0, &time, NULL);
}

/// The calling thread's number in /proc.
static inline int starwatch_thread_id(void) {
    return (int)syscall(SYS_gettid);
}

/// Names the calling thread, for top and gdb. A shim, because prctl is variadic too.
static inline void starwatch_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

#endif

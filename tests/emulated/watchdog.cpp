// Stops a kernel that neither returns nor reaches a point where it could be switched: a loop on a plain or volatile load,
// say, whose writer never gets the processor. One thread looks at the clock; a signal takes the launch's system thread
// out of the fiber that holds it. (Not under the thread sanitizer, which delivers signals only between blocking calls.)
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <mutex>

#include "machine.hpp"

namespace simt {

namespace {

std::mutex lock;
Launch* watched = nullptr;
pthread_t launcher;

// The machines of the plain and of the preempting build may live in one process, each with a handler of its own.
int stop_signal() {
#ifdef SIMT_PREEMPT
    return SIGRTMIN + 6;
#else
    return SIGRTMIN + 5;
#endif
}

void stop(int) {
    Machine& m = current();
    if (m.running == &m.main) return;  // the launch is ending by itself
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, stop_signal());
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // this handler never returns
    const Place place = m.running->place;
    simt_fail(place.file ? place.file : "(start)", place.line,
              "the launch ran for more than %g s, in the end without a barrier, an atomic or a sleep since this place",
              m.launch->options.seconds);
}

void* look(void*) {
    for (;;) {
        const timespec pause = {0, 100'000'000};
        nanosleep(&pause, nullptr);
        const std::lock_guard guard(lock);
        // Half a second more than the launch has: it notices by itself if it reaches any switch.
        if (watched != nullptr && now() > watched->deadline + 500'000'000ull) {
            watched = nullptr;
            pthread_kill(launcher, stop_signal());
        }
    }
}

}  // namespace

void watch(Launch* launch) {
    static const bool started = [] {
        struct sigaction action {};
        action.sa_handler = stop;
        sigaction(stop_signal(), &action, nullptr);
        pthread_t thread;
        return pthread_create(&thread, nullptr, look, nullptr) == 0 && pthread_detach(thread) == 0;
    }();
    const std::lock_guard guard(lock);
    watched = started ? launch : nullptr;
    launcher = pthread_self();
}

}  // namespace simt

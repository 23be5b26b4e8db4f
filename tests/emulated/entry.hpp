// From a kernel to an entry that the loader can find by name and call with an array of pointers to its arguments.
//
// Each entry carries the kernel's signature, so that the loader can refuse an argument of the wrong size or sign, which
// CUDA takes without a word. Letters as in NumPy's dtype strings: `*` before a pointer's element, `?` for what is neither
// an integer nor a float (then its size is not checked behind a pointer), `V12` for a struct of 12 bytes.
#pragma once

#define KERNEL static

#define ENTRY(kernel)                                                                                    \
    static constexpr ::simt::Text simt_signature_##kernel = ::simt::Signature<decltype(&kernel)>::make(); \
    extern "C" {                                                                                         \
    extern __attribute__((visibility("default"))) const ::simt::Entry simt_entry_##kernel;               \
    }                                                                                                    \
    const ::simt::Entry simt_entry_##kernel = {#kernel, simt_signature_##kernel.text,                    \
                                               ::simt::Invoke<decltype(&kernel)>::template call<&kernel>, \
                                               __bss_start, _end, ::simt::touch};

extern "C" {
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace simt {

#ifdef SIMT_TSAN
static thread_local char anchor;
static void touch_shared() { *const_cast<volatile char*>(&anchor) = 1; }
constexpr void (*touch)() = touch_shared;
#else
constexpr void (*touch)() = nullptr;
#endif

template <class T> struct Letter { static constexpr char value = '?'; };
#define SIMT_LETTER(type, sign) template <> struct Letter<type> { static constexpr char value = sign; };
SIMT_LETTER(bool, 'u')
SIMT_LETTER(char, 'i')
SIMT_LETTER(signed char, 'i')
SIMT_LETTER(short, 'i')
SIMT_LETTER(int, 'i')
SIMT_LETTER(long, 'i')
SIMT_LETTER(long long, 'i')
SIMT_LETTER(unsigned char, 'u')
SIMT_LETTER(unsigned short, 'u')
SIMT_LETTER(unsigned, 'u')
SIMT_LETTER(unsigned long, 'u')
SIMT_LETTER(unsigned long long, 'u')
SIMT_LETTER(float, 'f')
SIMT_LETTER(double, 'f')
#undef SIMT_LETTER

template <class T> struct Plain { using type = T; };
template <class T> struct Plain<const T> { using type = T; };
template <class T> struct Plain<volatile T> { using type = T; };
template <class T> struct Plain<const volatile T> { using type = T; };

struct Text {
    char text[512] = {};
    int length = 0;
    constexpr void put(char c) { text[length++] = c; }
    constexpr void number(unsigned long long value) {
        if (value >= 10) number(value / 10);
        put(static_cast<char>('0' + value % 10));
    }
};

template <class T> struct Describe {
    static constexpr void put(Text& out) {
        out.put(Letter<T>::value == '?' ? 'V' : Letter<T>::value);
        out.number(sizeof(T));
    }
};
template <> struct Describe<void> {
    static constexpr void put(Text& out) { out.put('?'); }
};
template <class T> struct Describe<T*> {
    static constexpr void put(Text& out) {
        out.put('*');
        if constexpr (Letter<typename Plain<T>::type>::value == '?') out.put('?');
        else Describe<typename Plain<T>::type>::put(out);
    }
};
template <class T> struct Describe<T* __restrict> : Describe<T*> {};
template <class T> struct Describe<T* const> : Describe<T*> {};

template <class F> struct Signature;
template <class... P> struct Signature<void (*)(P...)> {
    static constexpr Text make() {
        Text out;
        ((Describe<P>::put(out), out.put(' ')), ...);
        return out;
    }
};

template <int... I> struct Numbers {};

template <class F> struct Invoke;
template <class... P> struct Invoke<void (*)(P...)> {
    template <void (*kernel)(P...), int... I>
    static void unpack(void** arguments, Numbers<I...>) {
        kernel(*static_cast<typename Plain<P>::type*>(arguments[I])...);
    }
    template <void (*kernel)(P...)>
    static void call(void** arguments) {
        unpack<kernel>(arguments, Numbers<__integer_pack(sizeof...(P))...>{});
    }
};

}  // namespace simt

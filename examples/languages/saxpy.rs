// saxpy.rs - a loop of Rust, checked and timed. gpumb.o is the header's implementation; bindgen
// makes all of gpumb.h's declarations.
use std::ffi::CString;
use std::os::raw::{c_char, c_double, c_int, c_void};

type Gpumb = *mut c_void;
type Body = extern "C" fn(Gpumb, *mut c_void) -> c_int;
extern "C" {
    fn gpumb_open(argc: c_int, argv: *const *const c_char) -> Gpumb;
    fn gpumb_set_bytes(g: Gpumb, bytes: c_double);
    fn gpumb_set_verify(g: Gpumb, check: Body, user: *mut c_void);
    fn gpumb_run_region(g: Gpumb, name: *const c_char, body: Body, user: *mut c_void) -> c_int;
    fn gpumb_close(g: Gpumb) -> c_int;
}

struct Saxpy { x: Vec<f32>, y: Vec<f32>, z: Vec<f32> }

extern "C" fn body(_: Gpumb, user: *mut c_void) -> c_int { // as often as it takes
    let s = unsafe { &mut *(user as *mut Saxpy) };
    for ((z, x), y) in s.z.iter_mut().zip(&s.x).zip(&s.y) { *z = 2.0 * x + y }
    0
}

extern "C" fn check(_: Gpumb, user: *mut c_void) -> c_int { // after the first run, and the last
    let s = unsafe { &mut *(user as *mut Saxpy) };
    let right = s.z.iter().all(|&z| z == 5.0);
    s.z.fill(0.0);
    right as c_int
}

fn main() {
    let words: Vec<CString> = std::env::args().map(|a| CString::new(a).unwrap()).collect();
    let mut argv: Vec<*const c_char> = words.iter().map(|w| w.as_ptr()).collect();
    argv.push(std::ptr::null());
    const N: usize = 1_000_000;
    let mut s = Saxpy { x: vec![1.0; N], y: vec![3.0; N], z: vec![0.0; N] };
    let user = &mut s as *mut Saxpy as *mut c_void;
    std::process::exit(unsafe {
        let g = gpumb_open(words.len() as c_int, argv.as_ptr());
        gpumb_set_verify(g, check, user);
        gpumb_set_bytes(g, 12e6); // two read, one written
        gpumb_run_region(g, b"saxpy\0".as_ptr() as *const c_char, body, user);
        gpumb_close(g)
    })
}

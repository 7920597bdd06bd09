//! How much memory a property takes: an allocator that keeps count, so that "linear in the input" can be asserted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Runs `property` on `input` and asserts that the heap grew by at most `bytes_per_byte` times the input and `bytes_free`.
pub fn bounded(input: &[u8], property: fn(&[u8]), bytes_per_byte: usize, bytes_free: usize) {
    let before = LIVE_BYTES.load(Relaxed);
    PEAK_BYTES.store(before, Relaxed);
    property(input);
    let grown = PEAK_BYTES.load(Relaxed) - before;
    let bytes_max = bytes_free + bytes_per_byte * input.len();
    assert!(grown <= bytes_max, "{grown} bytes of heap for {} bytes of input, more than {bytes_max}", input.len());
}

fn grow(bytes: usize) {
    let live = LIVE_BYTES.fetch_add(bytes, Relaxed) + bytes;
    PEAK_BYTES.fetch_max(live, Relaxed);
}

// SAFETY: every call goes to `System` unchanged; the counters are beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Both are there while the content is copied.
        grow(new_size);
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

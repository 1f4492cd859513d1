//! The program: everything is in the library.

#[global_allocator]
static ALLOCATOR: codelode::allocator::Allocator = codelode::allocator::Allocator;

fn main() -> std::process::ExitCode {
    // SAFETY: nothing else runs yet.
    unsafe { codelode::allocator::install() };
    codelode::cli::run(std::env::args_os())
}

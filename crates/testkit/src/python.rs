//! The Python tools that read what was exported. They must be there: a run that left them out would prove nothing.

use std::process::{Command, Output, Stdio};

/// A command of the Python that has these modules.
pub fn python(modules: &[&str]) -> Command {
    for module in modules {
        let import = Command::new("python3").args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        assert!(
            import.is_ok_and(|status| status.success()),
            "this test needs the Python module {module}: run it by `cargo xtask test`, which installs it, or put a Python \
             first in PATH that has it"
        );
    }
    let mut command = Command::new("python3");
    command.stdin(Stdio::null());
    command
}

/// Runs a program that must end well, and gives what it printed.
pub fn runs(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// Runs a script with arguments.
pub fn script(modules: &[&str], script: &str, arguments: &[&str]) -> String {
    runs(python(modules).args(["-c", script]).args(arguments))
}

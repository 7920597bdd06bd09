//! Requests to the interface as a browser sends them, one connection each.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::interface::Interface;

/// The longest that one answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
/// Answers that lead from one to the next, at most.
const REDIRECTS_MAX: usize = 5;

/// A request.
#[derive(Clone, Debug)]
pub(in crate::bench) enum Request {
    /// For a page.
    Get(String),
    /// With a form, to a path.
    Post(String, String),
}

impl Request {
    pub(in crate::bench) fn get(path: &str) -> Self {
        Request::Get(path.to_owned())
    }

    /// The path that is asked for.
    #[cfg(test)]
    pub(super) fn path(&self) -> &str {
        let (Request::Get(path) | Request::Post(path, _)) = self;
        path.split('?').next().unwrap_or_default()
    }

    /// The answer, with its head. A form leads to a page, which is the answer: a browser follows it.
    ///
    /// # Errors
    /// There is no page.
    pub(in crate::bench) fn answer(&self, interface: &Interface) -> anyhow::Result<String> {
        let address = interface.origin.strip_prefix("http://").context("an address")?;
        self.answer_of(address)
    }

    fn answer_of(&self, address: &str) -> anyhow::Result<String> {
        let mut answer = self.sent(address)?;
        for _ in 0..REDIRECTS_MAX {
            let Some(location) = leads_to(&answer) else { break };
            answer = Request::get(location).sent(address)?;
        }
        ensure!(answer.starts_with("HTTP/1.1 200"), "{self:?}\n{answer}");
        Ok(answer)
    }

    fn sent(&self, address: &str) -> anyhow::Result<String> {
        let (method, path, form) = match self {
            Request::Get(path) => ("GET", path, ""),
            Request::Post(path, form) => ("POST", path, form.as_str()),
        };
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        let length = form.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{form}"
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        if answer.is_empty() {
            bail!("{self:?}: no answer");
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// Where an answer leads, if it does.
fn leads_to(answer: &str) -> Option<&str> {
    let head = answer.split("\r\n\r\n").next().filter(|head| head.starts_with("HTTP/1.1 303"))?;
    let fields = head.lines().skip(1).filter_map(|field| field.split_once(':'));
    fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("location")).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers so many requests with what comes of their first lines.
    fn serve(requests: usize, answer: fn(&str) -> &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        std::thread::spawn(move || {
            for _ in 0..requests {
                let (mut stream, _) = listener.accept().expect("a connection");
                let mut bytes = [0; 4096];
                let mut head = String::new();
                while !head.contains("\r\n\r\n") {
                    let length = stream.read(&mut bytes).expect("a request");
                    head += &String::from_utf8_lossy(&bytes[..length]);
                }
                stream.write_all(answer(head.lines().next().unwrap_or_default()).as_bytes()).expect("sent");
            }
        });
        address
    }

    #[test]
    fn a_form_leads_to_its_answer() {
        let address = serve(2, |first| match first {
            "POST /steer HTTP/1.1" => "HTTP/1.1 303 See Other\r\nlocation: /steer/answer?number=7\r\n\r\n",
            "GET /steer/answer?number=7 HTTP/1.1" => "HTTP/1.1 200 OK\r\n\r\nthe effect",
            _ => "HTTP/1.1 404 Not Found\r\n\r\n",
        });
        let answer = Request::Post("/steer".to_owned(), String::new()).answer_of(&address).expect("an answer");
        assert!(answer.ends_with("the effect"), "{answer}");
    }

    #[test]
    fn answers_that_lead_on_without_end_are_a_failure() {
        let address = serve(1 + REDIRECTS_MAX, |_| "HTTP/1.1 303 See Other\r\nLocation: /\r\n\r\n");
        let error = Request::get("/").answer_of(&address).expect_err("no page").to_string();
        assert!(error.contains("303"), "{error}");
    }
}

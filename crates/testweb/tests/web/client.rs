//! The smallest HTTP/1.1 client: it shows exactly what came.

use std::net::SocketAddr;

use testweb::{Config, Server, Site, Web};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// A reply as it came.
#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// A connection that is kept.
pub struct Client<S> {
    stream: S,
}

/// A server of one site, for every host.
pub async fn serve(site: impl Site + 'static) -> Server {
    start(Web::new().site("*", site)).await
}

/// A server of a web.
pub async fn start(web: Web) -> Server {
    Server::start(Config::new(web)).await.unwrap()
}

/// One `GET` on a connection of its own.
pub async fn get(server: &Server, host: &str, target: &str) -> Response {
    Client::connect(server.address()).await.get(host, target).await
}

/// Sends bytes and returns all that comes back until the server closes, or the kind of error that ended it.
pub async fn talk(address: SocketAddr, bytes: &str) -> (Vec<u8>, Option<std::io::ErrorKind>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut got = Vec::new();
    let error = stream.read_to_end(&mut got).await.err().map(|error| error.kind());
    (got, error)
}

/// The raw reply to one `GET` until the server closes.
pub async fn get_raw(server: &Server, host: &str, target: &str) -> (Vec<u8>, Option<std::io::ErrorKind>) {
    talk(server.address(), &request("GET", host, target)).await
}

/// A request's head.
pub fn request(method: &str, host: &str, target: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

impl Client<TcpStream> {
    pub async fn connect(address: SocketAddr) -> Self {
        Client { stream: TcpStream::connect(address).await.unwrap() }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub fn over(stream: S) -> Self {
        Client { stream }
    }

    pub fn into_inner(self) -> S {
        self.stream
    }

    pub async fn get(&mut self, host: &str, target: &str) -> Response {
        self.send(&request("GET", host, target)).await;
        self.receive(false).await
    }

    pub async fn head(&mut self, host: &str, target: &str) -> Response {
        self.send(&request("HEAD", host, target)).await;
        self.receive(true).await
    }

    pub async fn send(&mut self, bytes: &str) {
        self.stream.write_all(bytes.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    pub async fn receive(&mut self, bodiless: bool) -> Response {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let status = head[9..12].parse().unwrap();
        let mut response = Response { status, head, body: Vec::new() };
        if bodiless {
            return response;
        }
        response.body = match response.header("content-length") {
            Some(length) => self.exactly(length.parse().unwrap()).await,
            None if response.header("transfer-encoding") == Some("chunked") => self.chunks().await,
            None => self.rest().await,
        };
        response
    }

    async fn exactly(&mut self, bytes: usize) -> Vec<u8> {
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).await.unwrap();
        body
    }

    async fn rest(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        self.stream.read_to_end(&mut body).await.unwrap();
        body
    }

    async fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            while !line.ends_with("\r\n") {
                line.push(self.stream.read_u8().await.unwrap().into());
            }
            let chunk = self.exactly(usize::from_str_radix(line.trim(), 16).unwrap()).await;
            assert_eq!(self.exactly(2).await, b"\r\n");
            if chunk.is_empty() {
                return body;
            }
            body.extend(chunk);
        }
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

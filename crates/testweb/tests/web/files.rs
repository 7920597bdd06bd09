//! A directory as a site, and nothing but the directory.

use std::fs;
use std::os::unix::fs::symlink;

use testweb::{Files, Server};

use crate::client::{Client, get, serve};

/// A directory beside a secret, and a server of it.
async fn server() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("sub/empty")).unwrap();
    fs::write(directory.path().join("secret.txt"), "secret").unwrap();
    fs::write(root.join("index.html"), "index").unwrap();
    fs::write(root.join("sub/index.html"), "sub").unwrap();
    fs::write(root.join("sub/picture.PNG"), "png").unwrap();
    fs::write(root.join("with space č.txt"), "text").unwrap();
    fs::write(root.join("large.bin"), vec![7; 200_000]).unwrap();
    symlink("../secret.txt", root.join("out.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("sub/index.html", root.join("in.html")).unwrap();
    let server = serve(Files::new(&root).unwrap()).await;
    (directory, server)
}

#[tokio::test]
async fn files_and_directories() {
    let (_directory, server) = server().await;
    for (target, status, expect) in [
        ("/", 200, "index"),
        ("/index.html?query", 200, "index"),
        ("/sub/", 200, "sub"),
        ("/%73ub/", 200, "sub"),
        ("/in.html", 200, "sub"),
        ("/with%20space%20%C4%8D.txt", 200, "text"),
        ("//sub//index.html", 200, "sub"),
        ("/none", 404, ""),
        ("/index.html/", 404, ""),
        ("/sub/empty/", 404, ""),
        ("/100%", 404, ""),
    ] {
        let got = get(&server, "files.test", target).await;
        assert_eq!(got.status, status, "{target}");
        assert!(status != 200 || got.text() == expect, "{target}: {}", got.text());
    }
}

#[tokio::test]
async fn a_directory_without_slash_is_redirected() {
    let (_directory, server) = server().await;
    for (target, location) in [("/sub", "/sub/"), ("/sub?a=b", "/sub/?a=b"), ("//sub", "/sub/")] {
        let got = get(&server, "files.test", target).await;
        assert_eq!((got.status, got.header("location")), (301, Some(location)), "{target}");
    }
}

#[tokio::test]
async fn nothing_outside_is_served() {
    let (_directory, server) = server().await;
    for target in [
        "/../secret.txt",
        "/sub/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/sub/..%2f..%2fsecret.txt",
        "/%2fetc/passwd",
        "//etc/passwd",
        "/out.txt",
        "/up/secret.txt",
        "/up/",
        "/up",
        "/index.html%00",
    ] {
        let got = get(&server, "files.test", target).await;
        assert!(matches!(got.status, 403 | 404), "{target}: {}", got.status);
        assert!(!got.text().contains("secret") || got.text().contains(target), "{target}");
    }
}

#[tokio::test]
async fn content_types_and_lengths() {
    let (_directory, server) = server().await;
    let mut client = Client::connect(server.address()).await;
    for (target, content_type, bytes) in [
        ("/", "text/html", "5"),
        ("/sub/picture.PNG", "image/png", "3"),
        ("/with%20space%20%C4%8D.txt", "text/plain", "4"),
        ("/large.bin", "application/octet-stream", "200000"),
    ] {
        let head = client.head("files.test", target).await;
        assert_eq!(head.header("content-type"), Some(content_type), "{target}");
        assert_eq!(head.header("content-length"), Some(bytes), "{target}");
    }
    assert_eq!(client.get("files.test", "/large.bin").await.body, vec![7; 200_000]);
}

#[tokio::test]
async fn other_methods_are_refused() {
    let (_directory, server) = server().await;
    let mut client = Client::connect(server.address()).await;
    client.send("DELETE / HTTP/1.1\r\nHost: files.test\r\n\r\n").await;
    assert_eq!(client.receive(false).await.status, 405);
}

#[test]
fn the_root_must_be_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Files::new(&file).is_err());
    assert!(Files::new(&directory.path().join("none")).is_err());
}

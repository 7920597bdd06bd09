//! What clients and workers may ask of a server, as routes.

use api::crawler_server::CrawlerServer;
use axum::body::Body;
use axum::http::{Request, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{Router, post};
use tonic::Status;
use tonic::service::Routes;

use super::json::{REQUEST_BYTES_MAX, routes};
use super::service::Service;
use crate::joining::{self, Joining};
use crate::port::{is_grpc, refused};

/// What clients may ask.
///
/// # Errors
/// Never in practice: the contract is part of the program.
pub fn clients(service: Service) -> anyhow::Result<Router> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(api::DESCRIPTORS)
        .build_v1()?;
    let json = routes(&service);
    let grpc = CrawlerServer::new(service).max_decoding_message_size(REQUEST_BYTES_MAX);
    let grpc = Routes::new(grpc).add_service(reflection).prepare().into_axum_router();
    Ok(grpc.merge(json).layer(from_fn(api_only)))
}

/// What workers may ask.
///
/// # Errors
/// Never in practice: all responses have a form in JSON.
pub fn workers(joining: &Joining) -> anyhow::Result<Router> {
    let answer = serde_json::to_string(joining)?;
    let join = move || async move { ([(header::CONTENT_TYPE, "application/json")], answer) };
    Ok(Router::new().route(joining::PATH, post(join)).layer(from_fn(api_only)))
}

/// Answers requests outside of the API with its description.
async fn api_only(request: Request<Body>, next: Next) -> Response {
    if is_grpc(&request) || request.uri().path().starts_with("/v1/") {
        return next.run(request).await;
    }
    refused(&Status::unimplemented("the API is gRPC, and JSON by POST /v1/METHOD: argiope.proto has the methods"))
}

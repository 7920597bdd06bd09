//! The arguments of a command whose run may stream what it records.

use clap::Args;
use crawl::CrawlDir;
use crawl::stream::{Asked, Field, StreamTo, Target};
use settings::units::Bytes;

/// What a command line says of the stream.
#[derive(Args, Clone, Debug)]
pub struct StreamArgs {
    /// Stream outcomes, one JSON object per line, to FILE, - (standard output) or unix:PATH (a listening reader). Each later run of the
    /// crawl needs it again
    #[arg(long, value_name = "TARGET")]
    pub stream: Option<Target>,
    /// More fields of the stream's lines: headers, links, main-text, text (separated by commas) [default: those of the run before]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub stream_fields: Vec<Field>,
    /// Bytes of lines that may wait for a slow reader of the stream; beyond that the crawl waits [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    pub stream_buffer: Option<Bytes>,
    /// End the stream of earlier runs; unread lines are lost
    #[arg(long, conflicts_with_all = ["stream", "stream_fields", "stream_buffer"])]
    pub no_stream: bool,
}

impl StreamArgs {
    /// The stream of a run in this directory.
    ///
    /// # Errors
    /// As [`StreamTo::of_run`].
    pub fn of_run(&self, dir: &CrawlDir) -> anyhow::Result<Option<StreamTo>> {
        if self.no_stream {
            return Ok(None);
        }
        let StreamArgs { stream, stream_fields, stream_buffer, .. } = self.clone();
        let buffer = stream_buffer.map(|size| size.0);
        StreamTo::of_run(&dir.stream(), Asked { target: stream, fields: stream_fields, buffer })
    }
}

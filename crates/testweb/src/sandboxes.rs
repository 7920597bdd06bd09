//! All sandboxes in one web.

use crate::{Web, advanced, honest, hostile, scripted, simple};

impl Web {
    /// The sandboxes: [`simple`], [`scripted`], [`advanced`], [`honest`] and [`hostile`], each under its own host names.
    pub fn sandboxes() -> Self {
        let web = Web::new()
            .site(simple::HOST, simple::site())
            .site(scripted::HOST, scripted::site())
            .site(honest::HOST, honest::site())
            .site(advanced::HOST, advanced::site(advanced::CRAWL_DELAY_S))
            .site(advanced::OTHER_HOST, advanced::other_site());
        hostile::sites(web)
    }
}

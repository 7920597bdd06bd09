//! What was adopted, in words.

use archive::ORPHANED;
use printable::{Printable, counted};

use super::Adopted;
use crate::CrawlDir;

impl Adopted {
    /// The report of `argiope adopt`, lines that end.
    #[must_use]
    pub fn to_text(&self, dir: &CrawlDir) -> String {
        let Adopted { files, done, pages, unlinked, left, damaged, .. } = self;
        let aside = dir.archive().join(ORPHANED);
        let aside = aside.display();
        if *files == 0 {
            return format!("{aside}: nothing is set aside\n");
        }
        let mut text = format!("{} adopted from {}", counted(*pages, "page"), counted(*files as u64, "file"));
        if *unlinked > 0 {
            text += &format!("; nothing leads to {unlinked} of them: they came in at the depth limit");
        }
        text += "\n";
        for line in damaged {
            text += &format!("damaged: {}\n", Printable(line));
        }
        let told = damaged.len() as u64;
        if self.damaged_records > told {
            text += &format!("… and {} more\n", self.damaged_records - told);
        }
        if self.damaged_records > 0 {
            text += &format!(
                "{} in {}: passed over, and what only they held is lost; all whole records were read\n\
                 next: `argiope crawl -o {}` fetches the URLs that links lead to and that have no answer\n",
                counted(self.damaged_records, "damaged record"),
                counted(self.damaged_files as u64, "file"),
                dir.root().display()
            );
        }
        if self.without_original > 0 {
            text += &format!(
                "not adopted: {} in {aside}, since what they repeat is lost\n",
                counted(self.without_original, "answer")
            );
        }
        if let Some(refused @ 1..) = left.checked_sub(self.without_original) {
            text +=
                &format!("not adopted: {} in {aside}, which the crawl's filters refuse\n", counted(refused, "answer"));
        }
        if self.files_to_keep > 0 {
            text += &format!(
                "to keep: {} in {aside}, with the only copy of {} of {}\n",
                counted(self.files_to_keep as u64, "file"),
                counted(self.versions_only_there, "version"),
                counted(self.urls_only_there, "URL"),
            );
            text += &format!(
                "next: adopting them again changes nothing; `argiope crawl -o {} --again` gets the present version of each page\n",
                dir.root().display()
            );
        }
        if *done > 0 {
            text += &format!(
                "every version in {} is in the crawl: {aside}/adopted can be removed\n",
                counted(*done as u64, "file")
            );
        }
        text
    }
}

//! Read, write, check and repair WARC files; CDXJ.

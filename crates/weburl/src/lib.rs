//! The URL as a value: canonical form, site, domain, SURT, scope patterns, key.

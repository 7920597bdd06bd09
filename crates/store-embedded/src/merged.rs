//! Several sequences in the order of their keys as one.

use std::iter;

use store::StoreError;

/// The entries of all `parts` in key order. What cannot be read comes first, to be told.
pub(crate) fn merged<K: Ord + Clone, V>(
    parts: impl IntoIterator<Item = impl Iterator<Item = Result<(K, V), StoreError>>>,
) -> impl Iterator<Item = Result<(K, V), StoreError>> {
    let mut parts: Vec<_> = parts.into_iter().map(Iterator::peekable).collect();
    iter::from_fn(move || {
        let ahead = parts.iter_mut().enumerate().filter_map(|(part, entries)| {
            let key = entries.peek()?.as_ref().ok().map(|(key, _)| key.clone());
            Some((key, part))
        });
        let (_, part) = ahead.min()?;
        parts[part].next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged() -> StoreError {
        StoreError::Damaged { table: "queue", detail: "for a test".to_owned() }
    }

    #[test]
    fn entries_come_in_key_order_and_errors_before_them() {
        let parts = || [vec![1, 4, 9], vec![], vec![2, 3, 10], vec![5]];
        let readable = |part: Vec<u32>| part.into_iter().map(|key| Ok((key, "")));
        let keys: Vec<_> = merged(parts().map(readable)).map(|entry| entry.map(|(key, _)| key).ok()).collect();
        assert_eq!(keys, [1, 2, 3, 4, 5, 9, 10].map(Some));
        let failing = parts().map(|part| readable(part).chain([Err(damaged())]));
        let keys: Vec<_> = merged(failing).map(|entry| entry.map(|(key, _)| key).ok()).collect();
        assert_eq!(keys, [None, Some(1), Some(2), Some(3), Some(4), Some(5), None, Some(9), None, Some(10), None]);
    }
}

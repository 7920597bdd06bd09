//! Scales on which counts and shares are numbers of 0 to 255.

/// A number on a scale of halves of doublings: 0, 1, 2, 3, 4, 6, 8, 12, 16 …
pub(crate) fn log(number: u32) -> u8 {
    if number < 4 {
        return number as u8 * 4;
    }
    let bits = number.ilog2();
    (bits * 4 + (number >> (bits - 2) & 3)) as u8 + 4
}

/// A share in steps of 1/64.
pub(crate) fn share(part: u32, whole: u32) -> u8 {
    // As it is of most, without a division.
    if part == 0 {
        return 0;
    }
    part.saturating_mul(64).checked_div(whole).unwrap_or_default().min(255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_never_fall_and_fit_a_byte() {
        let logs: Vec<u8> = [0, 1, 2, 3, 4, 6, 8, 1_000, 1_000_000, u32::MAX].map(log).into();
        assert!(logs.is_sorted(), "{logs:?}");
        assert_eq!([share(0, 0), share(1, 2), share(5, 5), share(99, 1)], [0, 32, 64, 255]);
    }
}

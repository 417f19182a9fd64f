//! The order of keys: digits by their number, other characters before letters, letters by code point.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// A key and its value.
type Entry<'m> = (&'m str, &'m Value);

/// The entries of a map in the order of output.
pub(super) fn sorted(map: &Map<String, Value>) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    merge_sort(&mut entries);
    entries
}

/// The order below is not total for every set of keys, and the sort of the standard library may panic on such; this
/// one always ends and never does.
fn merge_sort(keys: &mut Vec<Entry<'_>>) {
    if keys.len() < 2 || keys.is_sorted_by(|a, b| compare(a.0, b.0) == Ordering::Less) {
        return;
    }
    let mut right = keys.split_off(keys.len() / 2);
    merge_sort(&mut right);
    merge_sort(keys);
    let mut merged = Vec::with_capacity(keys.len() + right.len());
    let (mut left, mut right) = (keys.iter().copied().peekable(), right.into_iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if compare(b.0, a.0) == Ordering::Less => merged.extend(right.next()),
            (Some(_), _) => merged.extend(left.next()),
            (None, Some(_)) => merged.extend(right.next()),
            (None, None) => break,
        }
    }
    *keys = merged;
}

fn compare(left: &str, right: &str) -> Ordering {
    let shared = left.chars().zip(right.chars()).take_while(|(a, b)| a == b);
    let (mut bytes, mut after_digit, mut significant) = (0, false, false);
    for (character, _) in shared {
        bytes += character.len_utf8();
        after_digit = character.is_ascii_digit();
        // Whether the run of digits so far has one that is not a zero.
        significant = after_digit && (significant || character != '0');
    }
    let (left, right) = (&left[bytes..], &right[bytes..]);
    let (Some(a), Some(b)) = (left.chars().next(), right.chars().next()) else {
        return left.len().cmp(&right.len());
    };
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => a.cmp(&b),
        (true, false) => {
            if after_digit {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if after_digit {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, false) => {
            let start = i64::from(significant && (a == '0' || b == '0'));
            let (left_digits, left_number) = number(left, start);
            let (right_digits, right_number) = number(right, start);
            left_number.cmp(&right_number).then(left_digits.cmp(&right_digits)).then(a.cmp(&b))
        }
    }
}

/// How many digits `text` begins with, and the number they continue; the arithmetic wraps, as in the reference.
fn number(text: &str, start: i64) -> (usize, i64) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((0, start), |(count, number), digit| {
        (count + 1, number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')))
    })
}
